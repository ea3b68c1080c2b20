"""The head of a request is made once and sent many times: what it says is httpx's own, and it is no other's."""

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from fakes.tiny import GOOD, tiny_dispatch
from fakes.tiny_runs import options
from motes import particles as p
from motes.engine.ask import Ask, heading_over
from motes.executor.connection import EngineClient, open_client
from motes.executor.pipeline import run
from motes.executor.policy import Backoff, Policy

ONCE = Policy(http=Backoff(1, 0.01), connection=Backoff(1, 0.01))
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
WHOLE = b"%x\r\n%b\r\n" % (len(b"".join(GOOD)), b"".join(GOOD))


@asynccontextmanager
async def answering(answer, *, closes=False):
    """Gives the address and the requests as they came, head and body."""
    seen = []

    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                seen.append((head, await reader.readexactly(length)))
                for part in answer:
                    writer.write(part)
                    await asyncio.sleep(0.005)
                if closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1", seen


async def said_by(dispatch, http):
    async with aclosing(run(dispatch, http, options(policy=ONCE))) as particles:
        return [particle async for particle in particles]


def with_request(url, **changes):
    dispatch = tiny_dispatch(url=url)
    return replace(dispatch, request=replace(dispatch.request, **changes))


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer sk-1", "content-type": "application/json"},
        {"Accept": "text/event-stream", "User-Agent": "other", "x-name": "Ø"},
        {"host": "vendor.example", "content-length": "2"},
    ],
)
async def test_the_engine_sends_what_httpx_would(headers):
    async with answering([HEAD, WHOLE, b"0\r\n\r\n"]) as (url, seen), open_client(trust_env=False) as http:
        wire = with_request(f"{url}?a=%2F", headers=headers, body=b"{}")
        assert isinstance(http, EngineClient)
        for _ in range(2):
            await said_by(wire, http)
        request = http.build_request(
            "POST", wire.request.url, headers=wire.request.raw_headers, content=b"{}"
        )
        lines = {name.lower(): value for name, value in request.headers.raw}
    for head, body in seen:
        first, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        assert (first, body) == (b"POST /v1?a=%2F HTTP/1.1", b"{}")
        assert {name.lower(): value for name, value in (line.split(b": ", 1) for line in rest)} == lines
        assert len(rest) == len(lines)


async def test_each_request_has_its_own_key_and_its_own_length():
    async with answering([HEAD, WHOLE, b"0\r\n\r\n"]) as (url, seen), open_client(trust_env=False) as http:
        asked = [(f"Bearer sk-{key}", b"x" * size) for size in (1, 10, 0) for key in ("one", "two")]
        for key, body in asked:
            await said_by(with_request(url, headers={"authorization": key}, body=body), http)
    for (key, body), (head, received) in zip(asked, seen, strict=True):
        assert b"authorization: " + key.encode() in head
        assert head.lower().count(b"content-length: %d\r\n" % len(body)) == 1
        assert received == body


@pytest.mark.parametrize("value", ["a\r\nx: y", "sk ", "\0", "日"])
async def test_a_header_that_cannot_be_sent_is_refused_every_time(value):
    async with answering([HEAD]) as (url, seen), open_client(trust_env=False) as http:
        for _ in range(2):
            said = await said_by(with_request(url, headers={"authorization": value}), http)
            (issue,) = [one for one in said if isinstance(one, p.Issue)]
            assert issue.error.code == "unsendable_request"
    assert not seen


async def test_hooks_and_other_transports_are_given_the_request_as_httpx_makes_it():
    heard = []

    async def hook(request):
        heard.append(request.headers["authorization"])

    async with answering([HEAD, WHOLE, b"0\r\n\r\n"]) as (url, _), open_client(trust_env=False) as http:
        http.event_hooks = {"request": [hook]}
        await said_by(tiny_dispatch(url=url), http)
    assert heard == ["Bearer sk-secret"]


async def test_a_line_that_breaks_after_the_end_of_the_answer_is_no_failure():
    async with answering([HEAD, WHOLE], closes=True) as (url, _), open_client(trust_env=False) as http:
        said = await said_by(tiny_dispatch(url=url), http)
        assert said[-1].stop == "ok"
        assert not http.engine.pool.connections


def test_no_repr_shows_the_key():
    url = "https://vendor.example/?key=sk-1"
    heading = heading_over((), "POST", url, (("authorization", "Bearer sk-1"),))
    ask = Ask(heading=heading, body=b"", connect=None, on_sending=lambda: None)
    assert heading.head(0, None).count(b"sk-1") == 2
    assert "sk-1" not in f"{ask!r} {heading!r}"
