"""What is done after the last byte: after it, every time, and never for long."""

import asyncio

import pytest

from fakes.virtual_time import in_virtual_time
from motes.api.afterwards import Afterwards

HTTP = {"type": "http"}


def told_app(told, failure=None):
    async def app(scope, receive, send):
        told.append("app")
        if failure is not None:
            raise failure
        await send({"type": "http.response.body", "body": b"last", "more_body": False})
        told.append("app left")

    return app


async def call(wrapped, told, scope=HTTP):
    async def send(message):
        told.append(message["body"])

    await wrapped(scope, None, send)


@in_virtual_time
async def test_the_last_byte_is_out_before_anything_is_done():
    told = []

    async def chore():
        told.append("chore")

    await call(Afterwards(told_app(told), [chore, chore]), told)
    assert told == ["app", b"last", "app left", "chore", "chore"]


@in_virtual_time
async def test_a_start_of_the_app_is_no_request():
    told = []

    async def chore():
        told.append("chore")

    await call(Afterwards(told_app(told), [chore]), told, {"type": "lifespan"})
    assert "chore" not in told


@in_virtual_time
async def test_chores_are_done_at_once_and_none_for_long(caplog):
    told, start = [], asyncio.get_running_loop().time()

    async def quick():
        await asyncio.sleep(1)
        told.append("quick")

    async def endless():
        await asyncio.Event().wait()

    async def also():
        await asyncio.sleep(1)
        told.append("also")

    await call(Afterwards(told_app(told), [quick, endless, also]), told)
    assert told[-2:] == ["quick", "also"]
    assert asyncio.get_running_loop().time() - start == 1.5
    assert "afterwards_too_slow" in caplog.text


@in_virtual_time
async def test_a_request_that_failed_leaves_them_to_the_next():
    told = []

    async def chore():
        told.append("chore")

    with pytest.raises(ZeroDivisionError):
        await call(Afterwards(told_app(told, ZeroDivisionError()), [chore]), told)
    assert told == ["app"]
