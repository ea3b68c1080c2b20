"""What stands at the other end may be anything: a proxy, a portal, a newer gateway, junk. It is told, never raised."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motes import particles as p
from motes.client import AsyncClient, Client, GatewayError, Patience
from motes.codec import TAGS, from_wire
from motes.reassembly import Reassembler

NDJSON = "content-type: application/x-ndjson\r\nconnection: close\r\n"
ONE_TRY = Patience(attempts=0, idle_s=5.0)
SECRET = "mk-very-secret"
END = json.dumps({"cg": "end", "terminationReason": "done-dialect", "tokenStopReason": "ok"})


Attend = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def listening(attend: Attend) -> AsyncIterator[str]:
    """A server on loopback, every connection of it closed in the end."""
    tasks = set[asyncio.Task[None]]()

    async def attended(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await attend(reader, writer)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(attended(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def answering(*answers: str) -> AsyncIterator[str]:
    """A server that gives these bytes, one after the other, the last one again and again; its base URL."""
    left = list(answers)

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
        await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
        writer.write((left.pop(0) if len(left) > 1 else left[0]).encode())
        await writer.drain()

    async with listening(attend) as url:
        yield url


async def asked(*answers: str, patience: Patience = ONE_TRY) -> Any:
    async with answering(*answers) as url, AsyncClient(url, SECRET, patience=patience) as client:
        return await client.generate("Hi", model="m")


async def test_a_page_in_place_of_a_stream_is_no_answer() -> None:
    message = await asked(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>Log in</html>"
    )
    assert message.error is not None
    assert (message.outcome, message.error.code, message.error.retryable) == ("failed", "no_gateway", False)
    assert message.error.details == {"body": "<html>Log in</html>"}


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    message = await asked(
        "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.invalid/\r\nconnection: close\r\n\r\n"
    )
    assert message.error is not None
    assert (message.error.code, message.error.http_status) == ("no_gateway", 302)


async def test_lines_that_are_no_particles_are_told_and_the_run_goes_on() -> None:
    lines = '{"t":"a"}\nnot json\n[1]\n{"p":"hologram"}\n{"t":5}\n{"t":"b"}\n' + END + "\n"
    message = await asked(f"HTTP/1.1 200 OK\r\n{NDJSON}\r\n{lines}")
    assert (message.outcome, message.text) == ("completed", "ab")
    assert [warning.code for warning in message.warnings] == ["bad_line", "bad_line"]
    assert message.unknown == [p.Unknown({"p": "hologram"}), p.Unknown({"t": 5})]


async def test_what_follows_the_end_is_not_heard() -> None:
    message = await asked(f'HTTP/1.1 200 OK\r\n{NDJSON}\r\n{{"t":"a"}}\n{END}\n{{"t":"b"}}\n{END}\n')
    assert (message.text, message.warnings) == ("a", [])


async def test_a_gateway_that_says_not_to_try_again_is_obeyed() -> None:
    busy = 'HTTP/1.1 503 Busy\r\ncontent-type: application/json\r\nx-should-retry: false\r\nconnection: close\r\n\r\n{"error":{"message":"no"}}'
    fine = f'HTTP/1.1 200 OK\r\n{NDJSON}\r\n{{"t":"a"}}\n{END}\n'
    again = Patience(attempts=3, base=0.0)
    assert (await asked(busy, fine, patience=again)).outcome == "failed"
    assert (await asked(busy.replace("false", "true"), fine, patience=again)).outcome == "completed"


@pytest.mark.parametrize("key", ["mk-very-secret\nx: y", "mk-very-secret-€"])
@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[bad", "nowhere"])
async def test_a_key_or_address_that_cannot_be_sent_is_told_without_the_key(key: str, url: str) -> None:
    async with AsyncClient(url, key, patience=Patience(attempts=1, base=0.0)) as client:
        message = await client.generate("Hi", model="m")
        assert message.error is not None
        assert message.error.code == "gateway_unreachable"
        with pytest.raises(GatewayError) as failed:
            await client.models()
        assert SECRET not in f"{message!r}{failed.value!r}{client!r}{vars(failed.value)}"
        assert failed.value.__cause__ is None


@pytest.mark.parametrize("url", ["127.0.0.1:8000/v1", "localhost:8000/v1", "nowhere"])
async def test_an_address_without_its_scheme_is_told_with_the_cure(url: str) -> None:
    async with AsyncClient(url, "mk-x", patience=Patience(attempts=1, base=0.0)) as client:
        message = await client.generate("Hi", model="m")
    assert message.error is not None
    assert message.error.message == "the base URL must begin with http:// or https://"


@asynccontextmanager
async def trickling(*pieces: str, pause: float) -> AsyncIterator[str]:
    """A stream whose bytes come piece by piece."""

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in (f"HTTP/1.1 200 OK\r\n{NDJSON}\r\n", *pieces):
            writer.write(piece.encode())
            await asyncio.sleep(pause)

    async with listening(attend) as url:
        yield url


async def test_a_large_particle_on_a_slow_line_is_no_silence() -> None:
    short = Patience(attempts=0, idle_s=0.6)
    image = '{"p":"ii","mimeType":"image/png","i_b64":"', *["aaaa"] * 20, '"}\n', END + "\n"
    async with trickling(*image, pause=0.05) as url, AsyncClient(url, patience=short) as client:
        message = await client.generate("Hi", model="m")
        assert (message.outcome, len(message.media(p.Image))) == ("completed", 1)


async def test_empty_lines_are_no_sign_of_life() -> None:
    short = Patience(attempts=0, idle_s=0.25)
    lines = '{"t":"a"}\n', *["\n"] * 40
    async with trickling(*lines, pause=0.05) as url, AsyncClient(url, patience=short) as client:
        message = await client.generate("Hi", model="m")
    assert message.error is not None
    assert (message.error.code, message.text) == ("idle_timeout", "a")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
KEYS = sorted(
    {
        "t",
        "_t",
        "_data",
        "id",
        "name",
        "_args",
        "i_args",
        "opId",
        "text",
        "mot",
        "state",
        "vendor",
        "handle",
        "metrics",
        "TOut",
        "rScope",
        "rClearStrategy",
        "reason",
        "attempt",
        "maxAttempts",
        "delayMs",
        "err",
        "issueId",
        "issueText",
        "seq",
        "terminationReason",
        "tokenStopReason",
        "parentOpId",
        "iTexts",
        "url",
        "title",
        "from",
        "to",
        "language",
        "code",
        "author",
        "error",
        "result",
        "executor",
        "environment",
        "mimeType",
        "i_b64",
        "partial",
    }
)
TAGGED = st.sampled_from([{group: tag} if group != "t" else {} for group, tag in TAGS.values()])
LIKELY = JUNK | st.sampled_from(
    ["a", "gemini", "openai", "done", "all", "none", "since-checkpoint", "cli-ll", 1]
)


@settings(max_examples=300)
@given(st.lists(st.tuples(TAGGED, st.dictionaries(st.sampled_from(KEYS), LIKELY, max_size=12)), max_size=20))
def test_no_json_object_at_all_can_break_a_message(
    objects: list[tuple[dict[str, str], dict[str, Any]]],
) -> None:
    reassembler = Reassembler()
    for tag, members in objects:
        reassembler.feed(from_wire({**members, **tag}))
    message = reassembler.finalize()
    assert message.outcome in ("completed", "aborted", "failed")
    assert isinstance(message.text, str)
    assert [
        message.reasoning,
        message.sources,
        message.operations,
        message.tool_calls,
        message.error,
        message.cost,
    ]


async def test_a_blocking_reader_gets_fragments_and_learns_of_a_cut() -> None:
    cut = f'HTTP/1.1 200 OK\r\n{NDJSON}\r\n{{"p":"tr_","_t":"hm"}}\n{{"t":"a"}}\n'

    def read(url: str) -> tuple[list[str], str]:
        with Client(url, SECRET, model="m", patience=ONE_TRY) as client:
            whole = [type(one).__name__ for one in client.stream("Hi").fragments]
            came = ""
            try:
                for text in client.stream("Hi").text:
                    came += text
            except Exception as error:
                came += type(error).__name__
            return whole, came

    async with answering(cut + END + "\n", cut) as url:
        assert await asyncio.to_thread(read, url) == (["ReasoningFragment", "TextFragment"], "aRunFailed")


async def test_a_blocking_reader_that_is_dropped_after_its_client_was_closed_is_no_trouble() -> None:
    cut = f'HTTP/1.1 200 OK\r\n{NDJSON}\r\n{{"t":"a"}}\n{{"t":"b"}}\n'

    def read(url: str) -> str:
        with Client(url, SECRET, model="m", patience=ONE_TRY) as client:
            texts = client.stream("Hi").text
            first = next(texts)
        texts.close()  # type: ignore[attr-defined]
        with pytest.raises(RuntimeError, match="closed"):
            client.models()
        return first

    async with answering(cut) as url:
        assert await asyncio.to_thread(read, url) == "a"
