"""A round of cleaning up: what becomes of each run, and what is never done."""

import asyncio
from dataclasses import replace

import pytest

from fakes.stored_runs import NOW, OWNER, ended, handle, page, run
from motes.cleaning import intended
from motes.errors import StoreError
from motes.hosts.upkeep import Upkeep
from motes.settings import load_settings

HOUR = 3600.0
DAY = 24 * HOUR


def left(id="r1", **fields):
    """A run that ended and whose copy the vendor still has, due now."""
    return ended(id, **{"handle": handle(f"resp_{id}"), "due_at": NOW} | fields)


async def cleaned(upkeep, is_time_left=lambda: True):
    """What came of the runs, without what did not happen."""
    counts = (await upkeep.round(is_time_left)).counts()
    return {name: count for name, count in counts.items() if count}


async def kept(runs, vendor, *some):
    for one in some:
        await runs.put(one)
        if one.handle is not None:
            vendor.there.add(one.handle.run_id)


async def journaled(runs, id, pages=3):
    taken = await runs.claim(run(id), worker="w", until=NOW, now=NOW)
    for n in range(1, pages + 1):
        await runs.append(id, page(n, n), worker="w", until=NOW)
    await runs.update(replace(taken, worker=None, lease_until=None), worker="w")


async def test_where_nothing_is_due_nobody_is_asked(upkeep, runs, vendor):
    await kept(runs, vendor, left(due_at=NOW + 1), left("r2", due_at=None), run("r3"))
    assert await cleaned(upkeep) == {"is_done": True}
    assert vendor.there == {"resp_r1", "resp_r2"}


async def test_a_finished_run_is_deleted_at_the_vendor_and_forgotten(upkeep, runs, vendor):
    await kept(runs, vendor, left(is_resumable=True))
    await journaled(runs, "r1")
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert vendor.deleted == {"resp_r1": 1}
    assert not vendor.cancelled
    assert vendor.keys == {"Bearer sk-vendor"}
    assert await runs.get("r1", owner=None) is None
    assert not await runs.pages("r1", after=0, limit=9)


@pytest.mark.parametrize("state", [{"state": "abandoned"}, {"outcome": "failed"}, {"outcome": "cancelled"}])
async def test_a_run_that_may_still_go_on_is_stopped_before_it_is_deleted(upkeep, runs, vendor, state):
    await kept(runs, vendor, left(**state))
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert (vendor.cancelled, vendor.deleted) == ({"resp_r1": 1}, {"resp_r1": 1})


async def test_what_the_vendor_does_not_have_is_gone(upkeep, runs, vendor):
    await runs.put(left())
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert vendor.missed == {"resp_r1": 1}


async def test_a_run_without_a_handle_is_only_forgotten(upkeep, runs, vendor):
    await kept(runs, vendor, ended(due_at=NOW), ended("r2", due_at=NOW, is_resumable=True))
    await journaled(runs, "r2")
    assert await cleaned(upkeep) == {"deleted": 2, "is_done": True}
    assert not vendor.missed


async def test_an_orphan_is_kept_for_its_owner_and_deleted_a_day_later(upkeep, runs, vendor, clock):
    await kept(runs, vendor, run(handle=handle("resp_r1"), is_resumable=True))
    await runs.append("r1", page(1, 3), worker="w1", until=NOW + 60)
    clock.at = NOW + 59
    assert await cleaned(upkeep) == {"is_done": True}
    clock.at = NOW + 60
    assert await cleaned(upkeep) == {"abandoned": 1, "is_done": True}
    there = await runs.get("r1", owner=OWNER)
    assert (there.state, there.outcome, there.worker, there.ended) == ("abandoned", "failed", None, NOW + 60)
    assert there.kept_until == there.journal_until == there.due_at == NOW + 60 + DAY
    assert vendor.there == {"resp_r1"}
    assert not vendor.cancelled
    # Its owner may take it up again.
    assert await runs.claim(there, worker="w2", until=NOW + 200, now=NOW + 61)
    clock.at = NOW + 60 + DAY
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert (vendor.cancelled, vendor.deleted) == ({"resp_r1": 1}, {"resp_r1": 1})


async def test_an_orphan_whose_cancel_was_asked_for_is_deleted_at_once(upkeep, runs, vendor, clock):
    await kept(runs, vendor, run(handle=handle("resp_r1")))
    await runs.cancel("r1", owner=OWNER)
    clock.at = NOW + 60
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert (vendor.cancelled, vendor.deleted) == ({"resp_r1": 1}, {"resp_r1": 1})


async def test_an_orphan_with_nothing_left_is_marked_and_never_due_again(upkeep, runs, vendor, clock):
    await kept(runs, vendor, run())
    clock.at = NOW + 60
    assert await cleaned(upkeep) == {"abandoned": 1, "is_done": True}
    there = await runs.get("r1", owner=OWNER)
    assert (there.state, there.due_at) == ("abandoned", None)


async def test_a_run_that_was_handed_over_and_not_taken_is_over_when_it_is_due(upkeep, runs, vendor):
    await kept(runs, vendor, left(state="running", outcome=None, ended=None))
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert vendor.cancelled == {"resp_r1": 1}


async def test_how_long_things_are_kept_is_set(environ, tmp_path, clock, vendor):
    environ |= {"MOTES_RUN_KEEP_S": "100", "MOTES_JOURNAL_KEEP_S": "50"}
    upkeep = Upkeep(load_settings(environ, tmp_path), environ, clock)
    await kept(upkeep.runs, vendor, run(handle=handle("resp_r1"), is_resumable=True))
    await upkeep.runs.append("r1", page(1, 3), worker="w1", until=NOW + 60)
    clock.at = NOW + 60
    await cleaned(upkeep)
    clock.at = NOW + 110
    assert await cleaned(upkeep) == {"kept": 1, "is_done": True}
    assert not await upkeep.runs.pages("r1", after=0, limit=9)
    there = await upkeep.runs.get("r1", owner=OWNER)
    assert (there.is_resumable, there.handle, there.due_at) == (False, handle("resp_r1"), NOW + 160)
    clock.at = NOW + 160
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}


async def test_a_journal_outlives_the_vendors_copy_where_its_time_is_later(upkeep, runs, vendor, clock):
    await kept(runs, vendor, left(is_resumable=True, journal_until=NOW + HOUR))
    await journaled(runs, "r1")
    assert await cleaned(upkeep) == {"kept": 1, "is_done": True}
    assert vendor.deleted == {"resp_r1": 1}
    assert len(await runs.pages("r1", after=0, limit=9)) == 3
    there = await runs.get("r1", owner=OWNER)
    assert (there.handle, there.due_at, there.state) == (None, NOW + HOUR, "finished")
    clock.at = NOW + HOUR
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert vendor.missed == {}


async def test_a_copy_that_only_its_caller_can_delete_is_left_and_told(upkeep, runs, vendor, caplog):
    await kept(runs, vendor, left(has_own_key=True))
    assert await cleaned(upkeep) == {"deleted": 1, "left": 1, "is_done": True}
    assert vendor.there == {"resp_r1"}
    assert "run_left_at_vendor run=r1 vendor=openai handle=resp_r1" in caplog.text


@pytest.mark.parametrize("status", [0, 429, 500, 503, 408])
async def test_a_vendor_that_is_down_is_asked_again_later_and_nothing_is_ever_given_up(
    upkeep, runs, vendor, clock, status
):
    await kept(runs, vendor, left())
    vendor.fails["resp_r1"] = (status, 30)
    pauses = []
    for _ in range(30):
        assert await cleaned(upkeep) == {"postponed": 1, "is_done": True}
        there = await runs.get("r1", owner=OWNER)
        assert (there.state, there.tries, there.worker, there.lease_until) == ("finished", 0, None, None)
        assert there.problem
        pauses.append(there.due_at - clock.at)
        clock.at = there.due_at
    assert all(45 <= pause <= 4500 for pause in pauses)
    assert pauses[-1] > 10 * pauses[0]
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert vendor.deleted == {"resp_r1": 1}


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_what_no_waiting_mends_is_parked_and_told_and_tried_again_when_asked(
    upkeep, runs, vendor, clock, status, caplog
):
    await kept(runs, vendor, left())
    vendor.fails["resp_r1"] = (status, 8)
    for tries in range(1, 8):
        assert await cleaned(upkeep) == {"postponed": 1, "is_done": True}
        there = await runs.get("r1", owner=OWNER)
        assert there.tries == tries
        clock.at = there.due_at
    assert clock.at - NOW > HOUR
    assert await cleaned(upkeep) == {"parked": 1, "is_done": True}
    assert (
        f'run_parked run=r1 vendor=openai tries=8 reason="the vendor did not delete it: HTTP status {status}"'
        in caplog.text
    )
    clock.at += 100 * DAY
    assert await cleaned(upkeep) == {"is_done": True}
    there = await runs.get("r1", owner=OWNER)
    assert (there.state, there.handle) == ("parked", handle("resp_r1"))
    assert await upkeep.unpark() == 1
    assert await cleaned(upkeep) == {"deleted": 1, "is_done": True}
    assert not vendor.there


@pytest.mark.parametrize(
    "lost", [{"vendor": "nowhere"}, {"dialect": "cohere-chat"}, {"handle": handle("..")}, {"vendor": "azure"}]
)
async def test_a_run_whose_way_is_lost_does_not_hold_up_the_others(upkeep, runs, vendor, lost):
    await kept(runs, vendor, left("lost", **lost, due_at=NOW - 5), left())
    assert await cleaned(upkeep) == {"deleted": 1, "postponed": 1, "is_done": True}
    assert (await runs.get("lost", owner=OWNER)).tries == 1


async def test_a_missing_key_is_named_as_the_problem(environ, tmp_path, clock, vendor):
    del environ["OPENAI_API_KEY"]
    upkeep = Upkeep(load_settings(environ, tmp_path), environ, clock)
    await kept(upkeep.runs, vendor, left())
    assert await cleaned(upkeep) == {"postponed": 1, "is_done": True}
    assert "OPENAI_API_KEY" in (await upkeep.runs.get("r1", owner=OWNER)).problem
    assert not vendor.keys


async def test_a_vendor_that_fails_again_and_again_is_left_alone_for_the_round(upkeep, runs, vendor):
    await kept(runs, vendor, *[left(f"r{n}", due_at=NOW - 1) for n in range(300)])
    await kept(runs, vendor, *[ended(f"other{n}", due_at=NOW) for n in range(20)])
    for id in list(vendor.there):
        vendor.fails[id] = (503, 1000)
    assert await cleaned(upkeep) == {"postponed": 300, "deleted": 20, "is_done": True}
    tried = sum(1000 - times for _, times in vendor.fails.values())
    assert 200 <= tried <= 200 + 16


async def test_no_more_than_so_many_requests_go_out_at_once(upkeep, runs, vendor):
    await kept(runs, vendor, *[left(f"r{n}") for n in range(60)])
    vendor.delay = 0.02
    assert await cleaned(upkeep) == {"deleted": 60, "is_done": True}
    assert 2 <= vendor.most_at_once <= 16


async def test_a_round_ends_when_its_time_is_up_and_the_next_goes_on(upkeep, runs, vendor):
    await kept(runs, vendor, *[left(f"r{n}") for n in range(50)])
    asked = iter(range(20))
    first = await cleaned(upkeep, lambda: next(asked, None) is not None)
    assert "is_done" not in first
    assert 0 < first["deleted"] <= 19
    rest = await cleaned(upkeep)
    assert rest == {"deleted": 50 - first["deleted"], "is_done": True}
    assert set(vendor.deleted.values()) == {1}
    assert not vendor.missed


async def test_of_two_rounds_at_once_each_run_is_done_by_one(environ, tmp_path, clock, vendor):
    rounds = [Upkeep(load_settings(environ, tmp_path), environ, clock) for _ in range(3)]
    await kept(rounds[0].runs, vendor, *[left(f"r{n}") for n in range(120)])
    vendor.delay = 0.005
    done = await asyncio.gather(*[cleaned(one) for one in rounds])
    assert sum(one.get("deleted", 0) for one in done) == 120
    assert vendor.deleted == {f"resp_r{n}": 1 for n in range(120)}
    assert not vendor.missed


async def test_a_run_that_was_taken_up_meanwhile_is_let_be(upkeep, runs, vendor):
    await kept(runs, vendor, left())
    await runs.claim(left(), worker="w2", until=NOW + 60, now=NOW)
    assert await cleaned(upkeep) == {"is_done": True}
    assert vendor.there == {"resp_r1"}


async def test_a_store_that_fails_is_told_to_who_started_the_round(upkeep, environ, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "motes.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="not a database"):
        await upkeep.round(lambda: True)


async def test_rounds_beside_other_work_go_on_after_one_that_fails(upkeep, runs, vendor, tmp_path, caplog):
    file = tmp_path / "home" / "motes.sqlite"
    file.mkdir(parents=True)
    async with upkeep.beside(0.01):
        for _ in range(2000):
            if "cleanup_failed" in caplog.text:
                break
            await asyncio.sleep(0.005)
        assert "cleanup_failed" in caplog.text
        file.rmdir()
        await kept(runs, vendor, left())
        assert await asyncio.to_thread(vendor.wait_until_deleted, 1, 20)
    assert vendor.deleted == {"resp_r1": 1}


def test_what_would_be_done_is_what_is_done():
    later = NOW + 10
    assert intended(run(), NOW) == ["mark as abandoned"]
    assert intended(left(), NOW) == ["delete resp_r1 at the vendor", "remove the record"]
    assert intended(left(has_own_key=True), NOW) == ["leave resp_r1 at the vendor", "remove the record"]
    assert intended(left(is_resumable=True, journal_until=later), NOW) == ["delete resp_r1 at the vendor"]
    assert intended(left(is_resumable=True, kept_until=later), NOW) == ["remove the journal"]
    assert intended(left(is_resumable=True), NOW)[1:] == ["remove the journal", "remove the record"]
