"""The ledger: no row is lost to a store that fails or a chore without time, and no row waits long for a price."""

import asyncio
import threading
from dataclasses import replace

import pytest

from fakes.stores import HeldUsage
from fakes.tiny import Listener
from motes import particles as p
from motes.api.afterwards import Afterwards
from motes.api.ledger import Ledger, finish_class
from motes.api.prices import PriceBook
from motes.costs import Rates
from motes.settings import Settings
from motes.store.runs import ReplyForm, StoredRun

USED = p.Metrics(tokens_in=10, tokens_cache_read=5, tokens_out=2, tokens_out_reasoning=0)
STOPPED = p.End("done-dialect", "ok")


@pytest.fixture
def store():
    made = HeldUsage()
    yield made
    made.gate.set()


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path, margin="1.3", prices={"tiny/t-1": {"input": 2, "output": 10}})


@pytest.fixture
def ledger(store, settings):
    return Ledger(store, PriceBook(settings, {}))


def run(id="r1", **changes):
    form = ReplyForm(model="m", created=1000)
    values = {"vendor": "tiny", "model": "t-1", "dialect": "tiny", "created": 1000.0, "reply": form}
    return StoredRun(id=id, owner="o", caller="k1", context="a test", **(values | changes))


def used(ledger, id="r1", end=STOPPED, metrics=USED, **changes):
    asked = run(id, **changes)
    cost = ledger.pricing(asked)(metrics)
    ledger.observer(Listener(), asked).run_ended("tiny/t-1", end, replace(metrics, cost=cost))


async def test_a_row_holds_who_what_how_much_and_how_it_ended(ledger, store):
    used(ledger)
    await ledger.write()
    (row,) = store.written
    assert (row.run, row.at, row.key, row.vendor, row.model) == ("r1", 1000.0, "k1", "tiny", "t-1")
    assert (row.tokens_in, row.tokens_cached, row.tokens_written) == (15, 5, None)
    assert (row.tokens_out, row.tokens_reasoning, row.source) == (2, 0, "measured")
    assert (row.finish, row.context, row.margin) == ("stop", "a test", 1.3)
    assert row.cost == pytest.approx((15 * 2 + 2 * 10) * 1.3 / 1e6)


async def test_what_is_written_is_written_once(ledger, store):
    used(ledger)
    await ledger.write()
    await ledger.write()
    assert len(store.written) == 1


async def test_a_store_that_fails_harms_nobody_and_gets_the_rows_later(ledger, store):
    store.fails = True
    used(ledger, "r1")
    await ledger.write()
    used(ledger, "r2")
    store.fails = False
    await ledger.write()
    assert sorted(store.rows) == ["r1", "r2"]


async def test_a_chore_that_has_no_time_left_leaves_its_rows_to_the_next(ledger, store):
    store.gate.clear()
    used(ledger)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ledger.write()
    store.gate.set()
    await ledger.write()
    assert list(store.rows) == ["r1"]


async def test_all_who_come_while_rows_are_written_share_the_next_write_and_are_through_together(
    ledger, store
):
    store.gate.clear()
    used(ledger, "r0")
    first = asyncio.create_task(ledger.write())
    await asyncio.sleep(0)
    others = []
    for n in range(1, 50):
        used(ledger, f"r{n}")
        others.append(asyncio.create_task(ledger.write()))
    await asyncio.sleep(0)
    store.gate.set()
    await first
    assert list(store.rows) == ["r0"]
    await others[0]
    assert len(store.rows) == len(store.written) == 50
    # Not one by one, turn by turn of the loop: that is slower than runs can end.
    await asyncio.sleep(0)
    assert all(other.done() for other in others)


async def test_who_shares_a_write_that_is_given_up_writes_himself(ledger, store):
    store.gate.clear()
    used(ledger, "r1")
    first = asyncio.create_task(ledger.write())
    await asyncio.sleep(0)
    used(ledger, "r2")
    second = asyncio.create_task(ledger.write())
    third = asyncio.create_task(ledger.write())
    await asyncio.sleep(0)
    first.cancel()
    store.gate.set()
    await asyncio.wait({first, second, third})
    assert sorted(store.rows) == ["r1", "r2"]
    assert second.result() is third.result() is None


async def test_rows_that_cannot_be_stored_are_not_kept_without_end(store, settings, caplog):
    ledger = Ledger(store, PriceBook(settings, {}), most=3)
    for n in range(5):
        used(ledger, f"r{n}")
    await ledger.write()
    assert list(store.rows) == ["r2", "r3", "r4"]
    assert caplog.text.count("usage_lost") == 2


async def test_a_price_that_comes_late_is_written_after_the_row(store, settings):
    gate = threading.Event()

    def late(row, model):
        gate.wait(10)
        return Rates(input=1_000_000, output=2_000_000)

    book = PriceBook(settings.model_copy(update={"prices": {}}), {}, late)
    ledger = Ledger(store, book)
    used(ledger)
    await ledger.write()
    assert [row.cost for row in store.written] == [None]
    gate.set()
    await book.settled("tiny/t-1")
    await ledger.write()
    assert store.rows["r1"].cost == pytest.approx((15 + 2 * 2) * 1.3)
    await ledger.write()
    assert len(store.written) == 2


async def test_who_pays_the_vendor_himself_owes_nothing(ledger, store):
    used(ledger, has_own_key=True)
    used(ledger, "r2", metrics=replace(USED, cost_cents=5.0), has_own_key=True)
    await ledger.write()
    assert [row.cost for row in store.written] == [None, None]
    assert store.rows["r1"].tokens_in == 15


async def test_writers_at_the_same_time_write_each_row_once(ledger, store):
    for n in range(20):
        used(ledger, f"r{n}")
    await asyncio.gather(*[ledger.write() for _ in range(5)])
    assert len(store.written) == 20


async def test_the_row_is_written_when_the_response_is_out(ledger, store):
    async def app(scope, receive, send):
        used(ledger)
        assert not store.written

    await Afterwards(app, [ledger.write])({"type": "http"}, None, None)
    assert list(store.rows) == ["r1"]


@pytest.mark.parametrize(
    ("end", "metrics", "expected"),
    [
        (STOPPED, USED, "stop"),
        (p.End("done-dispatch-closed", "ok-tool_invocations"), USED, "tool_calls"),
        (p.End("done-dialect", "out-of-tokens"), USED, "length"),
        (p.End("done-dialect", "filter-refusal"), USED, "content_filter"),
        (p.End("issue-dialect"), USED, "cut"),
        (p.End("issue-dispatch-rpc"), p.Metrics(source="estimated"), "failed"),
        (p.End("done-dispatch-closed"), USED, "cut"),
        (p.End("done-dispatch-aborted"), USED, "cancelled"),
        (p.End("done-dispatch-aborted"), p.Metrics(source="estimated"), "cancelled"),
    ],
)
def test_every_end_has_its_class(end, metrics, expected):
    assert finish_class(end, metrics) == expected


def test_an_observer_of_a_run_passes_everything_on(ledger):
    heard = Listener()
    observer = ledger.observer(heard, run())
    issue = p.Issue("dispatch-read", "x")
    observer.slow_request("slow")
    observer.retrying("a/b", "reset")
    observer.failed("a/b", issue)
    observer.bug("a/b", ValueError())
    observer.run_ended("a/b", STOPPED, USED)
    assert (heard.slow, heard.retries, heard.issues) == (["slow"], ["reset"], [issue])
    assert (len(heard.bugs), heard.ends) == (1, [("a/b", STOPPED, USED)])


async def test_a_run_that_is_read_again_at_its_vendor_has_its_row_mended_by_a_good_end_only(ledger, store):
    cut = replace(USED, source="estimated", tokens_out=1)
    used(ledger, end=p.End("issue-dispatch-rpc"), metrics=cut)
    again = ledger.rejoining(run())
    again.run_ended("tiny/t-1", p.End("issue-dispatch-rpc"), p.Metrics(source="estimated"))
    await ledger.write()
    assert (store.rows["r1"].finish, store.rows["r1"].tokens_out) == ("cut", 1)
    again.run_ended("tiny/t-1", STOPPED, USED)
    await ledger.write()
    assert (store.rows["r1"].finish, store.rows["r1"].source) == ("stop", "measured")
    assert {row.at for row in store.written} == {1000.0}
