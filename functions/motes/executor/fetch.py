"""Short questions beside the runs: one request to a vendor's own host, its body within bounds.

What takes too long is cancelled where it stands, which closes its connection at once: the engine's waits are
made for that. (Behind a proxy of `https:` or SOCKS httpx's own transport waits, and promises no such thing.)
Must never follow a redirect, keep more of a body than was allowed, or let an exception's words out: httpx
quotes URLs and headers, and they hold keys.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import field
from datetime import UTC, datetime
from typing import Any, Final

import httpx

from motes import jsontext
from motes.dataclass import dataclass
from motes.dispatch import Errand
from motes.executor.failures import NETWORK

MAX_JSON: Final = 16 * 1024 * 1024


class FetchFailed(Exception):
    """There is no answer, or none that can be used. `status` is the vendor's, where there was one."""

    def __init__(self, reason: str, status: int | None = None, *, is_too_large: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.is_too_large = is_too_large


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole answer of status 200 to 299."""

    headers: httpx.Headers
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as JSON. Raises FetchFailed where it is none."""
        try:
            return jsontext.loads(self.body)
        except ValueError:
            raise FetchFailed("the answer is no JSON") from None


async def fetch(http: httpx.AsyncClient, errand: Errand, *, limit: int, seconds: float) -> Fetched:
    """The answer to an errand, of at most `limit` bytes. Raises FetchFailed."""
    async with opened(http, errand, seconds) as response:
        return Fetched(response.headers, await body_within(response, limit, seconds))


@asynccontextmanager
async def opened(http: httpx.AsyncClient, errand: Errand, seconds: float) -> AsyncIterator[httpx.Response]:
    """The answer, its body not yet read. Raises FetchFailed unless it began in time and is a success."""
    wire = errand.sign(errand.request, datetime.now(UTC))
    try:
        request = http.build_request(wire.method, wire.url, headers=wire.raw_headers, content=wire.body)
        async with asyncio.timeout(seconds):
            response = await http.send(request, stream=True, follow_redirects=False)
    except NETWORK as failure:
        raise FetchFailed(_words(failure)) from None
    try:
        if not response.is_success:
            raise FetchFailed(f"HTTP status {response.status_code}", response.status_code)
        yield response
    finally:
        await asyncio.shield(response.aclose())


async def body_within(response: httpx.Response, limit: int, seconds: float) -> bytes:
    """The whole body, its content-encoding undone. Raises FetchFailed: it is larger, or comes too late."""
    if (declared_length(response) or 0) > limit:
        raise _too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > limit:
                    raise _too_large(limit)
    except NETWORK as failure:
        raise FetchFailed(_words(failure)) from None
    return bytes(body)


def declared_length(response: httpx.Response) -> int | None:
    """How many bytes the body has, where that is told; nothing is known of one that is compressed."""
    length = response.headers.get("content-length", "")
    is_plain = response.headers.get("content-encoding", "identity") == "identity"
    return int(length) if is_plain and length.isascii() and length.isdigit() and len(length) < 16 else None


def _too_large(limit: int) -> FetchFailed:
    return FetchFailed(f"the answer is larger than {limit} bytes", is_too_large=True)


def _words(failure: Exception) -> str:
    return "no answer in time" if isinstance(failure, TimeoutError | httpx.TimeoutException) else "no answer"
