"""The law of the stores of runs: the same tests for every one of them."""

import asyncio
import random
from dataclasses import replace

import pytest

from fakes.stored_runs import NOW, OWNER, ended, handle, page, run
from motes.errors import StoreError
from motes.store.runs import MAX_PAGE_BYTES, ReplyForm, RunFlags

OTHER = "b" * 64
LOST = RunFlags(is_lost=True)
LATER = NOW + 120


async def all_pages(runs, id="r1", after=0, limit=1000):
    return [(one.first, one.last) for one in await runs.pages(id, after=after, limit=limit)]


FULL = run(
    "full",
    state="abandoned",
    outcome="failed",
    error="timeout",
    context="conversation é🙂",
    is_resumable=True,
    is_kept=True,
    has_own_key=True,
    handle=handle(created=NOW - 5.25),
    first_seq=7,
    last_seq=41,
    ended=NOW + 0.125,
    kept_until=NOW + 1000,
    journal_until=NOW + 500,
    tries=3,
    problem="the vendor did not answer",
    reply=ReplyForm(model="ä", created=1, include_usage=True, reasoning_field="reasoning_content"),
)


@pytest.mark.parametrize("kept", [run(), ended(), FULL, replace(FULL, handle=handle(created=None))])
async def test_a_run_is_kept_as_it_is(opened_runs, kept):
    assert await opened_runs().put(kept)
    assert await opened_runs().get(kept.id, owner=OWNER) == kept
    assert await opened_runs().get(kept.id, owner=None) == kept


async def test_a_run_whose_id_is_there_already_is_not_kept_and_changes_nothing(runs):
    await runs.put(run())
    assert not await runs.put(run(owner=OTHER, model="other"))
    assert await runs.get("r1", owner=OWNER) == run()


async def test_many_runs_are_kept_at_once_and_each_as_it_is(runs, request):
    await runs.put(run("r3"))
    many = [ended(f"r{n}", model=f"m{n}") for n in range(8)]
    # moto copies its tables while others write into them, and falls over it.
    at_once = 1 if "moto" in request.node.callspec.id else len(many)
    for n in range(0, len(many), at_once):
        assert await runs.put_all(many[n : n + at_once]) == {}
    kept = {one.id: await runs.get(one.id, owner=OWNER) for one in many}
    assert kept == {one.id: one for one in many} | {"r3": run("r3")}


async def test_a_run_of_somebody_else_is_as_missing_as_one_that_never_was(runs):
    await runs.put(run())
    assert await runs.get("r1", owner=OTHER) is None
    assert await runs.get("r2", owner=OWNER) is None
    assert await runs.cancel("r1", owner=OTHER) is None
    assert await runs.cancel("r2", owner=OWNER) is None
    assert not (await runs.get("r1", owner=OWNER)).is_cancelled


async def test_its_worker_writes_the_run_and_gives_it_up_in_one_step(runs):
    await runs.put(run())
    done = ended(context="done", due_at=LATER)
    assert await runs.update(done, worker="w1") == RunFlags()
    assert await runs.get("r1", owner=OWNER) == done


async def test_who_is_not_its_worker_changes_nothing_and_hears_it(runs):
    await runs.put(run())
    for worker in ("w2", ""):
        assert await runs.update(ended(), worker=worker) == LOST
        assert await runs.renew("r1", worker=worker, until=LATER) == LOST
        assert await runs.append("r1", page(1, 2), worker=worker, until=LATER) == LOST
    assert not await runs.postpone(run(worker="w2"), until=LATER, problem="none")
    assert await runs.get("r1", owner=OWNER) == run()
    assert await all_pages(runs) == []


async def test_a_run_that_is_gone_is_lost_to_its_worker_and_does_not_come_back(runs):
    await runs.put(run())
    await runs.delete("r1")
    assert await runs.update(ended(), worker="w1") == LOST
    assert await runs.renew("r1", worker="w1", until=LATER) == LOST
    assert await runs.append("r1", page(1, 2), worker="w1", until=LATER) == LOST
    assert await runs.set_handle("r1", handle(), first_seq=1, due_at=LATER) is None
    assert await runs.claim(run(), worker="w2", until=LATER, now=LATER) is None
    assert not await runs.postpone(run(), until=LATER, problem="none")
    assert await runs.get("r1", owner=None) is None
    assert await all_pages(runs) == []


async def test_an_update_leaves_what_others_say(runs):
    await runs.put(run(is_resumable=True))
    await runs.append("r1", page(1, 5), worker="w1", until=LATER)
    await runs.cancel("r1", owner=OWNER)
    wrong = ended(owner=OTHER, caller="k2", created=NOW + 9, last_seq=0, is_cancelled=False)
    assert await runs.update(wrong, worker="w1") == RunFlags(is_cancelled=True)
    there = await runs.get("r1", owner=OWNER)
    assert (there.owner, there.caller, there.created) == (OWNER, "k1", NOW)
    assert (there.last_seq, there.is_cancelled, there.state) == (5, True, "finished")


async def test_a_worker_hears_of_many_runs_at_once_and_changes_none(runs):
    mine = {id: run(id) for id in ("r1", "r2", "r3")}
    for one in (*mine.values(), run("r4", worker="w2"), ended("r5")):
        await runs.put(one)
    await runs.cancel("r2", owner=OWNER)
    flags = await runs.flags(["r5", "r1", "r2", "r3", "r4", "gone"], worker="w1")
    assert flags == {
        "r1": RunFlags(),
        "r2": RunFlags(is_cancelled=True),
        "r3": RunFlags(),
        "r4": LOST,
        "r5": LOST,
        "gone": LOST,
    }
    assert await runs.flags([], worker="w1") == {}
    assert await runs.get("r1", owner=OWNER) == mine["r1"]


async def test_a_worker_hears_of_hundreds_of_runs(runs):
    await runs.put(run("r7"))
    flags = await runs.flags([f"r{number}" for number in range(250)], worker="w1")
    assert len(flags) == 250
    assert [id for id, one in flags.items() if one != LOST] == ["r7"]


async def test_a_lease_is_renewed(runs):
    await runs.put(run())
    assert await runs.renew("r1", worker="w1", until=LATER) == RunFlags()
    assert await runs.get("r1", owner=OWNER) == run(lease_until=LATER)


async def test_whoever_asks_for_a_cancel_is_heard_by_the_next_write_of_the_worker(runs):
    await runs.put(run(is_resumable=True))
    asked = await runs.cancel("r1", owner=OWNER)
    assert asked == run(is_resumable=True, is_cancelled=True)
    assert await runs.renew("r1", worker="w1", until=LATER) == RunFlags(is_cancelled=True)
    assert await runs.append("r1", page(1, 2), worker="w1", until=LATER) == RunFlags(is_cancelled=True)
    assert await all_pages(runs) == [(1, 2)]
    assert await runs.cancel("r1", owner=None) == run(
        is_resumable=True, is_cancelled=True, last_seq=2, lease_until=LATER
    )


async def test_a_lease_that_holds_is_not_taken_and_one_that_ran_out_is(runs):
    await runs.put(run())
    assert await runs.claim(run(), worker="w2", until=LATER, now=NOW + 59.9) is None
    taken = await runs.claim(run(), worker="w2", until=LATER, now=NOW + 60)
    assert taken == run(worker="w2", lease_until=LATER)
    assert await runs.get("r1", owner=OWNER) == taken
    assert await runs.append("r1", page(1, 2), worker="w1", until=LATER) == LOST


async def test_a_run_without_a_lease_is_free_and_a_claim_gives_it_as_it_is_now(runs):
    await runs.put(ended(context="new"))
    taken = await runs.claim(ended(context="old"), worker="w2", until=LATER, now=NOW)
    assert taken == ended(context="new", worker="w2", lease_until=LATER)


async def test_whoever_has_the_lease_may_take_it_again(runs):
    await runs.put(run())
    assert (await runs.claim(run(), worker="w1", until=LATER, now=NOW)).lease_until == LATER


async def test_of_many_who_take_a_run_at_once_one_has_it(opened_runs):
    stores = [opened_runs() for _ in range(6)]
    await stores[0].put(ended())
    taken = await asyncio.gather(
        *[store.claim(ended(), worker=f"w{n}", until=LATER, now=NOW) for n, store in enumerate(stores)]
    )
    winners = [one.worker for one in taken if one is not None]
    assert len(winners) == 1
    assert (await stores[0].get("r1", owner=OWNER)).worker == winners[0]


async def test_of_two_handles_that_of_the_earlier_run_is_kept(runs):
    await runs.put(run())
    first, earlier, later = handle("a", NOW), handle("b", NOW - 1), handle("c", NOW + 1)
    assert await runs.set_handle("r1", first, first_seq=3, due_at=LATER) == first
    assert await runs.set_handle("r1", later, first_seq=4, due_at=LATER + 1) == first
    assert await runs.get("r1", owner=OWNER) == run(handle=first, first_seq=3, due_at=LATER)
    assert await runs.set_handle("r1", earlier, first_seq=5, due_at=LATER + 2) == earlier
    assert await runs.get("r1", owner=OWNER) == run(handle=earlier, first_seq=5, due_at=LATER + 2)


@pytest.mark.parametrize(("there", "comes"), [(NOW, NOW), (NOW, None), (None, NOW), (None, None)])
async def test_where_it_cannot_be_told_which_is_earlier_the_one_that_is_there_stays(runs, there, comes):
    await runs.put(run())
    await runs.set_handle("r1", handle("a", there), first_seq=1, due_at=LATER)
    kept = await runs.set_handle("r1", handle("b", comes), first_seq=2, due_at=LATER)
    assert kept == handle("a", there)


async def test_the_same_handle_again_moves_where_its_replay_begins(runs):
    await runs.put(run())
    for seq in (3, 8):
        assert await runs.set_handle("r1", handle(), first_seq=seq, due_at=LATER + seq) == handle()
    assert await runs.get("r1", owner=OWNER) == run(handle=handle(), first_seq=8, due_at=LATER + 8)


async def test_of_many_handles_at_once_the_earliest_is_kept_whoever_is_first(opened_runs):
    stores = [opened_runs() for _ in range(6)]
    await stores[0].put(run())
    handles = [handle(f"h{n}", NOW + n) for n in range(6)]
    random.Random(5).shuffle(handles)
    await asyncio.gather(
        *[
            store.set_handle("r1", one, first_seq=1, due_at=LATER)
            for store, one in zip(stores, handles, strict=True)
        ]
    )
    assert (await stores[0].get("r1", owner=OWNER)).handle == handle("h0", NOW)


async def test_pages_are_read_from_behind_any_particle(runs):
    await runs.put(run(is_resumable=True))
    pages = [page(1, 3), page(4, 4, b"\x00\xff" * 50), page(5, 9, is_last=True)]
    for one in pages:
        assert await runs.append("r1", one, worker="w1", until=LATER) == RunFlags()
    assert list(await runs.pages("r1", after=0, limit=10)) == pages
    assert [len(await all_pages(runs, after=after)) for after in range(11)] == [
        3,
        3,
        3,
        2,
        1,
        1,
        1,
        1,
        1,
        0,
        0,
    ]
    assert await all_pages(runs, limit=2) == [(1, 3), (4, 4)]
    there = await runs.get("r1", owner=OWNER)
    assert (there.last_seq, there.lease_until) == (9, LATER)


async def test_the_same_page_twice_is_one_page(runs):
    await runs.put(run(is_resumable=True))
    for one in (page(1, 3), page(1, 3), page(4, 6), page(1, 3), page(4, 6)):
        assert await runs.append("r1", one, worker="w1", until=LATER) == RunFlags()
    assert await all_pages(runs) == [(1, 3), (4, 6)]
    assert (await runs.get("r1", owner=OWNER)).last_seq == 6


@pytest.mark.parametrize("wrong", [page(5, 6), page(2, 6), page(1, 4), page(3, 3), page(1, 2)])
async def test_a_page_that_is_not_the_next_one_is_not_kept_and_its_writer_is_lost(runs, wrong):
    await runs.put(run(is_resumable=True))
    await runs.append("r1", page(1, 3), worker="w1", until=LATER)
    assert await runs.append("r1", wrong, worker="w1", until=LATER) == LOST
    assert await all_pages(runs) == [(1, 3)]
    assert (await runs.get("r1", owner=OWNER)).last_seq == 3


async def test_who_takes_a_run_goes_on_where_its_journal_ends_and_the_old_worker_does_not(runs):
    await runs.put(run(is_resumable=True))
    await runs.append("r1", page(1, 3), worker="w1", until=NOW + 60)
    taken = await runs.claim(run(), worker="w2", until=LATER, now=NOW + 60)
    old, new = page(4, 7), page(4, 5)
    assert await runs.append("r1", new, worker="w2", until=LATER) == RunFlags()
    assert await runs.append("r1", old, worker="w1", until=LATER) == LOST
    assert taken.last_seq == 3
    assert await all_pages(runs) == [(1, 3), (4, 5)]


@pytest.mark.parametrize("size", [1, 1000, 400_000, MAX_PAGE_BYTES])
async def test_a_page_is_kept_byte_by_byte_up_to_the_largest(runs, size):
    body = random.Random(size).randbytes(size)
    await runs.put(run(is_resumable=True))
    assert await runs.append("r1", page(1, 2, body), worker="w1", until=LATER) == RunFlags()
    assert await runs.append("r1", page(3, 3, b"end", is_last=True), worker="w1", until=LATER) == RunFlags()
    assert list(await runs.pages("r1", after=0, limit=9)) == [
        page(1, 2, body),
        page(3, 3, b"end", is_last=True),
    ]
    assert [one.first for one in await runs.pages("r1", after=0, limit=1)] == [1]
    assert [one.first for one in await runs.pages("r1", after=2, limit=1)] == [3]


@pytest.mark.parametrize(
    "wrong", [page(1, 2, bytes(MAX_PAGE_BYTES + 1)), page(0, 2), page(2, 1), page(-1, 1)]
)
async def test_a_page_that_cannot_be_is_refused(runs, wrong):
    await runs.put(run(is_resumable=True))
    with pytest.raises(StoreError):
        await runs.append("r1", wrong, worker="w1", until=LATER)


async def test_a_long_journal_is_whole_and_its_neighbours_are_not_in_it(runs):
    """DynamoDB gives at most 1 MB at a time."""
    for id in ("r1", "r10", "r"):
        await runs.put(run(id, is_resumable=True))
    for n in range(120):
        await runs.append("r1", page(n + 1, n + 1, bytes(20_000)), worker="w1", until=LATER)
    await runs.append("r10", page(1, 1), worker="w1", until=LATER)
    assert await all_pages(runs) == [(n, n) for n in range(1, 121)]
    assert await all_pages(runs, "r10") == [(1, 1)]
    assert await all_pages(runs, "r") == []


async def test_pages_are_dropped_and_the_run_stays(runs):
    await runs.put(run(is_resumable=True))
    await runs.put(run("r2", is_resumable=True))
    for n in range(1, 61):
        await runs.append("r1", page(n, n), worker="w1", until=LATER)
    await runs.append("r2", page(1, 1), worker="w1", until=LATER)
    await runs.drop_pages("r1")
    await runs.drop_pages("r1")
    assert await all_pages(runs) == []
    assert (await runs.get("r1", owner=OWNER)).last_seq == 60
    assert await all_pages(runs, "r2") == [(1, 1)]


async def test_a_run_is_deleted_with_all_its_pages_and_twice_is_no_fault(runs):
    for id in ("r1", "r2"):
        await runs.put(run(id, is_resumable=True))
        for n in range(1, 61):
            await runs.append(id, page(n, n), worker="w1", until=LATER)
    await runs.delete("r1")
    await runs.delete("r1")
    await runs.delete("never")
    assert await runs.get("r1", owner=OWNER) is None
    assert await all_pages(runs) == []
    assert [one.id for one in await runs.list(owner=OWNER, limit=9)] == ["r2"]
    assert len(await all_pages(runs, "r2")) == 60


async def listed(runs, owner=OWNER, limit=100, before=None):
    return [one.id for one in await runs.list(owner=owner, limit=limit, before=before)]


async def test_an_owner_sees_the_own_runs_only_the_newest_first_and_the_operator_all(runs):
    for n, owner in enumerate((OWNER, OTHER, OWNER, OTHER, OWNER)):
        await runs.put(run(f"r{n}", owner=owner, created=NOW + n))
    assert await listed(runs) == ["r4", "r2", "r0"]
    assert await listed(runs, OTHER) == ["r3", "r1"]
    assert await listed(runs, "c" * 64) == []
    assert await listed(runs, None) == ["r4", "r3", "r2", "r1", "r0"]


async def test_a_list_goes_on_before_a_time_and_is_never_longer_than_asked_for(runs):
    for n in range(7):
        await runs.put(run(f"r{n}", created=NOW + n * 0.25))
    for owner in (OWNER, None):
        assert await listed(runs, owner, limit=3) == ["r6", "r5", "r4"]
        assert await listed(runs, owner, limit=3, before=NOW + 1) == ["r3", "r2", "r1"]
        assert await listed(runs, owner, limit=3, before=NOW) == []


async def test_only_what_something_can_be_done_with_is_listed(runs):
    await runs.put(run("running", created=NOW))
    await runs.put(ended("nothing", created=NOW + 1))
    await runs.put(ended("handle", created=NOW + 2, handle=handle()))
    await runs.put(ended("journal", created=NOW + 3, is_resumable=True))
    await runs.put(run("over", created=NOW + 4))
    assert await listed(runs, limit=3) == ["over", "journal", "handle"]
    await runs.update(ended("over", created=NOW + 4), worker="w1")
    assert await listed(runs, limit=3) == ["journal", "handle", "running"]
    assert await listed(runs, None, limit=2) == ["journal", "handle"]


async def test_many_that_are_not_listed_do_not_hide_the_others(runs):
    await runs.put(run("old", created=NOW))
    for n in range(40):
        await runs.put(ended(f"r{n}", created=NOW + 1 + n))
    assert await listed(runs, limit=1) == ["old"]


async def due(runs, now, limit=100):
    return [one.id for one in await runs.due(now, limit)]


async def test_what_is_due_comes_the_longest_due_first_of_every_state_but_parked(runs):
    states = ("finished", "abandoned", "deleting", "parked", "running")
    for n, state in enumerate(states):
        await runs.put(ended(state, state=state, due_at=NOW + n))
    assert await due(runs, NOW - 0.5) == []
    assert await due(runs, NOW) == ["finished"]
    assert await due(runs, NOW + 10) == ["finished", "abandoned", "deleting", "running"]
    assert await due(runs, NOW + 10, limit=2) == ["finished", "abandoned"]
    (first,) = await runs.due(NOW, 1)
    assert first == ended("finished", due_at=NOW)


async def test_a_run_without_a_time_is_never_due_and_one_with_a_lease_not_yet(runs):
    await runs.put(ended("never", due_at=None))
    await runs.put(run("held", due_at=NOW, lease_until=NOW + 60))
    await runs.put(run("left", due_at=NOW + 5, lease_until=NOW + 5))
    assert await due(runs, NOW + 30) == ["left"]
    assert await due(runs, NOW + 60) == ["held", "left"]


async def test_many_with_a_lease_do_not_hide_what_is_due(runs):
    for n in range(40):
        await runs.put(run(f"r{n}", due_at=NOW, lease_until=NOW + 1000))
    await runs.put(run("left", due_at=NOW + 1, lease_until=NOW + 1))
    assert await due(runs, NOW + 2, limit=3) == ["left"]


async def test_another_try_comes_later_and_is_counted(runs):
    await runs.put(ended(due_at=NOW))
    taken = await runs.claim(ended(), worker="c1", until=NOW + 60, now=NOW)
    assert await runs.postpone(taken, until=NOW + 300, problem="no answer")
    there = await runs.get("r1", owner=OWNER)
    assert there == ended(due_at=NOW + 300, tries=1, problem="no answer")
    assert await due(runs, NOW + 299) == []
    assert await due(runs, NOW + 300) == ["r1"]


async def test_what_is_parked_is_kept_and_not_due(runs):
    await runs.put(ended(due_at=NOW, handle=handle()))
    taken = await runs.claim(ended(), worker="c1", until=NOW + 60, now=NOW)
    assert await runs.postpone(taken, until=NOW, problem="HTTP status 401", is_parked=True)
    assert await due(runs, NOW + 1_000_000) == []
    there = await runs.get("r1", owner=OWNER)
    assert (there.state, there.tries, there.worker) == ("parked", 1, None)
    assert await listed(runs) == ["r1"]


async def test_what_is_new_in_a_run_is_seen_by_who_looks_for_due_ones(runs):
    await runs.put(ended(due_at=NOW))
    await runs.set_handle("r1", handle(), first_seq=1, due_at=NOW + 100)
    assert await due(runs, NOW + 99) == []
    assert (await runs.due(NOW + 100, 1))[0].handle == handle()
