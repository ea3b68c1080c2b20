"""The mock vendor: answers rendered once, so that it costs next to nothing beside what is measured.

    python -m tests.bench.vendor PORT

All at once it is one write; with pauses each event has its own time, without drift. One HTTP chunk an event,
as vendors send.
"""

import asyncio
import sys
import time
from functools import lru_cache

import uvloop
from tests.bench.wires import DIALECTS, STAMP, Script, dialect_at, script_in

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@lru_cache(maxsize=256)
def rendered(dialect: str, script: Script, wants_usage: bool) -> tuple[bytes, list[bytes], bytes]:
    """What comes before the content, a chunk a piece, and what comes after."""
    answer = DIALECTS[dialect](script, b"include_usage" if wants_usage else b"")
    head, tail = (b"".join(map(chunk, part)) for part in (answer.head, answer.tail))
    return HEAD + head, [chunk(event) for event in answer.middle], tail + END


@lru_cache(maxsize=256)
def whole(dialect: str, script: Script, wants_usage: bool) -> bytes:
    head, middle, tail = rendered(dialect, script, wants_usage)
    return head + b"".join(middle) + tail


class Vendor(asyncio.Protocol):
    """One connection; a request at a time."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.received = b""
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport) -> None:
        self.transport = transport

    def connection_lost(self, exc) -> None:
        if self.timer:
            self.timer.cancel()

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, rest = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        low = head.lower()
        size = int(low.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in low else 0
        chunked = b"transfer-encoding: chunked" in low
        if (chunked and not rest.endswith(END)) or len(rest) < size:
            return
        self.received = b""
        self.answer(head.split(b" ", 2)[1].decode(), rest)

    def answer(self, path: str, body: bytes) -> None:
        dialect = dialect_at(path)
        if dialect is None:
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            return
        script = script_in(body)
        asked = (dialect, script, b"include_usage" in body)
        if not script.pause:
            self.transport.write(whole(*asked))
            return
        self.script, (self.head, self.middle, self.tail) = script, rendered(*asked)
        self.i, self.start = 0, self.loop.time() + script.wait / 1e3
        self.timer = self.loop.call_at(self.start, self.tick)

    def tick(self) -> None:
        if self.transport.is_closing():
            return
        event = self.middle[self.i]
        if self.script.stamp:
            event = event.replace(STAMP, b"@%019d" % time.monotonic_ns())
        out = (self.head if self.i == 0 else b"") + event
        self.i += 1
        if self.i == self.script.n:
            self.transport.write(out + self.tail)
            return
        self.transport.write(out)
        self.timer = self.loop.call_at(self.start + self.i * self.script.pause / 1e6, self.tick)


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Vendor, "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
