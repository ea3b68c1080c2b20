"""One request sent to one vendor, and its answer read to the end as it comes: bytes and their times.

Beside the executor and not in it: it reads on where the executor would have stopped. Must never retry (the
first answer is the one), and hold no more than `MAX_BYTES` of it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import field
from datetime import UTC, datetime
from typing import Final

import httpx

from motes.dataclass import dataclass
from motes.demux.base import MAX_EVENT_BYTES
from motes.dispatch import Dispatch
from motes.executor import failures
from motes.executor.decoding import Decoder, unread
from motes.executor.run import new_call_id
from motes.pump import Pump
from motes.quirks import Quirks
from motes.transmitter import Transmitter

MAX_BYTES: Final = 2 * MAX_EVENT_BYTES
# Once the answer says that it is over, only what comes at once belongs to it.
_AFTERWARDS_SECONDS: Final = 2.0


class CaptureFailed(Exception):
    """There is no answer to keep. The message tells no key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What was sent and what came. `reads` are (milliseconds since the request was sent, bytes) of the body,
    its content-encoding undone; `broke` is how it came to no good end, `quirks` what its vendor differs in.
    """

    plan: Dispatch = field(repr=False)
    quirks: Quirks = field(repr=False)
    sent: httpx.Request = field(repr=False)
    began: datetime
    status: int
    headers: httpx.Headers = field(repr=False)
    head_ms: float
    reads: tuple[tuple[float, bytes], ...] = field(repr=False)
    broke: str | None = None

    @property
    def body(self) -> bytes:
        """All that came."""
        return b"".join(data for _, data in self.reads)


async def capture(plan: Dispatch, quirks: Quirks, http: httpx.AsyncClient) -> Captured:
    """Ask once, and keep everything. Raises CaptureFailed where no answer came."""
    began = datetime.now(UTC)
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        response = await http.send(_request(plan, http, began), stream=True, follow_redirects=False)
    except failures.NETWORK as failure:
        raise CaptureFailed(failures.before_the_answer(failure, plan.timeouts).message) from None
    head_ms = _ms(clock() - started)
    reads: list[tuple[float, bytes]] = []
    broke = None
    try:
        async with aclosing(_pieces(response, plan)) as pieces:
            async for data in pieces:
                reads.append((_ms(clock() - started), data))
    except failures.NETWORK as failure:
        error = failures.while_reading(failure, sum(len(data) for _, data in reads), plan.timeouts)
        broke = error.message
    finally:
        await asyncio.shield(response.aclose())
    return Captured(
        plan=plan,
        quirks=quirks,
        sent=response.request,
        began=began,
        status=response.status_code,
        headers=response.headers,
        head_ms=head_ms,
        reads=tuple(reads),
        broke=broke,
    )


def _request(plan: Dispatch, http: httpx.AsyncClient, now: datetime) -> httpx.Request:
    wire = plan.sign(plan.request, now)
    timeouts = plan.timeouts
    longest = max(timeouts.first_byte, timeouts.idle)
    limits = httpx.Timeout(longest, connect=timeouts.connect)
    return http.build_request(
        wire.method, wire.url, headers=wire.raw_headers, content=wire.body, timeout=limits
    )


async def _pieces(response: httpx.Response, plan: Dispatch) -> AsyncGenerator[bytes, None]:
    """The body as it comes, to its end, or to where it says that it is over and then is silent."""
    decoder, watch, size = _decoder(response), _Watch(plan), 0
    chunks = response.aiter_raw()
    while chunk := await _next(chunks, watch.patience):
        for piece in decoder.pieces(chunk):
            size += len(piece)
            if size > MAX_BYTES:
                raise CaptureFailed(f"the answer is larger than {MAX_BYTES} bytes")
            watch.look(piece)
            yield piece


async def _next(chunks: AsyncIterator[bytes], patience: float | None) -> bytes:
    """The next bytes, or none at the end."""
    try:
        async with asyncio.timeout(patience):
            return await anext(chunks, b"")
    except TimeoutError:
        if patience is None:
            raise
        return b""


def _decoder(response: httpx.Response) -> Decoder:
    encoding = response.headers.get("content-encoding", "")
    try:
        return Decoder(encoding)
    except ValueError:
        raise CaptureFailed(unread(encoding).message) from None


class _Watch:
    """Knows when the answer has said that it is over."""

    def __init__(self, plan: Dispatch) -> None:
        self._pump = Pump(plan.demuxer(), plan.parser(), Transmitter(new_call_id))

    @property
    def patience(self) -> float | None:
        """For how many seconds more is waited for, where it is over."""
        return None if self._pump.verdict is None else _AFTERWARDS_SECONDS

    def look(self, data: bytes) -> None:
        """The next bytes."""
        if self._pump.verdict is None:
            self._pump.feed(data)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
