"""A tape is read by whoever wants to, as far as he is; silence is told after its time, and a page does not wait for ever."""

import asyncio

import pytest

from motes import particles as p
from motes.runs.tape import Tape

TICK = 0.05


async def silences(tape, watch, until):
    """When the watch said that there is nothing."""
    loop, found = asyncio.get_running_loop(), []
    while loop.time() < until:
        if not await watch.stirred():
            found.append(loop.time())
    return found


async def test_silence_is_told_a_tick_after_the_latest_piece_and_again():
    tape, loop = Tape(), asyncio.get_running_loop()
    watch, begun = tape.watch(TICK), loop.time()
    reading = asyncio.create_task(silences(tape, watch, begun + 7 * TICK))
    for _ in range(8):
        await asyncio.sleep(TICK / 2)
        tape.add([p.Text("a")])
    latest = loop.time()
    found = await reading
    watch.close()
    later = [at for at in found if at > latest]
    assert later[0] - latest >= TICK * 0.9
    assert len(later) >= 2


async def test_a_reader_who_is_gone_leaves_nothing_behind():
    tape = Tape()
    for _ in range(3):
        watch = tape.watch(60)
        reading = asyncio.create_task(silences(tape, watch, float("inf")))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
        watch.close()
    waiting = asyncio.create_task(tape.has_more(0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert not tape._waiting
    tape.add([p.Heartbeat()])
    assert (tape.last, await asyncio.wait_for(Tape(5).has_more(3), 1)) == (0, True)


@pytest.mark.parametrize("last", [p.Text("x" * 50), p.ToolCallArguments("x" * 50)])
async def test_a_page_waits_for_its_size_the_end_or_its_time(last):
    tape = Tape()
    waiting = asyncio.create_task(tape.filled(100, 60))
    for _ in range(3):
        tape.add([p.Text("a")])
        await asyncio.sleep(0)
    assert not waiting.done()
    tape.add([p.Text("a"), last])
    await asyncio.wait_for(waiting, 1)

    waiting = asyncio.create_task(tape.filled(10_000, 60))
    await asyncio.sleep(0)
    tape.close()
    await asyncio.wait_for(waiting, 1)
    assert not await tape.has_more(tape.last)
    await asyncio.wait_for(Tape().filled(100, 0.01), 1)
