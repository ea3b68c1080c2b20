"""A small HTTP/1.1 server in a thread: whole requests in, whole answers out, connections kept open."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

_PATIENCE = 10.0


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = field(repr=False)


Answer = tuple[int, bytes]
"""Status and JSON body. Status 0 breaks the connection."""


@contextmanager
def answering(
    answer: Callable[[Asked], Awaitable[Answer]], afterwards: Callable[[], Awaitable[None]] | None = None
) -> Iterator[int]:
    """The server for as long as the block lasts; gives its port."""
    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), []
    stop = asyncio.Event()

    async def serve() -> None:
        async with await asyncio.start_server(lambda r, w: _talk(answer, r, w), "127.0.0.1", 0) as server:
            ports.append(server.sockets[0].getsockname()[1])
            ready.set()
            await stop.wait()
        talks = asyncio.all_tasks() - {asyncio.current_task()}
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        if afterwards is not None:
            await afterwards()
        # A transport that was closed is gone a turn later.
        await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(_PATIENCE)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(_PATIENCE)
        loop.close()


async def _talk(
    answer: Callable[[Asked], Awaitable[Answer]], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    with closing(writer), suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            status, body = await answer(await _read(reader))
            if status == 0:
                break
            head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))
