"""A sign of life whenever a reader would otherwise see nothing for a while.

The one place for it. It stands around particles and not around reads, so that it covers connecting,
backing off, and a vendor whose own pings mean nothing to us. Must never buffer more than `_AHEAD`
particles, nor more than one beyond `_AHEAD_CHARS` of text: a slow reader slows the upstream down.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from motes import particles as p

_AHEAD: Final = 256
_AHEAD_CHARS: Final = 4 * 1024 * 1024
# Where particles hold what may be long.
_LONG: Final = ("text", "base64", "data", "arguments", "code", "result", "signature", "document", "payload")


async def with_heartbeats(
    source: AsyncGenerator[p.Particle, None], every: float
) -> AsyncGenerator[p.Particle, None]:
    """The source's particles, and a `Heartbeat` after each `every` seconds in which nothing was shown.

    Control particles do not count as shown: some egresses write nothing for them.
    """
    line = _Line()
    task = asyncio.create_task(line.fill(source))
    try:
        shown_at = _now()
        while not line.is_over:
            while line.items:
                particle = line.take()
                yield particle
                if _shows(particle):
                    shown_at = _now()
            if not await line.wait(shown_at + every):
                yield p.Heartbeat()
                shown_at = _now()
        task.result()
    finally:
        await _end(task)


class _Line:
    """Between the source, which runs in a task of its own, and the reader: one switch a read, not one a
    particle.
    """

    def __init__(self) -> None:
        self.items: deque[p.Particle] = deque()
        self._chars = 0
        self._has_ended = False
        self._stirred = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """The source has ended and all it gave was taken."""
        return self._has_ended and not self.items

    async def fill(self, source: AsyncGenerator[p.Particle, None]) -> None:
        """Run the source to its end."""
        try:
            async with aclosing(source) as particles:
                async for particle in particles:
                    self.items.append(particle)
                    self._chars += _chars(particle)
                    self._stirred.set()
                    if len(self.items) >= _AHEAD or self._chars >= _AHEAD_CHARS:
                        self._room.clear()
                        await self._room.wait()
        finally:
            self._has_ended = True
            self._stirred.set()

    def take(self) -> p.Particle:
        """The next particle."""
        particle = self.items.popleft()
        self._chars -= _chars(particle)
        if not self.items:
            self._room.set()
        return particle

    async def wait(self, until: float) -> bool:
        """Whether the source stirred before that time of the loop's clock."""
        if self.items or self._has_ended:
            return True
        self._stirred.clear()
        timer = asyncio.get_running_loop().call_at(until, self._stirred.set)
        try:
            await self._stirred.wait()
        finally:
            timer.cancel()
        return bool(self.items) or self._has_ended


async def _end(task: asyncio.Task[None]) -> None:
    """Stop the source and wait until it has closed what it held open."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


def _chars(particle: p.Particle) -> int:
    """About how much it holds."""
    values = (getattr(particle, name, None) for name in _LONG)
    return sum(len(value) for value in values if isinstance(value, str))


def _shows(particle: p.Particle) -> bool:
    return p.is_visible(particle) or isinstance(particle, p.ToolCallArguments)


def _now() -> float:
    return asyncio.get_running_loop().time()
