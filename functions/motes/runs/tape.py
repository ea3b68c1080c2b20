"""What a run that goes on in this process has said, for all who follow it here.

Must never wait for a reader: a run goes on whoever reads it. It holds the answer until the run is over here.
"""

import asyncio
from math import inf
from typing import Final

from motes import particles as p
from motes.executor.run import Batch
from motes.runs.sizes import TEXT_EXTRA, sizes_of

_Waiters = set["asyncio.Future[bool]"]
# Rounding: a clock may call a little before the time it was asked for.
_EARLY: Final = 0.001


class Tape:
    """The particles from number `first` on. `parting` is told to who is here, and is no part of the run."""

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self.particles: list[p.Particle] = []
        self.parting: list[p.Particle] = []
        self.is_over = False
        self.size = 0
        """About how many bytes all of it has in a journal."""
        self._waiting: _Waiters = set()
        self._full_at = inf
        self._full: asyncio.Future[bool] | None = None

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
        if len(batch) == 1 and type(particle := batch[0]) is p.Text:
            # Mostly, of a vendor that takes its time.
            self.particles.append(particle)
            self.size += TEXT_EXTRA + len(particle.text)
        else:
            if p.Heartbeat in map(type, batch):
                batch = [one for one in batch if type(one) is not p.Heartbeat]
            self.particles += batch
            self.size += sum(sizes_of(batch))
        if self.size >= self._full_at:
            self._tell_full()
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(True)
        self._waiting.clear()

    def takes(self, words: Batch) -> bool:
        """`add`, on the short way of words; see `Lane`."""
        self.add(words)
        return True

    def says(self, text: str) -> bool:
        """`takes`, of one piece."""
        self.add([p.Text(text)])
        return True

    def close(self, parting: Batch | None = None) -> None:
        """Nothing more will come here."""
        self.parting += parting or []
        self.is_over = True
        self._tell_full()
        self.add([])

    def since(self, number: int) -> list[p.Particle]:
        """What comes after that number."""
        return self.particles[max(0, number + 1 - self.first) :]

    def watch(self, tick: float) -> "Watch":
        """For who reads along. Close it."""
        return Watch(self._waiting, tick)

    async def has_more(self, number: int) -> bool:
        """Wait until there is something beyond that number, or nothing more to come; whether there is."""
        loop = asyncio.get_running_loop()
        while self.last <= number and not self.is_over:
            waiter = loop.create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)
        return self.last > number

    async def filled(self, size: int, seconds: float) -> None:
        """Wait until it has about that size, nothing more comes, or that time is over. For one only."""
        if self.size >= size or self.is_over:
            return
        loop = asyncio.get_running_loop()
        self._full, self._full_at = loop.create_future(), size
        timer = loop.call_later(seconds, self._tell_full)
        try:
            await self._full
        finally:
            timer.cancel()
            self._full, self._full_at = None, inf

    def _tell_full(self) -> None:
        if self._full is not None and not self._full.done():
            self._full.set_result(True)


class Watch:
    """One who reads along, and hears after every `tick` seconds of silence that there is nothing.

    A clock that was set for every piece would cost more than the piece: there is one, and when it calls it is
    set anew to where the silence began.
    """

    def __init__(self, waiting: _Waiters, tick: float) -> None:
        self._waiting = waiting
        self._tick = tick
        loop = self._loop = asyncio.get_running_loop()
        self._now, self._new_waiter = loop.time, loop.create_future
        self._since = loop.time()
        self._waiter = loop.create_future()
        self._timer = loop.call_later(tick, self._on_tick)

    def stirred(self) -> "asyncio.Future[bool]":
        """Something new, or the end: True. A silence: False."""
        self._since = self._now()
        waiter = self._waiter = self._new_waiter()
        self._waiting.add(waiter)
        return waiter

    def close(self) -> None:
        """Nobody reads any more."""
        self._timer.cancel()
        self._waiting.discard(self._waiter)

    def _on_tick(self) -> None:
        waiter, left = self._waiter, self._since + self._tick - self._now()
        if left <= _EARLY:
            left = self._tick
            if waiter in self._waiting and not waiter.done():
                self._waiting.discard(waiter)
                waiter.set_result(False)
        self._timer = self._loop.call_later(left, self._on_tick)
