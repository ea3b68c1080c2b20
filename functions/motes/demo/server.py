"""The demo vendor's socket: an HTTP/1.1 server on loopback, chunked where it streams.

h11 reads and writes the protocol, asyncio moves the bytes. Must never listen on anything but loopback, and
never outlive its context: leaving it closes every connection.
"""

import asyncio
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

import h11

from motes.demo.rows import BASES
from motes.demo.scripts import Cut, Pause
from motes.demo.vendor import Answer, DemoVendor

_HOST: Final = "127.0.0.1"
_READ_BYTES: Final = 65536
_BETWEEN_PIECES_S: Final = 0.02


class DemoServer:
    """`async with DemoServer() as vendor:` serves on `vendor.port` until the block is left.

    `port` 0 takes a free one. `pace` stretches every pause: 0 makes the scripts run at once.
    """

    def __init__(self, *, port: int = 0, pace: float = 1.0) -> None:
        self.port = port
        self._pace = pace
        self._vendor = DemoVendor()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_urls(self) -> Mapping[str, str]:
        """The base URL of every row of `motes.demo.rows`, by vendor id."""
        return {id: f"http://{_HOST}:{self.port}{path}" for id, path in BASES.items()}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, _HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._attend(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._converse(reader, writer)
        except (OSError, h11.ProtocolError):
            pass  # The client went away, or never spoke HTTP: there is nobody left to tell.
        finally:
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request after the other, until either side closes."""
        http = h11.Connection(h11.SERVER)
        while (request := await _next_event(http, reader)) is not None:
            if not isinstance(request, h11.Request):
                return
            body = await _body(http, reader)
            answer = self._answer(request, body)
            await self._send(http, writer, answer)
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                return
            http.start_next_cycle()

    def _answer(self, request: h11.Request, body: bytes) -> Answer:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
        method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
        return self._vendor.answer(method, target, headers, body, int(time.time()))

    async def _send(self, http: h11.Connection, writer: asyncio.StreamWriter, answer: Answer) -> None:
        head = h11.Response(status_code=answer.status, headers=_headers(answer))
        writer.write(http.send(head) or b"")
        for step in answer.steps:
            await writer.drain()
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds * self._pace)
            elif isinstance(step, Cut):
                await self._break(writer)
                return
            else:
                writer.write(http.send(h11.Data(data=step)) or b"")
                await asyncio.sleep(_BETWEEN_PIECES_S * self._pace)
        writer.write(http.send(h11.EndOfMessage()) or b"")
        await writer.drain()

    async def _break(self, writer: asyncio.StreamWriter) -> None:
        """Break the connection in the middle of the body, once the client has had time to read so far."""
        await writer.drain()
        await asyncio.sleep(_BETWEEN_PIECES_S)
        writer.transport.abort()


async def _next_event(http: h11.Connection, reader: asyncio.StreamReader) -> h11.Event | None:
    while (event := http.next_event()) is h11.NEED_DATA:
        http.receive_data(await reader.read(_READ_BYTES))
    return None if isinstance(event, type) else event


async def _body(http: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while isinstance(event := await _next_event(http, reader), h11.Data):
        parts.append(event.data)
    return b"".join(parts)


def _headers(answer: Answer) -> list[tuple[str, str]]:
    body = (
        ("transfer-encoding", "chunked") if answer.length is None else ("content-length", str(answer.length))
    )
    return [("content-type", answer.content_type), body, *answer.headers.items()]
