"""What a request costs before and around its events, counted in steps of the interpreter and not timed.

The whole app as `motes serve` has it (keys, plan, executor, engine, log, usage, runs), asked in this process
and answered by a scripted vendor over a socket. Only our own code is counted: what the server, the event loop
and the packages do is the same for everybody. Where a limit here is passed, something was added to the way
that every request takes. See `kernel/test_work_an_event.py`, and `python -m tests.bench slope` for the time.
"""

import asyncio
import json
import logging
import sys
from pathlib import Path

import pytest

import motes
from bench.translation import reads
from bench.wires import DIALECTS, Script
from fakes.live_stand import HandMovedLoop, live, live_stand
from fakes.serving import AUTH, KEY, vendor_row
from fakes.upstream import SSE_HEAD, Upstream
from motes.api.app import create_app
from motes.api.envelope import DEPARTURE
from motes.api.gateway import open_gateway
from motes.engine.connection import Connection
from motes.hosts.log import LogObserver
from motes.settings import load_settings

OURS = str(Path(motes.__file__).parent)
WARM, COUNTED, ROUNDS = 8, 10, 5


@pytest.fixture(autouse=True)
def _no_log():
    """How much a line costs depends on who listens, and in a run of many tests that is anybody."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


class Counter:
    """Steps of the interpreter in our own code, while it is entered."""

    def __init__(self):
        self.steps = 0

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._on_call)

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _on_call(self, frame, _event, _):
        if not frame.f_code.co_filename.startswith((OURS, "<dataclass>")):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._on_step

    def _on_step(self, _frame, event, _):
        self.steps += event == "opcode"
        return self._on_step


class CounterUntilSent(Counter):
    """Those until a request has gone to the vendor."""

    def _on_call(self, frame, event, argument):
        if frame.f_code is Connection.send.__code__:
            sys.settrace(None)
            return None
        return super()._on_call(frame, event, argument)


async def asked(app, body):
    """One request; gives the bytes of its answer."""
    told, messages = b"", [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        if messages:
            return messages.pop()
        await asyncio.Event().wait()
        return None

    async def send(message):
        nonlocal told
        told += message.get("body", b"")

    headers = [(name.encode(), value.encode()) for name, value in AUTH.items()]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "query_string": b"",
        "headers": [(b"host", b"motes"), (b"content-type", b"application/json"), *headers],
        "state": {},
        # As the server of `motes serve` has it.
        DEPARTURE: asyncio.get_running_loop().create_future(),
    }
    await app(scope, receive, send)
    return told


async def steps_a_request(gateway, app, body):
    async def settled():
        # What is done a moment after the last byte: records and usage.
        await gateway.runs.settled()
        await gateway.ledger.write()

    for _ in range(WARM):
        assert b"[DONE]" in await asked(app, body)
    await settled()
    found = []
    for _ in range(ROUNDS):
        counter = Counter()
        with counter:
            # In tasks of their own: only frames that begin now are counted.
            for _ in range(COUNTED):
                await asyncio.create_task(asked(app, body))
            await asyncio.create_task(settled())
        found.append(counter.steps / COUNTED)
    # Now and then an answer comes in one read more.
    return min(found)


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the limits are of Python 3.11's instructions")
@pytest.mark.parametrize(
    ("dialect", "limit"),
    [("openai-chat", 14_320), ("anthropic-messages", 15_820), ("gemini-generate", 14_710)],
)
def test_a_request_takes_few_steps_of_our_own(tmp_path, dialect, limit):
    with Upstream() as vendor:
        # In one piece, so that it is one read.
        vendor.play(SSE_HEAD + b"".join(reads(dialect, 1)))
        (tmp_path / "motes.toml").write_text(vendor_row(vendor.base_url, dialect=dialect))
        environ = {"MOTES_HOME": str(tmp_path), "MOTES_API_KEY": KEY}

        async def counted():
            gateway = open_gateway(load_settings(environ, tmp_path), environ, observer=LogObserver())
            app = create_app(gateway, is_always_on=True)
            body = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
            async with app.router.lifespan_context(app):
                return await steps_a_request(gateway, app, json.dumps(body).encode())

        # Where time stands still, the runs of all requests are settled together however slow this machine is.
        with asyncio.Runner(loop_factory=HandMovedLoop) as runner:
            found = runner.run(counted())
    assert found <= limit


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the limits are of Python 3.11's instructions")
@pytest.mark.parametrize(
    ("dialect", "limit"),
    [("openai-chat", 3480), ("anthropic-messages", 3550), ("gemini-generate", 3160)],
)
@live
async def test_the_vendor_is_asked_after_few_steps(tmp_path, dialect, limit):
    answer = b"".join(reads(dialect, 1))
    body = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    async with live_stand(tmp_path, dialect) as stand:
        client, found = await stand.connect(), []
        for _ in range(WARM + ROUNDS):
            counter = CounterUntilSent()
            with counter:
                client, call = await stand.asked("/v1/chat/completions", body, client=client.next())
            found.append(counter.steps)
            call.say(answer, end=True)
            assert b"[DONE]" in await client.rest()
    # Now and then what the one before has left to do is done meanwhile.
    assert min(found[WARM:]) <= limit


JOURNAL = {"motes": {"resumable": True}}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the limits are of Python 3.11's instructions")
@pytest.mark.parametrize(
    ("dialect", "wishes", "limit"),
    [
        ("openai-chat", {}, 444),
        ("anthropic-messages", {}, 459),
        ("gemini-generate", {}, 463),
        ("openai-chat", JOURNAL, 753),
        ("anthropic-messages", JOURNAL, 768),
        ("gemini-generate", JOURNAL, 772),
    ],
)
@live
async def test_a_live_event_takes_few_steps_under_the_server(tmp_path, dialect, wishes, limit):
    answer = DIALECTS[dialect](Script(n=240), b"")
    body = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]} | wishes
    async with live_stand(tmp_path, dialect) as stand:
        client, call = await stand.asked("/v1/chat/completions", body, b"".join(answer.head))
        pieces = iter(answer.middle)
        for count in (40, 200):
            counter = Counter()
            with counter:
                for _ in range(count):
                    had = len(client.pieces)
                    call.say(next(pieces))
                    await client.piece(had)
        call.say(*pieces, *answer.tail, end=True)
        assert b"[DONE]" in await client.rest()
    # Those before it taught the refrain.
    assert counter.steps / count <= limit
