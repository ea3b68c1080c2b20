"""What is said on a connection to the demo vendor: HTTP/1.1, chunked where it streams.

h11 reads and writes the protocol. Loaded with the first connection, which most starts of a gateway never see.
Must never raise for a client that went away.
"""

import asyncio
import time
from contextlib import suppress
from typing import Final

import h11

from motes.demo.scripts import Cut, Pause
from motes.demo.vendor import Answer, DemoVendor

_READ_BYTES: Final = 65536
_BETWEEN_PIECES_S: Final = 0.02


class Speaker:
    """Answers on every connection with one vendor's mind. `pace` stretches every pause."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._vendor = DemoVendor()

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        # The client went away, or never spoke HTTP: there is nobody left to tell.
        with suppress(OSError, h11.ProtocolError):
            await self._converse(reader, writer)

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
