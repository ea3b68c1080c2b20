"""The body of an answer from a transport that is not the engine's: a test's, or httpx's own behind a proxy.

Such a body can only be pulled at, so a task does that and keeps what came. Must never hold more than `_AHEAD`
bytes that nobody has taken, and one read.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Final

import httpx

_AHEAD: Final = 64 * 1024


class Pulled:
    """Reads as `motes.engine.body.Body` does."""

    def __init__(self, response: httpx.Response) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._is_draining = False
        self._stirred = asyncio.Event()
        self._room = asyncio.Event()
        self._task = asyncio.create_task(self._pull(response))
        self._task.add_done_callback(self._on_done)

    def take(self) -> bytes | None:
        """See `Body`."""
        if not self._chunks:
            if not self._task.done():
                return None
            self._task.result()
            return b""
        chunk = self._chunks.popleft()
        self._size -= len(chunk)
        if self._size < _AHEAD:
            self._room.set()
        return chunk

    def waiting(self, until: float) -> Awaitable[object] | None:
        """See `Body`."""
        if self._chunks or self._task.done():
            return None
        self._stirred.clear()
        return self._stir(until)

    async def ended(self, until: float) -> None:
        """See `Body`."""
        self._is_draining = True
        self._room.set()
        await asyncio.wait({self._task}, timeout=max(0.0, until - asyncio.get_running_loop().time()))

    async def aclose(self) -> None:
        """Stop, and wait until the response is closed."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _pull(self, response: httpx.Response) -> None:
        async with aclosing(response), aclosing(_bytes_of(response)) as chunks:
            async for chunk in chunks:
                if not chunk or self._is_draining:
                    continue
                self._chunks.append(chunk)
                self._size += len(chunk)
                self._stirred.set()
                if self._size >= _AHEAD:
                    self._room.clear()
                    await self._room.wait()

    async def _stir(self, until: float) -> None:
        timer = asyncio.get_running_loop().call_at(until, self._stirred.set)
        try:
            await self._stirred.wait()
        finally:
            timer.cancel()

    def _on_done(self, task: asyncio.Task[None]) -> None:
        # asyncio would report an exception that nobody looked at.
        if not task.cancelled():
            task.exception()
        self._stirred.set()


async def _bytes_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it comes over the line."""
    if response.is_stream_consumed:
        # A transport that is not a network may give the whole body at once.
        yield response.content
        return
    async for chunk in response.aiter_raw():
        yield chunk
