"""What stands for an event and a queue of the standard library behaves as they do."""

import asyncio
from collections import deque

import pytest

from motes.hosts.light_event import LightEvent, LightQueue


@pytest.fixture(params=[asyncio.Event, LightEvent])
def event(request):
    return request.param()


async def begun(*work):
    """Tasks that have come to where they wait."""
    tasks = [asyncio.create_task(one) for one in work]
    await asyncio.sleep(0)
    return tasks


async def test_all_who_wait_go_on_when_it_is_set_and_not_before(event):
    tasks = await begun(event.wait(), event.wait())
    await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    assert not event.is_set()
    event.set()
    event.set()
    assert await asyncio.gather(*tasks) == [True, True]


async def test_who_waits_when_it_is_set_goes_on_at_once(event):
    event.set()
    (task,) = await begun(event.wait())
    assert task.done()
    assert event.is_set()


async def test_who_was_woken_goes_on_though_it_is_cleared_in_the_same_turn(event):
    (first,) = await begun(event.wait())
    event.set()
    event.clear()
    (second,) = await begun(event.wait())
    assert await first
    assert not second.done()
    event.set()
    assert await second


async def test_who_was_cancelled_holds_nobody_up(event):
    first, second = await begun(event.wait(), event.wait())
    first.cancel()
    event.set()
    assert await second
    with pytest.raises(asyncio.CancelledError):
        await first


def test_it_may_be_set_from_its_beginning():
    assert LightEvent(is_set=True).is_set()


def test_the_queue_gives_what_came_first():
    queues = deque(), LightQueue()
    for queue in queues:
        assert not queue
        queue.appendleft(1)
        queue.appendleft(2)
        queue.appendleft(3)
    assert [[queue.pop() for _ in range(3)] for queue in queues] == [[1, 2, 3]] * 2
