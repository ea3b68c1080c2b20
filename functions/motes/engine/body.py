"""The body of one answer, as httpx reads it.

Must never give a byte after it was closed: the connection may serve another request by then.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import httpx

from motes.engine.connection import Connection

BODY: Final = "motes.body"
"""The extension of a response under which its body lies."""


class Body(httpx.AsyncByteStream):
    """Read it to its end and the connection serves again once it is closed; else closing breaks it off."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Connection | None = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.read(None):
            yield data

    async def read(self, until: float | None) -> bytes | None:
        """All that came since the last read, nothing at the end, or None where nothing has come at that time
        of the loop's clock. Raises httpx.TransportError.
        """
        return await _read(self._line(), until)

    def take(self) -> bytes | None:
        """See `Connection`."""
        return self._line().take()

    def waiting(self, until: float | None) -> asyncio.Future[None] | None:
        """See `Connection`."""
        return self._line().waiting(until)

    async def ended(self, until: float) -> None:
        """Throw away the rest, whose end is near; wait no longer than until that time."""
        if self._connection is not None:
            await ended(self._connection, until)

    def close(self, linger: float = 0.0) -> None:
        """Let go of the connection; see there for `linger`. May be called again, and by anyone."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.leave(linger)

    async def aclose(self) -> None:
        """See httpx."""
        self.close()

    def _line(self) -> Connection:
        if self._connection is None:
            raise httpx.StreamClosed
        return self._connection


async def ended(connection: Connection, until: float) -> None:
    """Throw away the rest of a body, and wait for its end until that time of the loop's clock."""
    connection.on_data, clock = None, asyncio.get_running_loop().time
    with suppress(httpx.TransportError):
        while clock() < until and await _read(connection, until):
            pass


async def _read(connection: Connection, until: float | None) -> bytes | None:
    clock = asyncio.get_running_loop().time
    while (data := connection.take()) is None:
        if until is not None and clock() >= until:
            return None
        if (waiting := connection.waiting(until)) is not None:
            await waiting
    return data
