"""The layers in a row: one `End`, times, closing, and what the observer hears."""

import asyncio
import gc
import itertools
import random
from contextlib import aclosing

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Listener, Upstream, line, tiny_dispatch
from fakes.tiny_runs import options, said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.executor.pipeline import run


@in_virtual_time
async def test_metrics_carry_the_times_of_the_whole_run():
    moves = [line(text="a"), 3.0, line(usage={"tokens_out": 2}), line(stop="ok")]
    said = await said_by(Upstream(Answer([2.0, *moves], lead=1.0)))
    metrics = said.of(p.Metrics)[-1]
    assert (metrics.start_ms, metrics.inner_ms, metrics.all_ms) == (3000, 3000, 6000)
    assert metrics.tokens_out == 2


@in_virtual_time
async def test_metrics_that_came_early_are_repeated_with_the_final_times():
    moves = [line(usage={"tokens_in": 9}), 1.0, line(text="a"), 4.0, line(stop="ok")]
    said = await said_by(Upstream(Answer(moves)))
    early, late = said.of(p.Metrics)
    assert (early.start_ms, early.all_ms) == (None, 0)
    assert (late.tokens_in, late.start_ms, late.inner_ms, late.all_ms) == (9, 1000, 4000, 5000)
    assert said.all[-2] is late


@in_virtual_time
async def test_the_observer_hears_of_a_failure_and_of_the_end_once():
    said = await said_by(Upstream(Answer([], status=401)))
    assert said.heard.issues == [said.issue]
    assert [end for _, end, _ in said.heard.ends] == [said.end]


@in_virtual_time
async def test_a_reader_that_leaves_closes_the_upstream_and_is_an_abort():
    upstream, heard = Upstream(Answer([line(text="a"), 1000.0])), Listener()
    async with upstream.client() as http:
        async with aclosing(run(tiny_dispatch(), http, options(), heard)) as particles:
            assert await anext(particles) == p.Text("a")
        assert upstream.bodies[0].closed
    assert [end.reason for _, end, _ in heard.ends] == ["done-dispatch-aborted"]


@pytest.mark.parametrize("after", [0.5, 12.0, 40.0])
def test_cancelling_closes_the_upstream_wherever_the_run_stands(after):
    answers = (
        Answer([], status=429, headers={"retry-after": "20"}),
        Answer([line(text="a"), 1000.0], lead=10.0),
    )

    @in_virtual_time
    async def cancelled():
        upstream, heard = Upstream(*answers), Listener()

        async def read():
            async for _ in run(tiny_dispatch(), http, options(deadline=None), heard):
                pass

        async with upstream.client() as http:
            task = asyncio.create_task(read())
            await asyncio.sleep(after)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert all(body.closed for body in upstream.bodies)
            assert len(asyncio.all_tasks()) == 1
        assert [end.reason for _, end, _ in heard.ends] == ["done-dispatch-aborted"]

    cancelled()


@in_virtual_time
async def test_a_run_that_was_never_read_costs_nothing():
    upstream = Upstream(Answer(GOOD))
    async with upstream.client() as http:
        source = run(tiny_dispatch(), http)
        await source.aclose()
    gc.collect()
    assert not upstream.requests


@in_virtual_time
async def test_many_runs_share_one_client_and_do_not_meet():
    upstream = Upstream(Answer(GOOD))
    all_said = await asyncio.gather(*(said_by(upstream) for _ in range(20)))
    assert [said.text for said in all_said] == ["Hello"] * 20


def _random_upstream(dice):
    """Anything an upstream may do, in any order."""
    pieces = [
        b"",
        b"\xff\xfe",
        b"junk\n",
        b"[]\n",
        line(text="a"),
        line(text="b")[:-4],
        line(model="t-1", id="r"),
        line(error={"type": "overloaded_error"}),
        line(error="no"),
        line(pause={"x": 1}),
        line(usage={"tokens_in": 1}),
        line(call="f"),
        line(stop="ok"),
        line(boom="bug"),
    ]
    failures = [httpx.ReadError("reset"), httpx.RemoteProtocolError("junk"), httpx.ConnectError("refused")]

    def move():
        kind = dice.random()
        if kind < 0.3:
            return dice.choice([0.0, 1.0, 9.0, 45.0, 130.0])
        return dice.choice(failures) if kind > 0.95 else dice.choice(pieces)

    def answer():
        if dice.random() < 0.1:
            return dice.choice(failures)
        status = dice.choice([200] * 8 + [204, 302, 401, 429, 503, 529])
        headers = dice.choice([{}, {"retry-after": "3"}, {"retry-after": "70"}, {"content-encoding": "gzip"}])
        return Answer([move() for _ in range(dice.randrange(9))], status, headers, dice.choice([0.0, 20.0]))

    return Upstream(*(answer() for _ in range(6)))


@pytest.mark.parametrize("seed", range(150))
def test_whatever_an_upstream_does_there_is_one_end_and_no_long_silence(seed):
    @in_virtual_time
    async def happens():
        dice = random.Random(seed)
        upstream = _random_upstream(dice)
        said = await said_by(upstream, deadline=dice.choice([50.0, 280.0, 2000.0]))
        assert said.end
        assert len(said.of(p.Issue)) == (said.end.reason != "done-dialect")
        times = [0.0, *said.at(object)]
        assert max(b - a for a, b in itertools.pairwise(times)) <= 10.001
        assert all(body.closed for body in upstream.bodies)
        assert len(said.heard.ends) == 1
        await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) == 1

    happens()
