"""The tolerant reader of any OpenAI-compatible stream: accidents of the wire, and what must not pass as whole."""

import asyncio
import gzip
import importlib.util
import json
import logging
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from fakes.chat_streams import CALLED, DONE, FINISHED, call, chunk, sse
from fakes.recordings import WIRE
from fakes.upstream import DONE as LAST
from fakes.upstream import (
    HELLO,
    SSE_HEAD,
    Gate,
    Reset,
    Sleep,
    UntilGone,
    Upstream,
    answer,
    chat_chunk,
    chat_usage,
)
from motes import particles as p
from motes.client import RunFailed, openai_stream
from motes.client.openai_stream import Answer, Limits
from motes.egress.finish import finish_reason
from motes.egress.message_json import message_json, usage_json
from motes.fragments import Message
from reference.shared import SHARED, needs_shared

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
QUICK = Limits(first_byte=5.0, idle=0.2, attempts=2)
COUNTS = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
USAGE = {"id": "r1", "choices": [], "usage": COUNTS}
HI = chunk({"content": "Hi"})


def response(*reads: bytes, status: int = 200, **headers: str) -> httpx.Response:
    async def pieces() -> AsyncIterator[bytes]:
        for read in reads:
            yield read

    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, headers=named, content=pieces())


async def listen(answer: Answer) -> Message:
    said = [particle async for particle in answer]
    assert [type(particle) for particle in said].count(p.End) == 1
    assert isinstance(said[-1], p.End)
    return answer.message


async def heard(*events: Any) -> Message:
    return await listen(openai_stream.read(response(sse(*events))))


def finish(message: Message) -> str | None:
    assert message.end is not None
    return finish_reason(message.end, refused=False)


def total(message: Message) -> Any:
    return (usage_json(message.metrics) or {}).get("total")


def calls(message: Message) -> list[tuple[str, str, str]]:
    return [(one.id, one.name, one.arguments) for one in message.tool_calls]


# The lab: a vendor whose every variant is one accident of the wire.

TWO = [("call_a", "f", '{"x":1}'), ("call_b", "g", '{"y":2}')]
TWICE = {
    "tools",
    "no_role_tools",
    "role_empty_tools",
    "tool_no_index",
    "tool_index_all0",
    "tool_index_1based",
    "tool_full",
    "tool_fin_stop",
}
BROKEN = {
    "trunc",
    "fin_error",
    "err_data",
    "err_data_int_code",
    "err_str",
    "err_event",
    "http200_json_err",
}
THINKING = {"reason_rc", "reason_r", "reason_both"}


def lab() -> Any:
    spec = importlib.util.spec_from_file_location("wall", SHARED / "client-lab" / "wall.py")
    assert spec is not None
    assert spec.loader is not None
    sys.dont_write_bytecode = True  # the handed material is not ours to write beside
    wall = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wall)
    return wall


def variants() -> list[str]:
    return list(lab().V) if (SHARED / "client-lab").is_dir() else []


@pytest.fixture(scope="module")
def wall() -> Iterator[str]:
    handler = lab()
    server = handler.S_(("127.0.0.1", 0), handler.H)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def meant(variant: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Text and calls that the vendor of that variant means to say."""
    if variant in TWICE:
        return "", TWO
    if variant == "tool_args_empty":
        return "", [("call_a", "f", "{}")]
    if variant.startswith("tool_") and variant not in ("tool_empty_list", "tool_null_fields"):
        return "", TWO[:1]
    return "Hello", []


@needs_shared
def test_the_lab_has_all_its_variants() -> None:
    assert len(variants()) == 73
    assert set(variants()) > BROKEN | TWICE | THINKING


@needs_shared
@pytest.mark.parametrize("way", ["read", "ask"])
@pytest.mark.parametrize("variant", variants())
async def test_every_accident_of_the_lab_is_read_as_it_was_meant(wall: str, variant: str, way: str) -> None:
    url = f"{wall}/{variant}/v1/chat/completions"
    async with httpx.AsyncClient() as http:
        if way == "ask":
            answer = openai_stream.ask(http, url, BODY)
        else:
            asked = http.build_request("POST", url, json=BODY)
            answer = openai_stream.read(await http.send(asked, stream=True))
        message = await listen(answer)
    if variant in BROKEN:
        assert message.outcome == "failed"
        assert message.text == ("" if variant == "http200_json_err" else "Hel")
        assert message.issue is not None
        assert variant == "trunc" or "boom" in message.issue.text
        return
    text, tools = meant(variant)
    assert (message.outcome, message.text, calls(message)) == ("completed", text, tools)
    assert finish(message) == ("tool_calls" if tools else "stop")
    assert message.reasoning == ("think" if variant in THINKING else "")
    assert message.metrics is not None
    if variant == "no_usage":
        assert message.metrics.source == "estimated"
    else:
        assert total(message) == 15


# Frames.

FRAMES = sse(chunk({"role": "assistant"}), chunk({"content": "Grüß "}), chunk({"content": "Gott 海"}))
STREAM = FRAMES + sse(FINISHED, USAGE, DONE)
REFRAMED = {
    "as it is": STREAM,
    "no space": STREAM.replace(b"data: ", b"data:"),
    "CRLF": STREAM.replace(b"\n", b"\r\n"),
    "CR": STREAM.replace(b"\n", b"\r"),
    "byte order mark": b"\xef\xbb\xbf" + STREAM,
    "no blank line at the end": STREAM.rstrip(b"\n"),
    "several lines of data": STREAM.replace(b', "choices"', b'\ndata: , "choices"'),
    "comments, ids and blocks without data": STREAM.replace(b"data:", b": ping\n\nevent: x\n\nid: 1\ndata:"),
}


@pytest.mark.parametrize("reads", ["whole", "bytes"])
@pytest.mark.parametrize("frames", REFRAMED)
async def test_however_it_is_framed_and_cut_into_reads_the_message_is_the_same(
    frames: str, reads: str
) -> None:
    body = REFRAMED[frames]
    pieces = [body] if reads == "whole" else [body[at : at + 1] for at in range(len(body))]
    message = await listen(openai_stream.read(response(*pieces)))
    assert (message.text, finish(message), total(message)) == ("Grüß Gott 海", "stop", 15)
    assert message.warnings == []


async def test_members_of_the_envelope_may_be_missing() -> None:
    message = await heard(
        {"choices": [{"delta": {"content": "Hi"}}]}, {"choices": [{"finish_reason": "stop"}]}
    )
    assert (message.outcome, message.text) == ("completed", "Hi")


async def test_a_compressed_stream_is_undone_as_it_comes() -> None:
    packed = gzip.compress(STREAM)
    message = await listen(openai_stream.read(response(packed[:20], packed[20:], content_encoding="gzip")))
    assert message.text == "Grüß Gott 海"


# Deltas.


@pytest.mark.parametrize(
    "empty", [{}, None, {"role": ""}, {"content": ""}, {"content": None, "tool_calls": []}]
)
async def test_a_delta_that_says_nothing_makes_no_particle(empty: Any) -> None:
    answer = openai_stream.read(response(sse(chunk(empty), HI, chunk(empty), FINISHED, DONE)))
    said = [particle async for particle in answer if p.is_visible(particle)]
    assert said == [p.Text("Hi")]


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm"}]},
        {"content": "<think>hm</think>"},
    ],
    ids="+".join,
)
async def test_reasoning_is_found_wherever_it_is(delta: Any) -> None:
    message = await heard(chunk(delta), HI, FINISHED, DONE)
    assert (message.reasoning, message.text) == ("hm", "Hi")


@pytest.mark.parametrize(
    "deltas",
    [
        [call(0, "f", "", id="a"), call(0, None, '{"x":'), call(0, None, "1}")],
        [call(0, "f", "", id="a"), call(0, "", '{"x":1}', id="")],
        [call(None, "f", '{"x":', id="a"), call(None, None, "1}", id="a")],
        [call(-1, "f", '{"x":1}', id="a")],
        [call(0, "f", {"x": 1}, id="a")],
        [call(0, None, "", id="a"), call(0, "f", '{"x":1}')],
    ],
)
async def test_the_pieces_of_a_call_are_put_together_by_id_else_index_else_place(deltas: Any) -> None:
    message = await heard(*(chunk(delta) for delta in deltas), CALLED, DONE)
    ((id, name, arguments),) = calls(message)
    assert (id, name, json.loads(arguments)) == ("a", "f", {"x": 1})


async def test_one_index_with_another_id_is_another_call() -> None:
    message = await heard(chunk(call(0, "f", "{}", id="a")), chunk(call(0, "g", "{}", id="b")), CALLED, DONE)
    assert calls(message) == [("a", "f", "{}"), ("b", "g", "{}")]


# The finish reason.


async def test_what_follows_the_finish_reason_is_kept() -> None:
    message = await heard(HI, FINISHED, chunk({"content": " there"}), USAGE, DONE)
    assert (message.text, finish(message), total(message)) == ("Hi there", "stop", 15)


async def test_an_unknown_finish_reason_ends_well_and_is_kept_in_the_servers_word() -> None:
    message = await heard(HI, chunk(finish="eot_reached"), DONE)
    assert message.end is not None
    assert (finish(message), message.end.native_stop) == ("stop", "eot_reached")


async def test_the_token_limit_is_told_apart() -> None:
    assert finish(await heard(HI, chunk(finish="length"), DONE)) == "length"


async def test_calls_make_a_plain_stop_one_for_calls() -> None:
    assert finish(await heard(chunk(call(0, "f", "{}", id="a")), FINISHED, DONE)) == "tool_calls"


async def test_an_empty_finish_reason_is_none() -> None:
    message = await heard(chunk({"content": "Hi"}, ""))
    assert message.outcome == "failed"


async def test_done_alone_is_evidence_with_a_warning() -> None:
    message = await heard(HI, DONE)
    assert (message.outcome, finish(message)) == ("completed", "stop")
    assert message.warnings


async def test_a_finish_reason_alone_is_evidence_too() -> None:
    assert (await heard(HI, FINISHED)).outcome == "completed"


async def test_nothing_after_done_is_read() -> None:
    assert (await heard(HI, FINISHED, DONE, chunk({"content": "XX"}))).text == "Hi"


# Usage.


async def test_usage_is_read_before_a_chunk_without_choices_is_skipped() -> None:
    assert total(await heard(HI, FINISHED, USAGE, DONE)) == 15


async def test_running_totals_are_not_added_up_and_null_takes_nothing_back() -> None:
    half = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    message = await heard(HI | {"usage": half}, HI | {"usage": COUNTS}, FINISHED | {"usage": None}, DONE)
    assert total(message) == 15


async def test_what_is_not_counted_is_estimated_and_says_so() -> None:
    answer = openai_stream.read(response(sse(chunk({"content": "x" * 40}), FINISHED, DONE)))
    message = await listen(answer)
    assert message.metrics is not None
    assert (message.metrics.source, message.metrics.tokens_out, message.metrics.tokens_in) == (
        "estimated",
        10,
        None,
    )


async def test_an_answer_that_is_not_whole_has_an_estimate_of_what_came() -> None:
    metrics = (await heard(HI)).metrics
    assert metrics is not None
    assert (metrics.source, metrics.tokens_out) == ("estimated", 1)


# What is broken.


async def test_one_bad_chunk_is_logged_and_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "motes.client"):
        message = await heard(HI, '{"choices": [{', chunk({"content": " there"}), FINISHED, DONE)
    assert (message.outcome, message.text) == ("completed", "Hi there")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "bad_event" in caplog.text


async def test_a_stream_of_bad_chunks_is_an_error() -> None:
    message = await heard(HI, "{", "{", "{", FINISHED, DONE)
    assert message.outcome == "failed"
    assert message.error is not None
    assert message.error.kind == "protocol"


async def test_a_cut_answer_raises_for_who_wants_it_whole_and_keeps_what_came() -> None:
    with pytest.raises(RunFailed, match="before its answer was complete") as caught:
        await openai_stream.read(response(sse(HI))).whole()
    assert (caught.value.answer.text, caught.value.answer.outcome) == ("Hi", "failed")
    texts = openai_stream.read(response(sse(HI))).texts()
    assert await anext(texts) == "Hi"
    with pytest.raises(RunFailed):
        await anext(texts)


async def test_a_refusal_by_status_is_read_and_tells_no_key() -> None:
    key = "sk-very-secret-0123456789"
    refused = response(b'{"error": {"message": "bad key %s"}}' % key.encode(), status=401)
    refused.request = httpx.Request("POST", "http://x.test/", headers={"authorization": f"Bearer {key}"})
    with pytest.raises(RunFailed) as caught:
        await openai_stream.read(refused).whole()
    assert caught.value.answer.error is not None
    assert caught.value.answer.error.http_status == 401
    assert key not in repr(caught.value.answer)
    assert key not in str(caught.value)


# Time and attempts, over a socket.


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(headers={"authorization": "Bearer sk-test-0123456789"}) as client:
        yield client


async def test_a_question_is_sent_as_a_stream_with_usage_and_its_pieces_come_as_they_are_sent(
    upstream: Upstream, http: httpx.AsyncClient
) -> None:
    upstream.play(*HELLO)
    message = await openai_stream.ask(http, f"{upstream.base_url}/chat/completions", BODY).whole()
    assert (message.text, total(message)) == ("Hello there", 7)
    sent = upstream.received[0]
    assert sent.json == {**BODY, "stream": True, "stream_options": {"include_usage": True}}
    assert sent.headers["authorization"] == "Bearer sk-test-0123456789"
    assert sent.headers["user-agent"].startswith("motes/")


@pytest.mark.parametrize("first", [[answer(503, {"error": {"message": "busy"}})], [SSE_HEAD, Reset()]])
async def test_an_attempt_that_failed_before_anything_visible_is_made_again(
    upstream: Upstream, http: httpx.AsyncClient, first: list[Any]
) -> None:
    upstream.play(*first)
    upstream.play(*HELLO)
    answer = openai_stream.ask(http, f"{upstream.base_url}/chat/completions", BODY)
    said = [particle async for particle in answer]
    assert sum(isinstance(particle, p.RetryReset) for particle in said) == 1
    assert answer.message.text == "Hello there"


async def test_attempts_are_limited(upstream: Upstream, http: httpx.AsyncClient) -> None:
    upstream.play(answer(503, {"error": {"message": "busy"}}))
    with pytest.raises(RunFailed, match="busy"):
        await openai_stream.ask(http, f"{upstream.base_url}/chat/completions", BODY, limits=QUICK).whole()
    assert len(upstream.received) == 2


async def test_nothing_is_asked_again_once_content_came(upstream: Upstream, http: httpx.AsyncClient) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hel"}), Gate("seen"), Reset())
    upstream.play(*HELLO)
    answer = openai_stream.ask(http, f"{upstream.base_url}/chat/completions", BODY)
    async for particle in answer:
        if isinstance(particle, p.Text):
            upstream.open("seen")
    assert (answer.message.text, answer.message.outcome) == ("Hel", "failed")
    assert len(upstream.received) == 1


async def test_a_callable_is_asked_again_in_the_same_way(upstream: Upstream, http: httpx.AsyncClient) -> None:
    upstream.play(answer(503, {"error": {"message": "busy"}}))
    upstream.play(*HELLO)

    async def open_again() -> httpx.Response:
        request = http.build_request("POST", f"{upstream.base_url}/chat/completions", json=BODY)
        return await http.send(request, stream=True)

    message = await openai_stream.reopening(open_again, QUICK).whole()
    assert message.text == "Hello there"


async def test_what_the_callable_raises_itself_is_raised() -> None:
    async def broken() -> httpx.Response:
        raise KeyError("model")

    with pytest.raises(KeyError, match="model"):
        await openai_stream.reopening(broken).whole()


@pytest.mark.parametrize("way", ["read", "ask"])
async def test_a_silence_in_the_middle_ends_the_answer_and_closes_the_connection(
    upstream: Upstream, http: httpx.AsyncClient, way: str
) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hel"}), UntilGone())
    url = f"{upstream.base_url}/chat/completions"
    if way == "ask":
        answer = openai_stream.ask(http, url, BODY, limits=QUICK)
    else:
        asked = http.build_request("POST", url, json=BODY, timeout=None)
        answer = openai_stream.read(await http.send(asked, stream=True), QUICK)
    message = await listen(answer)
    assert message.text == "Hel"
    assert message.error is not None
    assert (message.error.kind, message.error.code) == ("timeout", "idle_timeout")
    await asyncio.to_thread(upstream.wait_until_gone)


@pytest.mark.parametrize("way", ["read", "reopening"])
async def test_a_pause_longer_than_the_clients_own_read_timeout_is_waited_for(
    upstream: Upstream, http: httpx.AsyncClient, way: str
) -> None:
    upstream.play(
        SSE_HEAD, chat_chunk({"content": "Hel"}), Sleep(0.6), chat_chunk({"content": "lo"}, "stop"), LAST
    )

    async def opened() -> httpx.Response:
        asked = http.build_request("POST", upstream.base_url, json=BODY, timeout=0.2)
        return await http.send(asked, stream=True)

    answer = openai_stream.reopening(opened) if way == "reopening" else openai_stream.read(await opened())
    assert (await answer.whole()).text == "Hello"


async def test_an_answer_that_is_left_early_closes_its_connection(
    upstream: Upstream, http: httpx.AsyncClient
) -> None:
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hel"}), UntilGone())
    async with openai_stream.ask(http, f"{upstream.base_url}/chat/completions", BODY) as answer:
        async for particle in answer:
            if isinstance(particle, p.Text):
                break
    assert answer.message.text == "Hel"
    await asyncio.to_thread(upstream.wait_until_gone)


async def test_a_connection_serves_again_after_a_whole_answer(http: httpx.AsyncClient) -> None:
    def body() -> bytes:
        events = b"".join((chat_chunk({"content": "Hi"}), chat_chunk({}, "stop"), chat_usage(1, 1), LAST))
        head = f"content-type: text/event-stream\r\ncontent-length: {len(events)}\r\n\r\n"
        return f"HTTP/1.1 200 OK\r\n{head}".encode() + events

    peers = set()

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.add(writer.get_extra_info("peername"))
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
            writer.write(body())
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(attend, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/chat/completions"
        for way in ("ask", "read"):
            if way == "ask":
                message = await openai_stream.ask(http, url, BODY).whole()
            else:
                asked = http.build_request("POST", url, json=BODY)
                message = await openai_stream.read(await http.send(asked, stream=True)).whole()
            assert message.text == "Hi"
    assert len(peers) == 1


# What it is given.


async def test_an_answer_that_was_read_already_is_read_from_what_was_kept() -> None:
    kept = httpx.Response(200, content=gzip.compress(STREAM), headers={"content-encoding": "gzip"})
    assert (await openai_stream.read(kept).whole()).text == "Grüß Gott 海"


def test_an_answer_of_a_client_that_blocks_is_refused_with_the_cure() -> None:
    given = httpx.Response(200, content=iter([STREAM]))
    with pytest.raises(TypeError, match=r"httpx\.AsyncClient"):
        openai_stream.read(given)


def test_an_answer_that_was_read_and_not_kept_is_refused() -> None:
    given = httpx.Response(200, content=iter([STREAM]))
    assert b"".join(given.iter_raw()) == STREAM
    with pytest.raises(httpx.ResponseNotRead):
        openai_stream.read(given)


OURS = sorted(path.parent for path in (WIRE / "openai-chat").glob("*/meta.json"))
# Those that need to be told whose they are: a server that repeats itself, one that counts reasoning apart.
TOLD_APART = {"minimax-repeats-itself", "xai-reasoning-apart", "minimax-no-balance"}


@pytest.mark.parametrize("folder", [one for one in OURS if one.name not in TOLD_APART], ids=lambda f: f.name)
async def test_every_recording_of_the_dialect_reads_as_it_does_for_the_gateway(folder: Any) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    given = response((folder / "response.bin").read_bytes(), status=meta.get("status", 200))
    answer = openai_stream.read(given)
    visible = [p.is_visible(particle) async for particle in answer]
    read = message_json(answer.message, visible=any(visible))
    expected = json.loads((folder / "expected.json").read_text())
    names = ("text", "reasoning", "refusal", "tool_calls", "finish_reason", "model", "citations", "end")
    assert {name: read[name] for name in names} == {name: expected[name] for name in names}


def test_it_needs_nothing_that_serves() -> None:
    code = "import sys; import motes.client.openai_stream; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"starlette", "uvicorn", "fastapi", "boto3", "botocore"}
    assert not {"motes.api", "motes.store", "motes.hosts"} & set(run.stdout.split())
