"""An answer that is remembered: when it is asked for again, by whom, and what stands meanwhile."""

import asyncio
import gc

import pytest

from fakes.stores import Clock
from motes.errors import StoreError
from motes.remembered import GRACE_SECONDS, RETRY_SECONDS, Remembered


class Source:
    """Answers with how often it was asked."""

    def __init__(self):
        self.asked = 0
        self.fails = False
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self):
        self.asked += 1
        number = self.asked
        self.entered.set()
        await self.gate.wait()
        if self.fails:
            raise StoreError("told")
        return number


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def source():
    return Source()


@pytest.fixture
async def remembered(source, clock):
    return Remembered(source, 60, clock, "number")


async def test_it_is_asked_once_until_it_is_too_old(remembered, clock):
    assert await remembered.get() == 1
    clock.at += 59.9
    assert await remembered.get() == 1
    clock.at += 0.1
    assert await remembered.get() == 2


async def test_its_age_counts_from_the_question_not_from_the_answer(remembered, source, clock):
    source.gate.clear()
    asking = asyncio.create_task(remembered.get())
    await source.entered.wait()
    clock.at += 50
    source.gate.set()
    assert await asking == 1
    clock.at += 10
    assert await remembered.get() == 2


async def test_all_who_ask_at_once_share_one_question(remembered, source):
    assert await asyncio.gather(*[remembered.get() for _ in range(64)]) == [1] * 64
    assert source.asked == 1


async def test_one_who_leaves_does_not_take_the_question_away(remembered, source):
    source.gate.clear()
    first, second = (asyncio.create_task(remembered.get()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    source.gate.set()
    assert await second == 1


async def test_who_begins_does_not_wait_and_knows_what_was_known(remembered, source, clock):
    await remembered.get()
    clock.at += 100
    source.gate.clear()
    remembered.begin()
    assert remembered.known.value == 1
    source.gate.set()
    assert await remembered.get() == 2
    remembered.begin()
    assert source.asked == 2


async def test_it_is_renewed_from_half_its_age_on(remembered, source, clock):
    await remembered.renew()
    assert source.asked == 0
    await remembered.get()
    clock.at += 29.9
    await remembered.renew()
    assert source.asked == 1
    clock.at += 0.1
    await remembered.renew()
    assert source.asked == 2
    clock.at += 59
    assert await remembered.get() == 2


async def test_a_clock_that_was_set_back_makes_it_too_old(remembered, clock):
    await remembered.get()
    clock.at -= 1
    assert await remembered.get() == 2


async def test_while_the_source_fails_what_was_known_stands_and_it_is_left_alone(
    remembered, source, clock, caplog
):
    await remembered.get()
    source.fails = True
    clock.at += 60
    assert await remembered.get() == 1
    assert "not_renewed what=number" in caplog.text
    assert await remembered.get() == 1
    assert source.asked == 2
    clock.at += RETRY_SECONDS
    assert await remembered.get() == 1
    assert source.asked == 3
    source.fails = False
    clock.at += RETRY_SECONDS
    assert await remembered.get() == 4


async def test_what_was_known_does_not_stand_for_ever(remembered, source, clock):
    await remembered.get()
    source.fails = True
    clock.at += GRACE_SECONDS
    with pytest.raises(StoreError):
        await remembered.get()


async def test_without_anything_known_a_failure_is_told_and_the_next_one_asks_again(remembered, source):
    source.fails = True
    with pytest.raises(StoreError):
        await remembered.get()
    source.fails = False
    assert await remembered.get() == 2


async def test_a_failure_nobody_waited_for_is_no_surprise(remembered, source):
    told = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    source.fails = True
    remembered.begin()
    await remembered.renew()
    for _ in range(3):
        await asyncio.sleep(0)
    gc.collect()
    assert told == []
    assert source.asked == 1


async def test_what_is_remembered_is_not_shown(source, clock):
    async def secret():
        return "sk-very-secret"

    remembered = Remembered(secret, 60, clock, "secret")
    await remembered.get()
    assert "very" not in repr(remembered.known)
