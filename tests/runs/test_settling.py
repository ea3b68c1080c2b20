"""Runs that are over: many of them are one write, nobody looks in vain for one that waits, and none is lost."""

import asyncio
import json
import time

from fakes.memory_runs import MemoryRuns
from fakes.run_stand import USER, Stand
from fakes.stored_runs import run as stored
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.api.app import create_app
from motes.errors import StoreError
from motes.runs.books import NoBooks
from motes.runs.live import LiveRun
from motes.runs.record import Desk, Record
from motes.runs.settling import Settling

PLAIN = {"model": "openai/m", "messages": USER, "motes": {"dialect": "openai-responses"}}


class Bursts(MemoryRuns):
    """Counts how often it is written to; `fails` says why it cannot be, and a write waits for `gate`."""

    def __init__(self):
        super().__init__()
        self.bursts = []
        self.fails = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_asked, self.is_written = asyncio.Event(), asyncio.Event()

    async def put_all(self, runs):
        self.bursts.append([run.id for run in runs])
        self.is_asked.set()
        await self.gate.wait()
        if self.fails is not None:
            return {run.id: StoreError(self.fails) for run in runs}
        failures = await super().put_all(runs)
        self.is_written.set()
        return failures


async def opened(home):
    """A gateway in a process that is always on."""
    stand = Stand(home)
    stand.store = Bursts()
    await stand.open()
    stand.app = create_app(stand.gateway, is_always_on=True)
    return stand


async def asked(stand):
    status, head, _ = await stand.ask("POST", "/v1/chat/completions", stand.owner, PLAIN)
    assert status == 200
    return head[b"x-motes-run-id"].decode()


async def test_runs_that_end_together_are_one_write_and_no_request_waits_for_it(tmp_path):
    stand = await opened(tmp_path)
    stand.store.gate.clear()
    runs = await asyncio.gather(*[asked(stand) for _ in range(20)])
    assert not stand.store.runs
    stand.store.gate.set()
    await stand.gateway.runs.settled()
    assert sorted(run for burst in stand.store.bursts for run in burst) == sorted(runs)
    assert len(stand.store.bursts) < 10
    assert {run.outcome for run in stand.store.runs.values()} == {"completed"}
    assert not stand.gateway.runs.is_settling()


async def test_a_run_that_nobody_asks_for_is_written_by_itself(tmp_path):
    stand = await opened(tmp_path)
    run = await asked(stand)
    async with asyncio.timeout(10):
        await stand.store.is_written.wait()
    assert stand.store.runs[run].outcome == "completed"


async def test_who_asks_for_a_run_that_is_just_over_finds_it(tmp_path):
    stand = await opened(tmp_path)
    run = await asked(stand)
    status, _, got = await stand.ask("GET", f"/v1/runs/{run}", stand.owner)
    assert (status, json.loads(got)["outcome"]) == (200, "completed")
    run = await asked(stand)
    status, _, _ = await stand.ask("DELETE", f"/v1/runs/{run}", stand.owner)
    assert status == 200
    await stand.gateway.runs.settled()
    assert run not in stand.store.runs


async def test_who_asks_while_it_is_being_written_finds_it_too(tmp_path):
    stand = await opened(tmp_path)
    stand.store.gate.clear()
    run = await asked(stand)
    await stand.store.is_asked.wait()
    asking = asyncio.create_task(stand.ask("GET", f"/v1/runs/{run}", stand.owner))
    await asyncio.wait({asking}, timeout=0.2)
    assert not asking.done()
    stand.store.gate.set()
    assert (await asking)[0] == 200


async def test_a_process_that_stops_has_written_what_was_over(tmp_path):
    stand = await opened(tmp_path)
    run = await asked(stand)
    await stand.gateway.runs.close()
    assert stand.store.runs[run].outcome == "completed"


async def test_where_a_process_may_be_frozen_all_is_written_when_the_app_has_returned(tmp_path):
    stand = await opened(tmp_path)
    stand.app = create_app(stand.gateway)
    run = await asked(stand)
    assert stand.store.runs[run].outcome == "completed"


async def test_each_run_that_could_not_be_kept_is_told(tmp_path, caplog):
    stand = await opened(tmp_path)
    stand.store.fails = "the disk is full"
    runs = [await asked(stand), await asked(stand)]
    await stand.gateway.runs.settled()
    for run in runs:
        assert f'record_not_kept run={run} reason="the disk is full"' in caplog.text


@in_virtual_time
async def test_a_store_that_does_not_answer_is_not_waited_for(tmp_path, caplog):
    stand = await opened(tmp_path)
    stand.store.gate.clear()
    run = await asked(stand)
    await asyncio.sleep(4)
    assert f'record_not_kept run={run} reason="the store did not answer within 3 s"' in caplog.text


class Books(NoBooks):
    """Counts how often they are written."""

    written = 0

    async def write(self):
        self.written += 1


async def test_runs_that_have_a_record_wait_for_each_other_too_and_say_when_they_ended():
    store, books = Bursts(), Books()
    desk = Desk(store=store, worker="w", now=time.time, told=nothing, trouble=nothing)
    settling = Settling(desk, None, None, books)
    began, lives = time.time(), []
    for n in range(6):
        record = Record(desk, stored(f"r{n}"))
        if n % 2:
            await record.keep()
        lives.append(LiveRun(record))
    for live in lives:
        settling.add(live)
    over = time.time()
    assert all(settling.has(live.id) for live in lives)
    await settling.done(5)
    assert settling.is_empty()
    assert {run.state for run in store.runs.values()} == {"finished"}
    assert all(began <= run.ended <= over for run in store.runs.values())
    assert all(run.worker is None for run in store.runs.values() if run.id in ("r1", "r3", "r5"))
    assert (len(store.bursts), books.written) == (1, 1)


async def test_nobody_waits_for_the_vendor_of_a_run_that_left_something_there():
    store, books, is_asked = Bursts(), Books(), asyncio.Event()
    desk = Desk(store=store, worker="w", now=time.time, told=nothing, trouble=nothing)

    async def find(*_):
        is_asked.set()
        await asyncio.Event().wait()

    settling = Settling(desk, find, None, books)
    left, plain = Record(desk, stored("r1")), Record(desk, stored("r2"))
    left.orphans.append(p.UpstreamHandle("vnd.oai.responses", "resp_1"))
    settling.add(LiveRun(left))
    settling.add(LiveRun(plain))
    async with asyncio.timeout(10):
        await is_asked.wait()
        await store.is_written.wait()
    await settling.done(0.2)
    assert (store.runs["r2"].state, books.written, settling.has("r1")) == ("finished", 1, True)


def nothing(*_, **__):
    """Nobody listens."""
