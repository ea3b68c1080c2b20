"""What a request costs before and around its events, counted in steps of the interpreter and not timed.

The whole app as `motes serve` has it (keys, plan, executor, engine, log, usage, runs), asked in this process
and answered by a scripted vendor over a socket. Only our own code is counted: what the server, the event loop
and the packages do is the same for everybody. Where a limit here is passed, something was added to the way
that every request takes. See `kernel/test_work_an_event.py`, and `python -m tests.bench slope` for the time.
"""

import asyncio
import json
import logging
import re
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import motes
from bench.wires import DIALECTS, Script
from fakes.live_stand import live, live_stand
from fakes.serving import AUTH, KEY, vendor_row
from fakes.upstream import SSE_HEAD, Upstream
from motes.api.app import create_app
from motes.api.envelope import DEPARTURE
from motes.api.gateway import open_gateway
from motes.hosts.log import LogObserver
from motes.settings import load_settings

OURS = str(Path(motes.__file__).parent)
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WARM, COUNTED = 8, 10


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


async def asked(app, body, heard=None):
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
        if heard is not None:
            heard(message)

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
    counter = Counter()
    with counter:
        # In tasks of their own: only frames that begin now are counted.
        for _ in range(COUNTED):
            await asyncio.create_task(asked(app, body))
        await asyncio.create_task(settled())
    return counter.steps / COUNTED


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the limits are of Python 3.11's instructions")
@pytest.mark.parametrize(
    ("dialect", "limit"),
    [("openai-chat", 13_860), ("anthropic-messages", 15_330), ("gemini-generate", 14_190)],
)
def test_a_request_takes_few_steps_of_our_own(tmp_path, dialect, limit):
    answer = DIALECTS[dialect](Script(n=1), b"")
    with Upstream() as vendor:
        # In one piece, so that it is one read.
        vendor.play(SSE_HEAD + b"".join([*answer.head, *answer.middle, *answer.tail]))
        (tmp_path / "motes.toml").write_text(vendor_row(vendor.base_url, dialect=dialect))
        environ = {"MOTES_HOME": str(tmp_path), "MOTES_API_KEY": KEY}

        async def counted():
            gateway = open_gateway(load_settings(environ, tmp_path), environ, observer=LogObserver())
            app = create_app(gateway, is_always_on=True)
            body = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
            async with app.router.lifespan_context(app):
                return await steps_a_request(gateway, app, json.dumps(body).encode())

        assert asyncio.run(counted()) <= limit


class LiveVendor:
    """Says a piece when its reader has the last one, so that every piece is a read of its own."""

    def __init__(self, dialect):
        self.dialect, self.pieces, self._heard = dialect, 0, asyncio.Event()

    def hear(self, _):
        self._heard.set()

    async def __call__(self, reader, writer):
        # The line stays open until the gateway's end, which cancels this.
        try:
            with suppress(asyncio.IncompleteReadError):
                while True:
                    await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"content-length: (\d+)", head, re.I)[1]))
        answer = DIALECTS[self.dialect](Script(n=self.pieces), b"")
        writer.write(CHUNKED_HEAD)
        for piece in [b"".join(answer.head), *answer.middle, b"".join(answer.tail)]:
            self._heard.clear()
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await asyncio.wait_for(self._heard.wait(), 10)
        writer.write(b"0\r\n\r\n")


async def steps_an_event(app, vendor, wishes):
    body = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}], **wishes}
    found = []
    for vendor.pieces in (10, 20, 220):
        counter = Counter()
        with counter:
            told = await asyncio.create_task(asked(app, json.dumps(body).encode(), vendor.hear))
        assert b"[DONE]" in told
        found.append(counter.steps)
    return (found[2] - found[1]) / 200


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the limits are of Python 3.11's instructions")
@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic-messages"])
def test_a_journal_takes_few_steps_a_live_event(tmp_path, dialect):
    async def counted():
        vendor = LiveVendor(dialect)
        async with await asyncio.start_server(vendor, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            row = vendor_row(f"http://{host}:{port}", dialect=dialect)
            # Pages by what is said, and not by how fast this machine is.
            (tmp_path / "motes.toml").write_text("journal_page_s = 600\n" + row)
            environ = {"MOTES_HOME": str(tmp_path), "MOTES_API_KEY": KEY}
            gateway = open_gateway(load_settings(environ, tmp_path), environ, observer=LogObserver())
            app = create_app(gateway, is_always_on=True)
            async with app.router.lifespan_context(app):
                plain = await steps_an_event(app, vendor, {})
                return await steps_an_event(app, vendor, {"motes": {"resumable": True}}) - plain

    assert asyncio.run(counted()) <= 215


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the limits are of Python 3.11's instructions")
@pytest.mark.parametrize(
    ("dialect", "limit"),
    [("openai-chat", 534), ("anthropic-messages", 549), ("gemini-generate", 557)],
)
@live
async def test_a_live_event_takes_few_steps_under_the_server(tmp_path, dialect, limit):
    answer = DIALECTS[dialect](Script(n=240), b"")
    body = {"model": "fake/m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
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
