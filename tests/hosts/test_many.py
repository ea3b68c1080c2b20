"""Many invocations, one after the other and at once: nothing leaks, nothing is mixed, what is shared is one."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes.serving import vendor_row
from fakes.upstream import DONE, SSE_HEAD, Gate, chat_chunk
from hosts.commands import caller, events, http_event, odd, until
from motes.demo.server import DemoServer

CHAT = "/v1/chat/completions"
MIB = 1024 * 1024
ONE_AFTER_ANOTHER = 1000
AT_ONCE = 64


@pytest.fixture(scope="module")
def echoing():
    """A vendor that says what it was asked; gives the settings of a gateway in front of it."""
    ready, stop, told = threading.Event(), threading.Event(), []

    async def live():
        async with DemoServer(pace=0.0) as server:
            told.append(server.base_urls["demo"])
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    assert ready.wait(20)
    yield vendor_row(told[0])
    stop.set()
    thread.join(20)


def asked(text):
    body = {"model": "fake/echo", "stream": True, "messages": [{"role": "user", "content": text}]}
    event = http_event(CHAT, "POST", body=json.dumps(body))
    event["headers"]["content-type"] = "application/json"
    return event


def answer(payload):
    """Text of a streamed answer, and the ids of its chunks."""
    chunks = [event for event in events(payload.partition(bytes(8))[2].decode()) if event != "[DONE]"]
    text = "".join(choice["delta"].get("content") or "" for c in chunks for choice in c["choices"])
    return text, {chunk["id"] for chunk in chunks}


def census(function):
    with caller(function) as client:
        return client.get("/census").json()


def test_a_thousand_invocations_leave_nothing_behind(launch, echoing):
    function = launch(odd("counted"), echoing).warm()

    def ask(numbers):
        for n in numbers:
            payload, error = function.invoke(asked(f"number {n}"))
            assert error is None
            assert answer(payload)[0] == f"number {n}"

    ask(range(ONE_AFTER_ANOTHER // 4))
    before, settled = function.rss(), census(function)
    ask(range(ONE_AFTER_ANOTHER // 4, ONE_AFTER_ANOTHER))
    assert function.rss() - before < 5 * MIB
    after = census(function)
    assert (after["clients"], after["contexts"]) == (1, 1)
    assert after["tasks"] <= settled["tasks"]
    assert len(function.environments) == 1


def test_sixty_four_streams_at_once_are_never_mixed(launch, echoing):
    function = launch(odd("counted"), echoing, concurrency=AT_ONCE).warm()
    assert function.line("ready")["workers"] == AT_ONCE

    def ask(n):
        payload, error = function.invoke(asked(f"number {n} " + "x" * (n % 50)))
        assert error is None
        text, ids = answer(payload)
        assert text.split()[:2] == ["number", str(n)]
        return ids

    with ThreadPoolExecutor(AT_ONCE) as pool:
        ids = list(pool.map(ask, range(2 * AT_ONCE)))
        before = function.rss()
        ids += pool.map(ask, range(2 * AT_ONCE, 8 * AT_ONCE))
    assert function.rss() - before < 5 * MIB
    assert all(len(own) == 1 for own in ids)
    assert len(set().union(*ids)) == 8 * AT_ONCE
    after = census(function)
    assert (after["clients"], after["contexts"]) == (1, 1)
    assert len(function.environments) == 1
    lines = [json.loads(line) for line in function.log if '"event": "request"' in line]
    assert len({line["requestId"] for line in lines}) == len(lines) >= 8 * AT_ONCE


def test_sixty_four_streams_really_run_at_the_same_time(launch, upstream):
    function = launch(concurrency=AT_ONCE).warm()
    upstream.play(
        SSE_HEAD, chat_chunk({"content": "a"}), Gate("all"), chat_chunk({"content": "b"}, "stop"), DONE
    )
    with ThreadPoolExecutor(AT_ONCE) as pool:
        payloads = [pool.submit(function.invoke, asked("?")) for _ in range(AT_ONCE)]
        until(lambda: sum(bool(call.pieces) for call in function.calls) == AT_ONCE)
        upstream.open("all")
        assert {answer(payload.result()[0])[0] for payload in payloads} == {"ab"}
