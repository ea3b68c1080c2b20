"""Vendor, gateway and client on one event loop, over real sockets and under the real server.

A test says a piece as the vendor and reads what it came to as the client before it says the next one: so every
piece is a read of its own, and nothing is waited for by luck. The clock is moved by hand, for waits that are long.
"""

import asyncio
import functools
import json
import re
import socket
import struct
import sys
from collections import Counter
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from threading import Timer

import motes
from fakes.serving import KEY, ONCE, vendor_row
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.hosts.local import LocalServer, bind
from motes.hosts.log import LogObserver
from motes.settings import load_settings

OURS = str(Path(motes.__file__).parent)
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_PATIENCE = 20.0
_LIMIT = 1 << 24


class HandMovedLoop(asyncio.SelectorEventLoop):
    """Its clock stands still until it is moved: what waits for a time by mistake waits for ever."""

    def __init__(self):
        self.now, self._let_go_at = 1000.0, None
        super().__init__()

    def time(self):
        """See asyncio."""
        gone = 0.0 if self._let_go_at is None else super().time() - self._let_go_at
        return self.now + gone

    def let_go(self):
        """From now on the clock runs."""
        self._let_go_at = super().time()


def live(test):
    """Run an `async def` test on such a loop, with no trouble in any callback, and not for longer than a while."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        troubles = []
        with asyncio.Runner(loop_factory=HandMovedLoop) as runner:
            loop = runner.get_loop()
            loop.set_exception_handler(lambda _, trouble: troubles.append(trouble))
            # By another clock than the loop's, which the test moves.
            alarm = Timer(_PATIENCE, lambda: loop.call_soon_threadsafe(_cancel_all, loop))
            alarm.start()
            try:
                runner.run(test(*args, **kwargs))
            finally:
                alarm.cancel()
        assert troubles == []

    return run


def _cancel_all(loop):
    for task in asyncio.all_tasks(loop):
        task.cancel()


def move_clock(seconds):
    """So many seconds pass at once."""
    asyncio.get_running_loop().now += seconds


class Call:
    """One request as its vendor sees it."""

    def __init__(self, reader, writer, body):
        self.reader, self.writer, self.body = reader, writer, body
        self.is_over = asyncio.Event()

    def begin(self, head=CHUNKED):
        """The head; what is said afterwards is framed as that says."""
        self.is_chunked = b"chunked" in head
        self.writer.write(head)

    def say(self, *pieces, end=False):
        """All of it in one write; `end` ends the body with it."""
        data = b"".join(pieces)
        if self.is_chunked:
            data = (b"%x\r\n%b\r\n" % (len(data), data) if data else b"") + b"0\r\n\r\n" * end
        self.writer.write(data)
        if end:
            self.is_over.set()
            if not self.is_chunked:
                self.leave()

    def leave(self):
        """Close the line in good order."""
        self.writer.close()
        self.is_over.set()

    def reset(self):
        """Break the line: who closes it without a moment's patience sends a reset."""
        line = self.writer.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        self.is_over.set()

    async def gone(self):
        """Wait until the gateway has closed the line."""
        with suppress(ConnectionError):
            while await self.reader.read(65536):
                pass
        self.is_over.set()


class Client:
    """One who asks over a line of its own; `body` is what came of the answer's body."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.head, self.body, self.is_whole = b"", b"", False
        self.pieces = []

    async def until(self, words):
        """Read on until that has come."""
        while words not in self.body:
            assert await self._reads(), self.body
        return self

    async def piece(self, number):
        """Read on until there is a piece of that number."""
        while len(self.pieces) <= number:
            assert await self._reads(), self.body

    async def rest(self):
        """Read the answer to its end; gives the whole body."""
        while await self._reads():
            pass
        return self.body

    async def rest_of_length(self):
        """The whole body of an answer that says how long it is."""
        self.head = await self.reader.readuntil(b"\r\n\r\n")
        return await self.reader.readexactly(int(re.search(rb"content-length: (\d+)", self.head)[1]))

    def events(self):
        """The values of the lines or events that came, `[DONE]` left out."""
        lines = [line.removeprefix(b"data: ") for line in self.body.split(b"\n")]
        return [json.loads(line) for line in lines if line.startswith((b"{", b"[")) and line != b"[DONE]"]

    async def _reads(self):
        if not self.head:
            self.head = await self.reader.readuntil(b"\r\n\r\n")
        if self.is_whole:
            return False
        try:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            piece = (await self.reader.readexactly(size + 2))[:-2]
        except asyncio.IncompleteReadError:
            return False
        self.is_whole = not size
        self.body += piece
        self.pieces.append(piece)
        return size > 0

    def leave(self):
        """Close the line."""
        self.writer.close()

    def next(self):
        """Who waits for the next answer on this line."""
        return Client(self.reader, self.writer)

    @property
    def run_id(self):
        """The run's id, as the head tells it."""
        return re.search(rb"x-motes-run-id: (\S+)", self.head)[1].decode()


class Vendor:
    """A vendor whose every answer is spoken by the test. `calls` are the requests that wait for theirs."""

    def __init__(self):
        self.calls, self.url = asyncio.Queue(), ""
        self._writers, self._begun = [], []

    async def on_line(self, reader, writer):
        """A line to it."""
        self._writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head, re.I)
                call = Call(reader, writer, await reader.readexactly(int(length[1])))
                self._begun.append(call)
                self.calls.put_nowait(call)
                await call.is_over.wait()
        writer.close()

    async def close(self):
        """Close every line that is still open."""
        for call in self._begun:
            call.is_over.set()
        await _closed(self._writers)


@asynccontextmanager
async def live_vendor():
    """A vendor on the running loop."""
    vendor = Vendor()
    async with await asyncio.start_server(vendor.on_line, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        vendor.url = f"http://{host}:{port}/v1"
        try:
            yield vendor
        finally:
            await vendor.close()


async def _closed(writers):
    for writer in writers:
        writer.close()
    for writer in writers:
        with suppress(ConnectionError):
            await writer.wait_closed()


async def turn():
    """Let everybody do what there is to do now."""
    await asyncio.sleep(0)


class Stand:
    """See `live_stand`."""

    def __init__(self, vendor, gateway, server, port):
        self.vendor, self.gateway, self.server, self.port = vendor, gateway, server, port
        self.writers = []

    async def connect(self, receive_buffer=None):
        """A client's line."""
        line = socket.socket()
        if receive_buffer is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        line.setblocking(False)
        await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", self.port))
        reader, writer = await asyncio.open_connection(sock=line, limit=_LIMIT)
        self.writers.append(writer)
        return Client(reader, writer)

    async def ask(self, path, body, method="POST", version="1.1", client=None, **headers):
        """Ask for something; gives who waits for the answer."""
        client = client or await self.connect()
        raw = b"" if body is None else json.dumps(body).encode()
        fields = {"host": "motes", "authorization": f"Bearer {KEY}", "content-length": len(raw), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        client.writer.write(f"{method} {path} HTTP/{version}\r\n{head}\r\n".encode() + raw)
        return client

    async def asked(self, path, body, first=b"", head=CHUNKED, **asking):
        """Ask, and have the vendor begin; gives client and call."""
        client = await self.ask(path, body, **asking)
        call = await self.vendor.calls.get()
        call.begin(head)
        if first:
            call.say(first)
        return client, call


@asynccontextmanager
async def live_stand(home, dialect="openai-chat", toml="", policy=ONCE, grace=3.0, **environ):
    """A gateway as `motes serve` has it, with the vendor `fake`, on the running loop; `grace` is in seconds."""
    listener, started = bind(), asyncio.Event()
    async with live_vendor() as vendor:
        (home / "motes.toml").write_text(toml + vendor_row(vendor.url, dialect=dialect))
        environ = {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY, "MOTES_PRICE_LIST": "none", **environ}
        gateway = open_gateway(load_settings(environ, home), environ, observer=LogObserver(), policy=policy)
        app = create_app(gateway, is_always_on=True)
        server = LocalServer(app, started.set, gateway.runs.stop, grace=grace)
        # Signals are the test runner's.
        server.capture_signals = nullcontext
        serving = asyncio.create_task(server.serve([listener]))
        await started.wait()
        stand = Stand(vendor, gateway, server, listener.getsockname()[1])
        try:
            yield stand
        finally:
            try:
                await _closed(stand.writers)
                # A server looks now and then whether it is to end.
                asyncio.get_running_loop().let_go()
                server.stop()
                await serving
            finally:
                listener.close()


class Calls:
    """How often each function of ours is entered or gone on with, while it is entered."""

    def __init__(self):
        self.of = Counter()

    def __enter__(self):
        sys.setprofile(self._on_event)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _on_event(self, frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OURS):
            self.of[code.co_name] += 1
