"""A reader never waits longer than the interval for a sign of life."""

import asyncio
from contextlib import aclosing

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Upstream, line
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.executor.heartbeat import Heartbeats
from motes.executor.own_task import in_own_task
from motes.executor.run import Pulse


async def with_heartbeats(source, every):
    """The source in a task of its own, one particle a batch, and what is added to it."""
    clock, pulse = asyncio.get_running_loop().time, Pulse()
    heartbeats = Heartbeats(pulse, every, None, clock())

    async def batches():
        async with aclosing(source):
            async for particle in source:
                yield [particle]

    async with aclosing(in_own_task(batches(), pulse)) as line:
        async for batch in line:
            for particle in heartbeats.added(batch, clock()):
                yield particle


async def scripted(*moves):
    for move in moves:
        if isinstance(move, int | float):
            await asyncio.sleep(move)
        elif isinstance(move, Exception):
            raise move
        else:
            yield move


async def timed(source):
    start = asyncio.get_running_loop().time()
    async with aclosing(source):
        return [(asyncio.get_running_loop().time() - start, particle) async for particle in source]


@in_virtual_time
async def test_heartbeats_fill_every_silence():
    said = await timed(with_heartbeats(scripted(25.0, p.Text("a"), 21.0, p.Text("b")), 10.0))
    beats = [at for at, particle in said if particle == p.Heartbeat()]
    assert beats == pytest.approx([10.0, 20.0, 35.0, 45.0])


@in_virtual_time
async def test_there_is_no_heartbeat_while_something_is_shown():
    moves = [move for _ in range(20) for move in (9.9, p.Text("x"))]
    said = await timed(with_heartbeats(scripted(*moves), 10.0))
    assert [particle for _, particle in said] == [p.Text("x")] * 20


@in_virtual_time
async def test_argument_text_is_something_shown_and_control_particles_are_not():
    arguments = [move for _ in range(8) for move in (5.0, p.ToolCallArguments("1"))]
    assert p.Heartbeat() not in [x for _, x in await timed(with_heartbeats(scripted(*arguments), 10.0))]
    control = [move for _ in range(8) for move in (5.0, p.Warn("w", "c"), p.Text(""))]
    said = await timed(with_heartbeats(scripted(*control), 10.0))
    assert len([x for _, x in said if x == p.Heartbeat()]) >= 3


@in_virtual_time
async def test_order_is_kept_and_nothing_is_lost_under_a_flood():
    flood = [p.Text(str(n)) for n in range(5000)]
    said = await timed(with_heartbeats(scripted(*flood), 10.0))
    assert [particle for _, particle in said] == flood


@in_virtual_time
async def test_a_slow_reader_slows_the_source_down():
    given = 0

    async def endless():
        nonlocal given
        while True:
            given += 1
            yield p.Text("x")

    async with aclosing(with_heartbeats(endless(), 10.0)) as source:
        for _ in range(3):
            await anext(source)
            await asyncio.sleep(100)
    assert given < 1000


@in_virtual_time
async def test_a_slow_reader_keeps_few_large_particles_waiting():
    given = 0

    async def endless():
        nonlocal given
        while True:
            given += 1
            yield p.Image("image/png", "x" * 1_500_000)

    async with aclosing(with_heartbeats(endless(), 10.0)) as source:
        for _ in range(10):
            await anext(source)
            await asyncio.sleep(100)
    assert given <= 14


@in_virtual_time
async def test_a_source_that_fails_fails_here_after_what_it_gave():
    seen = []

    async def read():
        async for particle in with_heartbeats(scripted(p.Text("a"), ZeroDivisionError()), 10.0):
            seen.append(particle)

    with pytest.raises(ZeroDivisionError):
        await read()
    assert seen == [p.Text("a")]


@in_virtual_time
async def test_closing_closes_the_source():
    closed = []

    async def source():
        try:
            yield p.Text("a")
            await asyncio.sleep(1000)
        finally:
            closed.append(asyncio.get_running_loop().time())

    start = asyncio.get_running_loop().time()
    async with aclosing(with_heartbeats(source(), 10.0)) as particles:
        await anext(particles)
    assert closed == [start]
    assert len(asyncio.all_tasks()) == 1


@in_virtual_time
async def test_a_silent_upstream_is_covered_from_the_very_start():
    said = await said_by(Upstream(Answer([31.0, *GOOD], lead=31.0)))
    assert said.at(p.Heartbeat) == pytest.approx([10.0, 20.0, 30.0, 40.0, 50.0, 60.0])


@in_virtual_time
async def test_backing_off_is_covered():
    upstream = Upstream(Answer([], status=429, headers={"retry-after": "35"}), Answer(GOOD))
    said = await said_by(upstream)
    assert len(said.of(p.Heartbeat)) == 3
    assert said.end.stop == "ok"


@in_virtual_time
async def test_a_vendor_that_only_sends_comments_is_covered():
    pings = [move for _ in range(12) for move in (b"\n", 5.0)]
    said = await said_by(Upstream(Answer([*pings, *GOOD])))
    assert len([at for at in said.at(p.Heartbeat) if at <= 60]) >= 5


@in_virtual_time
async def test_the_interval_is_a_setting():
    said = await said_by(Upstream(Answer([line(text="a"), 3.5, line(stop="ok")])), heartbeat=1.0)
    assert said.at(p.Heartbeat) == pytest.approx([1.0, 2.0, 3.0])


@in_virtual_time
async def test_a_hanging_connection_is_covered():
    class Hanging(Upstream):
        async def _handle(self, request):
            await asyncio.sleep(10)
            raise httpx.ConnectTimeout("no")

    said = await said_by(Hanging())
    gaps = [b - a for a, b in zip([0.0, *said.at(object)], said.at(object), strict=False)]
    assert max(gaps) <= 10.001
