"""When the runs that are over here are settled: most of them together, the others each by itself.

A run that left nothing anywhere but its record waits a moment for others that end meanwhile: all of them cost
one task, and a transaction of each store. Must never forget a run, nor
have anybody look for one in the store that still waits here.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

import httpx

from motes.runs.books import Books
from motes.runs.live import LiveRun
from motes.runs.record import Desk, keep_all
from motes.store.runs import StoredRun

if TYPE_CHECKING:
    from motes.runs.ending import Ending
    from motes.runs.vendors_copy import Finder

# Shorter than anybody takes to look at the books, and long enough for the runs of a busy gateway to share a
# transaction: each costs more than the rows in it. Who asks here for a run that waits has it written at once.
_PATIENCE_SECONDS: Final = 0.1


class Settling:
    """The runs of a process that are over and not settled yet."""

    def __init__(self, desk: Desk, find: "Finder", http: httpx.AsyncClient, books: Books) -> None:
        self._desk = desk
        self._find = find
        self._http = http
        self._books = books
        self._ending: Ending | None = None
        self._waiting: dict[str, tuple[LiveRun, float]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._going_on: dict[asyncio.Task[None], Mapping[str, object]] = {}

    def ending(self) -> "Ending":
        """What settles a run by itself; loaded when the first one is over."""
        if self._ending is None:
            from motes.runs.ending import Ending

            self._ending = Ending(self._desk, self._find, self._http, self._books)
        return self._ending

    def add(self, live: LiveRun, writer: "asyncio.Task[bool] | None" = None) -> None:
        """The run is over here; `writer` still writes its journal."""
        if writer is not None or not _can_wait(live):
            self._begin(self._settle(live, writer), {live.id: live})
            return
        self._waiting[live.id] = live, self._desk.now()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, self._settle_waiting)

    def is_empty(self) -> bool:
        """Whether every run that is over is settled."""
        return not self._waiting and not self._going_on

    def has(self, id: str) -> bool:
        """Whether that run is not settled yet."""
        return id in self._waiting or any(id in runs for runs in self._going_on.values())

    async def done(self, within: float) -> None:
        """Have all be settled that are over now, without waiting for others; but not for long."""
        self._settle_waiting()
        clock = asyncio.get_running_loop().time
        until = clock() + within
        # The latest first: when it is settled the others mostly are, and need not be listened to.
        for task in reversed(tuple(self._going_on)):
            if not task.done():
                await asyncio.wait({task}, timeout=max(0.0, until - clock()))

    def _settle_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            self._begin(self._settle_all(waiting), waiting)

    def _begin(self, work: Coroutine[Any, Any, None], runs: Mapping[str, object]) -> None:
        task = asyncio.create_task(work)
        self._going_on[task] = runs
        task.add_done_callback(self._going_on.pop)

    async def _settle(self, live: LiveRun, writer: "asyncio.Task[bool] | None") -> None:
        if writer is not None:
            await writer
        await self.ending().settle(live)
        await self._books.write()

    async def _settle_all(self, waiting: Mapping[str, tuple[LiveRun, float]]) -> None:
        ending, unknown, work = self.ending(), list[StoredRun](), list[Coroutine[Any, Any, object]]()
        for live, at in waiting.values():
            if live.record.is_untouched:
                unknown.append(ending.ended(live, at))
            else:
                work.append(ending.settle(live, at))
        if unknown:
            work.append(keep_all(self._desk, unknown))
        try:
            await asyncio.gather(*work)
        finally:
            await self._books.write()


def _can_wait(live: LiveRun) -> bool:
    """Whether no vendor is asked for it, whom others would wait for."""
    run = live.record.run
    return run.handle is None and not run.is_resumable and not live.record.orphans
