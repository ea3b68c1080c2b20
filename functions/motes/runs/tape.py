"""What a run that goes on in this process has said, for all who follow it here.

Must never wait for a reader: a run goes on whoever reads it. It holds the answer until the run is over here.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from motes import particles as p
from motes.executor.run import Batch

# How much is handed over at once to who reads from far behind.
_MOST: Final = 512


class Tape:
    """The particles from number `first` on. `parting` is told to who is here, and is no part of the run."""

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self.particles: list[p.Particle] = []
        self.parting: list[p.Particle] = []
        self.is_over = False
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def last(self) -> int:
        """The number of the last particle."""
        return self.first + len(self.particles) - 1

    @property
    def end(self) -> p.End | None:
        """The run's end, where it has come to one."""
        last = self.particles[-1] if self.particles else None
        return last if isinstance(last, p.End) else None

    def add(self, batch: Batch) -> None:
        """What comes next; heartbeats have no number and are left out."""
        has_beat = p.Heartbeat in map(type, batch)
        self.particles += [one for one in batch if type(one) is not p.Heartbeat] if has_beat else batch
        self._stir()

    def close(self, parting: Batch | None = None) -> None:
        """Nothing more will come here."""
        self.parting += parting or []
        self.is_over = True
        self._stir()

    def since(self, number: int) -> list[p.Particle]:
        """What comes after that number."""
        return self.particles[max(0, number + 1 - self.first) :]

    async def stirred(self, number: int, seconds: float) -> bool:
        """Wait until there is something beyond that number or nothing more to come; False where there was
        none in that time.
        """
        known = number + 1 - self.first
        if len(self.particles) > known or self.is_over:
            return True
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        timer = loop.call_later(seconds, _wake, waiter)
        self._waiting.add(waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiting.discard(waiter)
        return len(self.particles) > known or self.is_over

    async def followed(self, after: int, tick: float) -> AsyncGenerator[Batch, None]:
        """Everything after that number, and a heartbeat after every `tick` seconds of silence."""
        at = after
        while True:
            if not await self.stirred(at, tick):
                yield [p.Heartbeat()]
                continue
            if news := self.since(at)[:_MOST]:
                at = max(at + 1, self.first) + len(news) - 1
                yield news
            elif self.is_over:
                if self.parting:
                    yield list(self.parting)
                return

    def _stir(self) -> None:
        for waiter in self._waiting:
            _wake(waiter)


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
