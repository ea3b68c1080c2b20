"""The short way of words through the executor: what may pass, in which order, and that each limit still holds.

Over real sockets, one piece a read, with a clock that is moved by hand; see `fakes.live_stand`.
"""

import asyncio
import json
from contextlib import aclosing, asynccontextmanager

import pytest

from fakes.live_stand import CHUNKED, live, live_vendor, move_clock, turn
from fakes.tiny import Listener, TinyParser, line, tiny_dispatch
from fakes.tiny_runs import options
from motes import particles as p
from motes.executor.connection import open_client
from motes.executor.pipeline import batches
from motes.executor.policy import Backoff, Policy
from motes.executor.run import Lane
from motes.vendors.vendor import Timeouts

ONCE = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
TWICE = Policy(http=Backoff(2, 0.0), connection=Backoff(2, 0.0))
STOP = line(stop="ok")


class Reader:
    """One who reads a run. `short` is what came the short way; `heard` is all of it, in order."""

    def __init__(self):
        self.heard, self.short = [], []
        self.has_room = True
        self.listener = Listener()

        self.lane = Lane()
        self.lane.lead(self.take, lambda text: self.take([p.Text(text)]))

    def take(self, words):
        if not self.has_room:
            return False
        self.short += words
        self.heard += words
        return True

    async def read(self, source):
        async with aclosing(source):
            async for batch in source:
                self.heard += batch

    async def until(self, is_so):
        """Wait until that is so of what was heard."""
        while not is_so(self.heard):
            await turn()

    async def hears(self, *particles):
        """Wait until these came last."""
        await self.until(lambda heard: heard[-len(particles) :] == [*particles])

    def of(self, kind):
        return [one for one in self.heard if isinstance(one, kind)]

    @property
    def text(self):
        return "".join(one.text for one in self.of(p.Text))

    @property
    def end(self):
        """The one `End`, which is last."""
        (end,) = self.of(p.End)
        assert self.heard[-1] is end
        return end


@asynccontextmanager
async def reading(deadline_in=None, dispatch=None, **changes):
    """A run that has said `a`, and who reads it; gives both and the vendor."""
    reader = Reader()
    async with live_vendor() as vendor, open_client() as http:
        if deadline_in is not None:
            changes["deadline"] = asyncio.get_running_loop().time() + deadline_in
        chosen = options(**{"policy": ONCE, "stop_margin": 0.0} | changes)
        wish = tiny_dispatch(vendor.url, **dispatch or {})
        source = batches(wish, http, chosen, reader.listener, reader.lane)
        task = asyncio.create_task(reader.read(source))
        call = await vendor.calls.get()
        call.begin()
        call.say(line(text="a"))
        # The first bytes have limits of their own, and go the long way.
        await reader.hears(p.Text("a"))
        assert reader.short == []
        yield reader, call, task, vendor
        await task


async def said(reader, call, *words):
    for word in words:
        call.say(line(text=word))
        await reader.hears(p.Text(word))


@live
async def test_words_pass_and_all_else_goes_the_long_way_in_its_order():
    async with reading() as (reader, call, _, _):
        await said(reader, call, "b", "c")
        call.say(line(model="t-2"))
        await reader.hears(p.ModelName("t-2"))
        call.say(line(text="d"), line(id="x"), line(text="e"))
        await reader.hears(p.Text("d"), p.ResponseId("x"), p.Text("e"))
        await said(reader, call, "f")
        call.say(STOP, end=True)
    assert [one.text for one in reader.short] == ["b", "c", "f"]
    assert reader.text == "abcdef"
    assert reader.end == p.End("done-dialect", "ok")


@live
async def test_who_has_no_room_has_the_words_the_long_way_and_in_order():
    async with reading() as (reader, call, _, _):
        for n in range(20):
            reader.has_room = n % 3 != 0
            await said(reader, call, f"<{n}>")
        call.say(STOP, end=True)
    assert reader.text == "a" + "".join(f"<{n}>" for n in range(20))
    assert [one.text for one in reader.short] == [f"<{n}>" for n in range(20) if n % 3]


@live
async def test_words_of_one_turn_of_the_loop_do_not_overtake_each_other():
    async with reading() as (reader, call, _, _):
        for n in range(200):
            reader.has_room = n % 7 != 0
            call.say(line(text=f"<{n}>"), line(model=f"m{n}") if n % 5 == 0 else b"")
            for _ in range(n % 6):
                await turn()
        call.say(STOP, end=True)
    assert reader.text == "a" + "".join(f"<{n}>" for n in range(200))
    assert 0 < len(reader.short) < 200


@pytest.mark.parametrize("has_room", [True, False])
@live
async def test_a_read_of_more_than_may_wait_does_not_stop_the_line(has_room):
    async with reading() as (reader, call, _, _):
        reader.has_room = has_room
        for n in range(20):
            await said(reader, call, *[f"<{n}.{m}>" for m in range(3)])
            call.say(*[line(text=f"{n}" * 1000) for _ in range(200)])
            await reader.until(lambda heard, n=n: heard.count(p.Text(f"{n}" * 1000)) == 200)
        call.say(STOP, end=True)
    assert reader.end.stop == "ok"


@live
async def test_a_bug_of_ours_on_the_short_way_is_one_issue_and_keeps_what_was_said():
    async with reading() as (reader, call, _, _):
        await said(reader, call, "b")
        call.say(line(text="c"), line(boom="our fault"))
        await call.gone()
    assert reader.text == "abc"
    (issue,) = reader.of(p.Issue)
    assert (issue.phase, issue.error.code) == ("dispatch-parse", "internal_error")
    assert reader.end == p.End("issue-dispatch-rpc")
    assert [str(bug) for bug in reader.listener.bugs] == ["our fault"]


@live
async def test_a_bug_of_whoever_takes_the_words_ends_the_run_alike():
    async with reading() as (reader, call, _, _):
        # He can take no words.
        reader.short = None
        call.say(line(text="b"))
        await call.gone()
    (issue,) = reader.of(p.Issue)
    assert issue.error.code == "internal_error"
    assert reader.end == p.End("issue-dispatch-rpc")


@live
async def test_words_count_for_the_length_of_a_continued_answer_and_for_its_usage():
    patch = {"messages+": [{"role": "assistant", "content": "a"}]}
    async with reading() as (reader, call, _, vendor):
        await said(reader, call, "b", "c")
        call.say(line(pause=patch), end=True)
        other = await vendor.calls.get()
        assert json.loads(other.body) == {"messages": patch["messages+"]}
        other.begin()
        await said(reader, other, "d", "e")
        other.say(line(cited=[0, 2]), STOP, end=True)
    assert reader.text == "abcde"
    assert [one.text for one in reader.short] == ["b", "c", "e"]
    assert [(one.start, one.end) for one in reader.of(p.Citation)] == [(3, 5)]


@live
async def test_words_that_passed_are_seen_so_that_no_other_attempt_repeats_them():
    async with reading(policy=TWICE) as (reader, call, _, vendor):
        await said(reader, call, "b")
        call.say(line(error={"message": "busy", "code": 503}), end=True)
    assert reader.text == "ab"
    assert not reader.of(p.RetryReset)
    assert reader.end == p.End("issue-dialect")
    assert vendor.calls.empty()


@live
async def test_words_after_a_retry_take_the_short_way_again():
    async with live_vendor() as vendor, open_client() as http:
        reader = Reader()
        wish = tiny_dispatch(vendor.url)
        source = batches(wish, http, options(policy=TWICE), reader.listener, reader.lane)
        task = asyncio.create_task(reader.read(source))
        call = await vendor.calls.get()
        call.begin()
        call.say(line(error={"message": "busy", "code": 503}))
        call.reset()
        call = await vendor.calls.get()
        call.begin()
        await said(reader, call, "a", "b", "c")
        call.say(STOP, end=True)
        await task
    assert len(reader.of(p.RetryReset)) == 1
    assert [one.text for one in reader.short] == ["b", "c"]
    assert reader.text == "abc"


# Each limit while words pass: nobody is woken for them, and it holds all the same.


@live
async def test_words_that_never_end_are_ended_at_the_deadline():
    async with reading(deadline_in=100.0) as (reader, call, task, _):
        for n in range(12):
            await said(reader, call, f"<{n}>")
            move_clock(9.0)
            if task.done():
                break
            await turn()
        await call.gone()
    (issue,) = reader.of(p.Issue)
    assert issue.error.code == "platform_deadline"
    assert reader.of(p.End) == [reader.end]
    assert reader.text == "a" + "".join(f"<{n}>" for n in range(12) if f"<{n}>" in reader.text)


@pytest.mark.parametrize("has_room", [True, False])
@live
async def test_words_that_come_when_the_time_is_over_are_not_told(has_room):
    async with reading(deadline_in=100.0) as (reader, call, _, _):
        await said(reader, call, "b")
        reader.has_room = has_room
        # Both are there in the same turn of the loop: the time and the words.
        move_clock(100.0)
        call.say(line(text="late"))
        await call.gone()
    assert reader.text == "ab"
    assert reader.of(p.Issue)[0].error.code == "platform_deadline"


@live
async def test_silence_after_words_is_an_idle_timeout_counted_from_the_last_of_them():
    limits = Timeouts(idle=100.0)
    async with reading(dispatch={"timeouts": limits}, heartbeat=1e6) as (reader, call, task, _):
        for n in range(5):
            move_clock(90.0)
            await said(reader, call, f"<{n}>")
        move_clock(90.0)
        for _ in range(20):
            await turn()
        assert not task.done()
        move_clock(11.0)
        await call.gone()
    assert reader.of(p.Issue)[0].error.code == "idle_timeout"
    assert reader.end == p.End("issue-dispatch-rpc")


@live
async def test_pings_without_words_are_a_quiet_timeout_counted_from_the_last_word():
    limits = Timeouts(idle=100.0, quiet=500.0)
    async with reading(dispatch={"timeouts": limits}, heartbeat=1e6) as (reader, call, task, _):
        for n in range(10):
            move_clock(90.0)
            await said(reader, call, f"<{n}>")
        for _ in range(5):
            move_clock(90.0)
            call.say(b"\n")
            for _ in range(20):
                await turn()
            assert not task.done()
        move_clock(60.0)
        call.say(b"\n")
        await call.gone()
    assert reader.of(p.Issue)[0].error.code == "quiet_timeout"


@live
async def test_after_the_finish_reason_five_seconds_are_left_whatever_is_said():
    async with reading() as (reader, call, task, _):
        await said(reader, call, "b")
        call.say(line(stopped="ok"))
        for n in range(4):
            call.say(line(text=f"<{n}>"))
            await reader.hears(p.Text(f"<{n}>"))
            assert not task.done()
            move_clock(1.0)
        move_clock(1.5)
        call.say(line(text="late"))
        await call.gone()
    assert "".join(one.text for one in reader.short) == "b"
    assert reader.end.stop == "ok"


@live
async def test_there_is_no_heartbeat_while_words_pass_and_one_after_each_silence():
    async with reading(heartbeat=10.0) as (reader, call, _, _):
        for n in range(10):
            move_clock(9.0)
            await said(reader, call, f"<{n}>")
        assert not reader.of(p.Heartbeat)
        for beats in (1, 2, 3):
            move_clock(10.1)
            await reader.until(lambda heard, beats=beats: heard.count(p.Heartbeat()) == beats)
            assert len(reader.of(p.Heartbeat)) == beats
        await said(reader, call, "b")
        call.say(STOP, end=True)


@live
async def test_who_leaves_while_words_pass_closes_the_vendors_line():
    async with live_vendor() as vendor, open_client() as http:
        reader = Reader()
        source = batches(tiny_dispatch(vendor.url), http, options(), reader.listener, reader.lane)
        task = asyncio.create_task(reader.read(source))
        call = await vendor.calls.get()
        call.begin(CHUNKED)
        await said(reader, call, "a", "b")
        task.cancel()
        call.say(line(text="c"))
        await call.gone()
        assert task.cancelled()
        assert reader.text == "ab"
        ((_, end, metrics),) = reader.listener.ends
        assert end == p.End("done-dispatch-aborted")
        # What passed was counted.
        assert metrics.source == "estimated"
        assert metrics.tokens_out


@pytest.mark.parametrize("word", ["word", "w\u00f6rter", "\u8a5e\U0001f600"])
@live
async def test_what_a_run_used_is_the_same_whichever_way_its_words_went(word):
    counted = []
    for has_room in (True, False):
        async with reading() as (reader, call, _, _):
            reader.has_room = has_room
            await said(reader, call, *[f"{word}{n}" for n in range(30)])
            call.reset()
        ((_, _, metrics),) = reader.listener.ends
        counted.append((metrics.tokens_out, len(reader.short)))
    size = len(b"a") + sum(len(f"{word}{n}".encode()) for n in range(30))
    assert counted == [(-(-size // 4), 30), (-(-size // 4), 0)]


@live
async def test_a_parser_that_holds_text_back_wakes_nobody():
    class Holding(TinyParser):
        def parse(self, event, out):
            if b"hold" not in event.data.encode():
                super().parse(event, out)

    async with reading(dispatch={"parser": Holding}) as (reader, call, _, _):
        call.say(line(hold=1))
        await said(reader, call, "b")
        call.say(STOP, end=True)
    assert reader.text == "ab"
