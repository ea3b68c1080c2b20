"""Who looks after the runs of a process sees to all of them, and never to many at once."""

import asyncio
import time

from fakes.memory_runs import MemoryRuns
from fakes.stored_runs import run
from motes.runs.keeper import Keeper
from motes.runs.live import LiveRun
from motes.runs.record import Desk, Record


class Slow(MemoryRuns):
    """Takes its time, and knows how many wait."""

    def __init__(self, runs):
        super().__init__()
        self.left = runs
        self.waiting = self.most = 0
        self.has_all = asyncio.Event()

    async def put(self, run):
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0.01)
        self.waiting -= 1
        self.left -= 1
        if not self.left:
            self.has_all.set()
        return await super().put(run)


def nothing(event, **fields):
    """Hears it, and is silent."""


async def test_hundreds_of_runs_are_looked_after_a_few_at_a_time():
    store, keeper = Slow(300), Keeper()
    desk = Desk(store=store, worker="w", now=time.time, told=nothing, trouble=nothing)
    runs = [LiveRun(Record(desk, run(f"r{number}"))) for number in range(300)]
    for live in runs:
        keeper.add(live)
    async with asyncio.timeout(20):
        await store.has_all.wait()
    for live in runs:
        keeper.remove(live)
    assert store.calls["put"] == len(runs)
    assert 1 < store.most <= 32
