"""Particles out of the executor, bytes into the socket: the one loop that writes a stream.

Must never write but from here, so that a keepalive can only stand between two events; never leave an upstream
open once the reader has gone; and never break a stream off without an error and its end.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final, Protocol, cast

from starlette.types import Receive, Scope, Send

from motes import particles as p
from motes.api.envelope import BODY_PIECES, BODY_SEND
from motes.api.logline import logline
from motes.errors import VendorError
from motes.executor.run import Batch, Lane

_log = logging.getLogger("motes.api")

# So many particles are not worth to be sorted.
_FEW: Final = 3
_STREAM_HEADERS: Final = (
    # No proxy may hold a stream back to compress or cache it; the last one is nginx's own word.
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class Encoder(Protocol):
    """Particles to the bytes of one response."""

    def open(self) -> bytes:
        """What comes first."""
        ...

    def encode(self, particle: p.Particle) -> bytes:
        """What one particle adds."""
        ...

    def words(self, text: str) -> bytes:
        """What one piece of text adds that is not empty."""
        ...

    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]:
        """What each of some pieces of text adds, one at least."""
        ...

    def keepalive(self) -> bytes:
        """A sign of life."""
        ...


class Pieces(Protocol):
    """A server's own way for pieces of a body, which waits for nothing; until the body's end is sent."""

    def can_begin(self) -> bool:
        """Whether the head is sent, and lets pieces follow."""
        ...

    def is_open(self) -> bool:
        """Whether a piece can be written now; otherwise it must be sent, and waited for."""
        ...

    def write(self, data: bytes) -> None:
        """One piece, not an empty one."""
        ...


class StreamWriter:
    """One response. `silence` is the longest time, in seconds, without a byte after which one is sent; the
    scope knows shorter ways for what follows the head.
    """

    def __init__(self, send: Send, encoder: Encoder, silence: float, scope: Scope) -> None:
        self._send = send
        self._send_body: Send = scope.get(BODY_SEND, send)
        self._pieces: Pieces | None = scope.get(BODY_PIECES)
        self._clock = asyncio.get_running_loop().time
        self._wrote_at = 0.0
        self._encoder = encoder
        self._silence = silence
        self._has_failed = False

    async def start(self, media_type: str, held: Sequence[p.Particle]) -> None:
        """Commit: the status, the headers, and what was held back until now."""
        headers = [(b"content-type", media_type.encode()), *_STREAM_HEADERS]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        first = self._encoder.open() + self._written(held)
        # An empty chunk still makes the server send the head.
        if not self._is_out(first):
            await self._send_body({"type": "http.response.body", "body": first, "more_body": True})

    async def pour(self, source: AsyncGenerator[Batch, None], lane: Lane | None = None) -> None:
        """Everything that is still to come, a chunk a batch, and the end of the response. Call it as soon as
        it has started. `lane` is the source's.
        """
        send, clock, is_whole = self._send_body, self._clock, False
        self._wrote_at = clock()
        if lane is not None and self._pieces is not None and self._pieces.can_begin():
            lane.lead(self._takes, self._says)
        try:
            async for batch in source:
                if self._has_failed:
                    break
                if is_whole:
                    continue
                data = self._written(batch)
                if batch and type(batch[-1]) is p.End:
                    # Nothing is told after it: what it adds and the end of the response are one write.
                    is_whole = True
                    await send({"type": "http.response.body", "body": data, "more_body": False})
                    continue
                if data := data or self._sign_of_life(clock(), lane):
                    if not self._is_out(data):
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                    self._wrote_at = clock()
        finally:
            if lane is not None:
                lane.close()
        if not is_whole:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _says(self, text: str) -> bool:
        """Write a piece of text that comes its short way; see `Lane`."""
        pieces = self._pieces
        if pieces is None or not pieces.is_open():
            return False
        try:
            data = self._encoder.words(text)
        except Exception as bug:
            pieces.write(self._failed(p.Text(text), bug))
            return False
        if data:
            pieces.write(data)
        return True

    def _takes(self, words: Batch) -> bool:
        """`_says` for several pieces at once."""
        pieces = self._pieces
        if pieces is None or not pieces.is_open():
            return False
        if data := self._written(words):
            pieces.write(data)
        # Otherwise the stream is to be ended.
        return not self._has_failed

    def _sign_of_life(self, now: float, lane: Lane | None) -> bytes:
        """What is written where a batch adds nothing: mostly nothing."""
        at = self._wrote_at if lane is None else max(self._wrote_at, lane.at)
        return self._encoder.keepalive() if now - at >= self._silence else b""

    def _is_out(self, data: bytes) -> bool:
        """Whether that could be written at once, behind a head that is sent."""
        pieces = self._pieces
        if not data or pieces is None or not pieces.can_begin() or not pieces.is_open():
            return False
        pieces.write(data)
        return True

    def _written(self, batch: Sequence[p.Particle]) -> bytes:
        """What particles add; where one cannot be written, the last words of the stream."""
        out: list[bytes] = []
        try:
            if len(batch) <= _FEW:
                # As mostly, of a vendor that takes its time.
                for particle in batch:
                    out.append(self._encoder.encode(particle))
                return b"".join(out)
            for kind, some in groupby(batch, type):
                if kind is p.Text:
                    out.extend(self._encoder.texts(cast("list[p.Text]", [*some])))
                else:
                    out.extend(map(self._encoder.encode, some))
        except Exception as bug:
            # What was written before it stays in `out`.
            out.append(self._failed(batch[len(out)], bug))
        return b"".join(out)

    def _failed(self, particle: p.Particle, bug: Exception) -> bytes:
        """The boundary: what cannot be written ends one stream with an issue."""
        self._has_failed, self._pieces = True, None
        _log.error(logline("encoder_failed", particle=type(particle).__name__, error=type(bug).__name__))
        return b"".join(map(self._encoder.encode, _last_words(bug)))


def _last_words(bug: Exception) -> tuple[p.Particle, ...]:
    error = VendorError(
        message=f"the gateway failed to write the answer ({type(bug).__name__})",
        kind="server_error",
        code="internal_error",
    )
    return p.Issue("dispatch-read", error.message, error), p.End("issue-dispatch-rpc")


async def while_present(
    receive: Receive,
    work: Coroutine[Any, Any, None],
    request_id: str,
    departure: "asyncio.Future[None] | None" = None,
) -> None:
    """Do the work as long as the client is there; when it goes, the work is cancelled and cleaned up.

    Call it once the request's body has been read: from then on the client has nothing to say but that it
    left. A server that says so by a future need not be asked: see `DEPARTURE`. The work has a task of its
    own: each piece of a stream wakes it, and not all that stands around it.
    """
    # A future knows its loop; to ask for the one that runs is a call of the kernel in Python 3.11.
    loop = asyncio.get_running_loop() if departure is None else departure.get_loop()
    doing = loop.create_task(work)
    try:
        if departure is None:
            await _left_or_done(receive, doing)
        else:
            doing.add_done_callback(partial(_wake, departure))
            await departure
        if not doing.done():
            # Who left at once has asked all the same, and what he asked for may go on without him.
            await asyncio.sleep(0)
    finally:
        if not doing.done():
            doing.cancel()
            await asyncio.wait({doing})
    if doing.cancelled():
        _log.info(logline("client_gone", request_id=request_id))
    else:
        doing.result()


def _wake(waiter: "asyncio.Future[None]", _: "asyncio.Task[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


async def _left_or_done(receive: Receive, doing: "asyncio.Task[None]") -> None:
    """Wait until the client has left or it is done."""
    task, is_waiting, was_woken = asyncio.current_task(), True, False
    assert task is not None  # noqa: S101 (a coroutine that runs is in a task here)

    def wake(_: "asyncio.Task[None]") -> None:
        nonlocal was_woken
        was_woken = is_waiting and task.cancel()

    doing.add_done_callback(wake)
    try:
        while (await receive())["type"] != "http.disconnect":
            pass
    except asyncio.CancelledError:
        # Who else cancels, means the whole request.
        if not was_woken or task.uncancel():
            raise
    finally:
        is_waiting = False
