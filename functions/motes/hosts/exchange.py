"""HTTP/1.1 as the Lambda Runtime API needs it: every exchange over a connection of its own, on loopback.

No library does it, because none sends trailers after a request's body. Must never be used for any other peer:
it trusts what it reads.

Source: AWS Lambda developer guide, "Using the Lambda runtime API" (read 2026-11-29); RFC 9112, 7.1.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from typing import Final, TypeAlias

from motes.dataclass import dataclass

Headers: TypeAlias = Iterable[tuple[str, str]]

_LAST_CHUNK: Final = b"0\r\n"
_BROKEN: Final = (OSError, EOFError, ValueError, IndexError, asyncio.LimitOverrunError)


class RuntimeGone(Exception):
    """The Runtime API closed the connection, or does not answer in HTTP."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Exchange:
    """One request on its way and the answer to it. Every method raises RuntimeGone where the line is dead."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send at once; wait only while the other side takes nothing more."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise RuntimeGone(f"the Runtime API closed the connection: {error}") from error

    async def answer(self) -> Answer:
        """Wait for the answer, however long it takes."""
        try:
            return await _answer(self._reader)
        except _BROKEN as error:
            raise RuntimeGone(f"no answer from the Runtime API: {error}") from error

    def close(self) -> None:
        """Let go of the connection."""
        self._writer.close()


async def connect(address: str) -> Exchange:
    """A new exchange with the API at `host:port`."""
    host, _, port = address.rpartition(":")
    try:
        return Exchange(*await asyncio.open_connection(host.strip("[]"), int(port)))
    except (OSError, ValueError) as error:
        raise RuntimeGone(f"no connection to the Runtime API at {address}: {error}") from error


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Exchange]:
    """An exchange that is closed when the block is left."""
    exchange = await connect(address)
    try:
        yield exchange
    finally:
        exchange.close()


def head(method: str, path: str, headers: Headers) -> bytes:
    """A request's first line and headers."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One chunk of a body. Never an empty one, since that would end it."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def last_chunk(trailers: Headers = ()) -> bytes:
    """The end of a body in chunks."""
    lines = [f"{name}: {value}\r\n".encode("latin-1") for name, value in trailers]
    return b"".join([_LAST_CHUNK, *lines, b"\r\n"])


async def _answer(reader: asyncio.StreamReader) -> Answer:
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = text.strip().split("\r\n")
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    return Answer(int(first.split()[1]), headers, await _body(reader, headers))


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return b"".join([part async for part in _chunks(reader)])
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    return await reader.read()


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int((await reader.readline()).partition(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readline()).strip():
        pass
