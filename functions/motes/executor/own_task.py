"""A source in a task of its own, for what waits where no pulse is felt: a transform that asks a vendor.

Must never buffer more than `_AHEAD` particles, nor more than one batch beyond `_AHEAD_CHARS` of text: a slow
reader slows the upstream down.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from motes import particles as p
from motes.executor.run import Batch, Pulse

_AHEAD: Final = 256
_AHEAD_CHARS: Final = 4 * 1024 * 1024
# Where particles hold what may be long.
_LONG: Final = ("text", "base64", "data", "arguments", "code", "result", "signature", "document", "payload")


async def in_own_task(source: AsyncGenerator[Batch, None], pulse: Pulse) -> AsyncGenerator[Batch, None]:
    """The source's batches, and an empty one whenever the pulse is due."""
    line = _Line()
    task = asyncio.create_task(line.fill(source))
    try:
        while not line.is_over:
            while line.batches:
                yield line.take()
            if not await line.wait(pulse.due):
                yield []
        task.result()
    finally:
        await _end(task)


class _Line:
    """Between the source and its reader."""

    def __init__(self) -> None:
        self.batches: deque[Batch] = deque()
        self._particles = 0
        self._chars = 0
        self._has_ended = False
        self._stirred = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """The source has ended and all it gave was taken."""
        return self._has_ended and not self.batches

    async def fill(self, source: AsyncGenerator[Batch, None]) -> None:
        """Run the source to its end."""
        try:
            async with aclosing(source):
                async for batch in source:
                    if batch:
                        await self._put(batch)
        finally:
            self._has_ended = True
            self._stirred.set()

    async def _put(self, batch: Batch) -> None:
        self.batches.append(batch)
        self._particles += len(batch)
        self._chars += sum(map(_chars, batch))
        self._stirred.set()
        if self._particles >= _AHEAD or self._chars >= _AHEAD_CHARS:
            self._room.clear()
            await self._room.wait()

    def take(self) -> Batch:
        """The next batch."""
        batch = self.batches.popleft()
        if not self.batches:
            self._particles = self._chars = 0
            self._room.set()
        return batch

    async def wait(self, until: float) -> bool:
        """Whether the source stirred before that time of the loop's clock."""
        if self.batches or self._has_ended:
            return True
        self._stirred.clear()
        timer = asyncio.get_running_loop().call_at(until, self._stirred.set)
        try:
            await self._stirred.wait()
        finally:
            timer.cancel()
        return bool(self.batches) or self._has_ended


async def _end(task: asyncio.Task[None]) -> None:
    """Stop the source and wait until it has closed what it held open."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


def _chars(particle: p.Particle) -> int:
    """About how much it holds."""
    values = (getattr(particle, name, None) for name in _LONG)
    return sum(len(value) for value in values if isinstance(value, str))
