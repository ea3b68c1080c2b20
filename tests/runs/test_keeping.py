"""Who looks after the runs of a process sees to all of them, never to many at once, and knows what is written."""

import asyncio
import time

import pytest

from fakes.memory_runs import MemoryRuns
from fakes.stored_runs import handle, run
from motes.errors import StoreError
from motes.runs.keeper import Keeper
from motes.runs.live import LiveRun
from motes.runs.record import Desk, Record, look_after


class Slow(MemoryRuns):
    """Takes its time, and knows how many wait."""

    def __init__(self, runs):
        super().__init__()
        self.left = runs
        self.bursts = []
        self.has_all = asyncio.Event()

    async def put_all(self, runs):
        self.bursts.append(len(runs))
        await asyncio.sleep(0.01)
        failures = await super().put_all(runs)
        self.left -= len(runs)
        if not self.left:
            self.has_all.set()
        return failures


class Deaf(MemoryRuns):
    """Writes a run, and then the answer is lost on its way."""

    def __init__(self):
        super().__init__()
        self.is_written = asyncio.Event()
        self.is_deaf = True

    async def put(self, run):
        kept = await super().put(run)
        if self.is_deaf:
            self.is_written.set()
            await asyncio.Event().wait()
        return kept


class Clock:
    """The time, which goes on when it is told to."""

    def __init__(self):
        self.now = time.time()

    def __call__(self):
        return self.now


def nothing(event, **fields):
    """Hears it, and is silent."""


def desk_of(store, now=time.time, trouble=nothing):
    return Desk(store=store, worker="w", now=now, told=nothing, trouble=trouble)


async def test_hundreds_of_runs_are_looked_after_a_few_at_a_time():
    store = Slow(300)
    desk = desk_of(store)
    keeper = Keeper(desk)
    runs = [LiveRun(Record(desk, run(f"r{number}"))) for number in range(300)]
    for live in runs:
        keeper.add(live)
    async with asyncio.timeout(20):
        await store.has_all.wait()
    for live in runs:
        keeper.remove(live)
    assert store.calls["put"] == len(runs)
    assert 1 < max(store.bursts) <= 32


async def test_many_runs_are_seen_by_one_question_and_each_hears_its_own():
    store, now = MemoryRuns(), Clock()
    desk = desk_of(store, now)
    records = [Record(desk, run(f"r{number}")) for number in range(5)]
    await look_after(desk, records)
    assert store.calls == {"put": 5}
    await store.cancel("r1", owner=None)
    await store.claim(run("r3"), worker="other", until=now() + 200, now=now() + 100)
    now.now += 1
    await look_after(desk, records)
    assert store.calls == {"put": 5, "cancel": 1, "claim": 1, "flags": 1}
    assert [record.is_cancelled for record in records] == [False, True, False, False, False]
    assert [record.is_lost for record in records] == [False, False, False, True, False]


async def test_who_was_seen_just_now_is_not_looked_at_and_whose_lease_goes_on_is_renewed():
    store, now = MemoryRuns(), Clock()
    desk = desk_of(store, now)
    old = Record(desk, run("r1"))
    await look_after(desk, [old])
    now.now += 30
    young = Record(desk, run("r2"))
    await look_after(desk, [old, young])
    assert store.calls == {"put": 2, "renew": 1}
    await look_after(desk, [old, young])
    assert store.calls == {"put": 2, "renew": 1}
    assert store.runs["r1"].lease_until == now() + 60


async def test_a_store_that_does_not_tell_is_told_to_the_log_and_nobody_is_lost():
    class Failing(MemoryRuns):
        async def flags(self, ids, *, worker):
            raise StoreError("the table is gone")

    heard, now = [], Clock()
    desk = desk_of(Failing(), now, lambda event, **fields: heard.append((event, fields)))
    records = [Record(desk, run("r1")), Record(desk, run("r2"))]
    await look_after(desk, records)
    now.now += 1
    await look_after(desk, records)
    assert heard == [("lease_not_kept", {"runs": ["r1", "r2"], "reason": "the table is gone"})]
    assert not any(record.is_lost or record.is_cancelled for record in records)


async def test_what_could_not_be_kept_is_kept_with_the_next_look():
    class Full(MemoryRuns):
        is_full = True

        async def put(self, run):
            if self.is_full and run.id == "r2":
                raise StoreError("full")
            return await super().put(run)

    store, heard = Full(), []
    desk = desk_of(store, trouble=lambda event, **fields: heard.append((event, fields)))
    records = [Record(desk, run("r1")), Record(desk, run("r2"))]
    await look_after(desk, records)
    assert [record.is_stored for record in records] == [True, False]
    assert heard == [("record_not_kept", {"run": "r2", "reason": "full"})]
    store.is_full = False
    await look_after(desk, records)
    assert [record.is_stored for record in records] == [True, True]
    assert set(store.runs) == {"r1", "r2"}


@pytest.mark.parametrize("is_alone", [False, True])
async def test_a_write_whose_answer_nobody_heard_is_no_reason_to_leave_the_record_as_it_was(is_alone):
    store = Deaf()
    desk = desk_of(store)
    record = Record(desk, run("r1"))
    looking = asyncio.create_task(record.keep() if is_alone else look_after(desk, [record]))
    await store.is_written.wait()
    looking.cancel()
    await asyncio.wait({looking})
    store.is_deaf = False
    assert not record.is_untouched
    assert await record.set_handle(handle(), 3)
    assert (store.runs["r1"].handle, store.runs["r1"].first_seq) == (handle(), 3)
    await record.update(state="finished", outcome="completed", worker=None, lease_until=None)
    assert (store.runs["r1"].state, store.runs["r1"].lease_until) == ("finished", None)
    assert store.runs["r1"].handle == handle()


async def test_a_run_that_is_over_while_its_first_write_is_not_heard_is_written_as_it_is():
    store = Deaf()
    desk = desk_of(store)
    record = Record(desk, run("r1"))
    looking = asyncio.create_task(look_after(desk, [record]))
    await store.is_written.wait()
    looking.cancel()
    await asyncio.wait({looking})
    store.is_deaf = False
    await record.update(state="finished", outcome="completed", worker=None, lease_until=None)
    assert (store.runs["r1"].state, store.runs["r1"].worker) == ("finished", None)
