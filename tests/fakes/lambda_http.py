"""The server side of HTTP/1.1 for the fake Lambda: h11 reads and writes the protocol, asyncio moves the bytes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import h11

_READ_BYTES = 65536
_HEAD_BYTES = 65536


class Connection:
    """One request after the other. `trailers` are those of the body read last."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_BYTES)
        self._reader = reader
        self._writer = writer
        self.trailers: dict[str, str] = {}

    async def request(self) -> h11.Request | None:
        """The next request, or None where the client has gone."""
        if self._http.our_state is h11.DONE:
            try:
                self._http.start_next_cycle()
            except h11.LocalProtocolError:
                return None
        event = await self._event()
        return event if isinstance(event, h11.Request) else None

    async def body(self) -> AsyncIterator[bytes]:
        """The body, piece by piece as it comes. Raises ConnectionError where it breaks off."""
        while True:
            event = await self._event()
            if isinstance(event, h11.EndOfMessage):
                self.trailers = {name.decode(): value.decode() for name, value in event.headers}
                return
            if not isinstance(event, h11.Data):
                raise ConnectionError("the body broke off")
            yield bytes(event.data)

    async def start(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Send the head of an answer."""
        await self._send(h11.Response(status_code=status, headers=headers))

    async def data(self, data: bytes) -> None:
        """Send a piece of its body."""
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        """Send its end."""
        await self._send(h11.EndOfMessage())

    async def answer(self, status: int, body: bytes, content_type: str = "application/json") -> None:
        """Send a whole answer."""
        await self.start(status, [("content-type", content_type), ("content-length", str(len(body)))])
        await self.data(body)
        await self.end()

    def close(self) -> None:
        """Close it, in the middle of whatever it is doing."""
        self._writer.close()

    async def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()

    async def _event(self) -> Any:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise ConnectionError(str(error)) from error
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._reader.read(_READ_BYTES))


async def listen(
    attend: Callable[[Connection], Coroutine[Any, Any, None]],
) -> tuple[asyncio.Server, int]:
    """Serve every connection in a task; gives the server and its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(connection: Connection) -> None:
        try:
            await attend(connection)
        except (ConnectionError, h11.LocalProtocolError):
            pass
        finally:
            connection.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = asyncio.get_running_loop().create_task(handle(Connection(reader, writer)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=512)
    return server, server.sockets[0].getsockname()[1]
