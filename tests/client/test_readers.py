"""Readers of every temper: slow ones, failing ones, those that leave, those that never come."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import AsyncIterator
from random import Random

import pytest

from fakes.particle_gateway import Line, ParticleGateway, Run
from motes import particles as p
from motes.client import AsyncClient, Client, Patience
from motes.client.backlog import Backlog
from motes.client.stream import Stream

OK = p.End("done-dialect", "ok")
BURST = 100_000
WHOLE = "".join(f"w{number} " for number in range(BURST))
STALLS = Patience(idle_s=30.0, attempts=0)


class Sour(Exception):
    """What a reader raises."""


def burst() -> Run:
    return Run([*(p.Text(f"w{number} ") for number in range(BURST)), OK], is_kept=False)


@pytest.fixture
async def gateway() -> AsyncIterator[ParticleGateway]:
    async with ParticleGateway().listening() as running:
        yield running


@pytest.fixture
async def client(gateway: ParticleGateway) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(gateway.base_url, "k", model="r", patience=STALLS) as opened:
        yield opened


async def test_a_burst_is_complete_and_in_order(gateway: ParticleGateway, client: AsyncClient) -> None:
    gateway.runs["r"] = burst()
    assert "".join([text async for text in client.stream("Hi").text]) == WHOLE


async def test_a_slow_reader_gets_all_of_it_in_larger_pieces(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = burst()
    async with client.stream("Hi") as stream:
        came: list[p.Particle] = []
        async for particle in stream:
            came.append(particle)
            if len(came) == 1:
                await stream.result()  # the loop goes on, and waits for nobody
        assert stream.message.text == WHOLE
    assert "".join(one.text for one in came if isinstance(one, p.Text)) == WHOLE
    assert [type(one) for one in came].count(p.End) == 1
    assert len(came) < 2_000


async def test_the_wait_of_a_slow_reader_costs_no_more_than_the_answer() -> None:
    def held(keep: bool) -> int:
        gc.collect()
        tracemalloc.start()
        backlog = Backlog()
        for number in range(BURST):
            particle = p.Text(f"word {number} ")
            if keep:
                backlog.put(particle)
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(backlog) < 2_000
        return size

    assert held(True) < 3 * sum(len(f"word {number} ") for number in range(BURST))


async def test_an_answer_that_nobody_reads_is_a_message_all_the_same(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = burst()
    assert (await client.generate("Hi")).text == WHOLE
    async with client.stream("Hi") as stream:
        assert (await stream.result()).text == WHOLE


async def test_a_reader_that_fails_keeps_its_error_and_the_message_what_came(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = Run([p.Text("a"), p.Text("b"), OK], [Line(2, "stall")])
    stream = client.stream("Hi")
    with pytest.raises(Sour):
        await fail(stream)
    await gateway.all_gone()
    assert (stream.message.outcome, stream.message.text) == ("aborted", "ab")


async def fail(stream: Stream) -> None:
    async with stream:
        async for particle in stream:
            if isinstance(particle, p.Text) and particle.text == "b":
                raise Sour


async def test_a_reader_that_leaves_the_line_of_text_closes_it(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = Run([p.Text("a"), p.Text("b"), OK], [Line(2, "stall")])
    async for text in client.stream("Hi").text:
        if text == "b":
            break
    await gateway.all_gone()


async def test_lines_that_are_left_at_any_moment_leave_nothing_open(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    dice = Random(7)
    for _ in range(60):
        gateway.runs["r"] = Run([*(p.Text("a") for _ in range(30)), OK], [Line(dice.randrange(30), "stall")])
        stream = client.stream("Hi")
        stream.begin()
        await asyncio.sleep(dice.random() * 0.01)
        assert (await stream.abort()).outcome == "aborted"
    await gateway.all_gone()
    gateway.runs["r"] = Run([p.Text("a"), OK])
    assert (await client.generate("Hi")).outcome == "completed"


async def test_a_stream_that_was_given_up_before_it_began_asks_nothing(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    message = await client.stream("Hi").abort()
    assert (message.outcome, gateway.bodies) == ("aborted", [])


async def test_heartbeats_keep_a_silent_line_and_their_absence_ends_it(gateway: ParticleGateway) -> None:
    quick = Patience(idle_s=0.6, attempts=0)
    async with AsyncClient(gateway.base_url, "k", model="r", patience=quick) as client:
        gateway.runs["r"] = Run([p.Text("a"), *[p.Heartbeat()] * 20, OK], is_kept=False, pause=0.05)
        began = time.monotonic()
        assert (await client.generate("Hi")).outcome == "completed"
        assert time.monotonic() - began > 0.6
        gateway.runs["r"] = Run([p.Text("a"), OK], [Line(1, "stall")], is_kept=False)
        message = await client.generate("Hi")
        assert message.error is not None
        assert (message.error.code, message.text) == ("idle_timeout", "a")


async def test_one_of_several_that_stalls_holds_nobody_up(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    said = [p.Text("a"), p.Text("b"), OK]
    gateway.runs |= {
        "slow": Run(said, [Line(1, "stall")]),
        "bad": Run(said, [Line(1, "close")], is_kept=False),
    }
    gateway.runs["good"] = Run(said)
    async with client.scatter("Hi", ["slow", "bad", "good"]) as scatter:
        ended: list[int] = []
        async for index, particle in scatter:
            if isinstance(particle, p.End):
                ended.append(index)
            if len(ended) == 2:
                break
        assert sorted(ended) == [1, 2]
    assert [m.outcome for m in scatter.messages] == ["aborted", "failed", "completed"]
    assert [m.text for m in scatter.messages] == ["a", "a", "ab"]
    await gateway.all_gone()


async def test_a_blocking_reader_that_leaves_closes_its_line(gateway: ParticleGateway) -> None:
    gateway.runs["r"] = Run([p.Text("a"), p.Text("b"), OK], [Line(2, "stall")])

    def read() -> str:
        with Client(gateway.base_url, "k", model="r") as client, client.stream("Hi") as stream:
            for text in stream.text:
                if text == "b":
                    break
            return stream.abort().outcome or ""

    assert await asyncio.to_thread(read) == "aborted"
    await gateway.all_gone()
