"""Particles out of the executor, bytes into the socket: the one loop that writes a stream.

Must never write but from here, so that a keepalive can only stand between two events; never leave an upstream
open once the reader has gone; and never break a stream off without an error and its end.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable
from typing import Any, Final, Protocol

from starlette.types import Receive, Send

from motes import particles as p
from motes.api.logline import logline
from motes.errors import VendorError
from motes.executor.run import Batch

_log = logging.getLogger("motes.api")

_STREAM_HEADERS: Final = {
    # No proxy may hold a stream back to compress or cache it; the last one is nginx's own word.
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}


class Encoder(Protocol):
    """Particles to the bytes of one response."""

    def open(self) -> bytes:
        """What comes first."""
        ...

    def encode(self, particle: p.Particle) -> bytes:
        """What one particle adds."""
        ...

    def keepalive(self) -> bytes:
        """A sign of life."""
        ...


class StreamWriter:
    """One response. `silence` is the longest time, in seconds, without a byte after which one is sent."""

    def __init__(self, send: Send, encoder: Encoder, silence: float) -> None:
        self._send = send
        self._encoder = encoder
        self._silence = silence
        self._clock = asyncio.get_running_loop().time
        self._wrote_at = self._clock()
        self._has_failed = False

    async def start(self, media_type: str, held: Iterable[p.Particle]) -> None:
        """Commit: the status, the headers, and what was held back until now."""
        headers = {"content-type": media_type, **_STREAM_HEADERS}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": raw})
        first = self._encoder.open() + self._written(held)
        # An empty chunk still makes the server send the head.
        await self._write(first)

    async def pour(self, source: AsyncGenerator[Batch, None]) -> None:
        """Everything that is still to come, a chunk a batch, and the end of the response."""
        async for batch in source:
            if self._has_failed:
                break
            data = self._written(batch)
            if not data and self._clock() - self._wrote_at >= self._silence:
                data = self._encoder.keepalive()
            if data:
                await self._write(data)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _written(self, batch: Iterable[p.Particle]) -> bytes:
        """What particles add; where one cannot be written, the last words of the stream."""
        out, encode = list[bytes](), self._encoder.encode
        for particle in batch:
            try:
                out.append(encode(particle))
            except Exception as bug:
                # The boundary: what cannot be written ends one stream with an issue.
                self._has_failed = True
                name = type(particle).__name__
                _log.error(logline("encoder_failed", particle=name, error=type(bug).__name__))
                out += map(encode, _last_words(bug))
                break
        return b"".join(out)

    async def _write(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self._wrote_at = self._clock()


def _last_words(bug: Exception) -> tuple[p.Particle, ...]:
    error = VendorError(
        message=f"the gateway failed to write the answer ({type(bug).__name__})",
        kind="server_error",
        code="internal_error",
    )
    return p.Issue("dispatch-read", error.message, error), p.End("issue-dispatch-rpc")


async def while_present(receive: Receive, work: Coroutine[Any, Any, None], request_id: str) -> None:
    """Do the work as long as the client is there; when it goes, the work is cancelled and cleaned up.

    Call it once the request's body has been read: from then on the client has nothing to say but that it
    left.
    """
    task, has_left = asyncio.current_task(), False
    assert task is not None  # noqa: S101 (a coroutine that runs is in a task here)

    def on_departure(_: "asyncio.Task[None]") -> None:
        nonlocal has_left
        has_left = True
        task.cancel()

    watch = asyncio.create_task(_departure(receive))
    watch.add_done_callback(on_departure)
    try:
        await work
    except asyncio.CancelledError:
        # Who else cancels, means the whole request.
        if not has_left or task.cancelling() > 1:
            raise
        _log.info(logline("client_gone", request_id=request_id))
    finally:
        watch.remove_done_callback(on_departure)
        watch.cancel()
        if has_left:
            task.uncancel()


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
