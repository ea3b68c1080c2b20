"""Work that goes on as long as its client is there: who ends it, and that nobody else is ended with it."""

import asyncio

import pytest

from motes.api.streaming import while_present

GONE = {"type": "http.disconnect"}


class Connection:
    """A client that says nothing, until it leaves or the answer is complete (uvicorn tells both alike)."""

    departure = None

    def __init__(self):
        self.is_over = asyncio.Event()

    async def receive(self):
        await self.is_over.wait()
        return GONE


class Told:
    """The same at a server that says so by itself, and is not asked."""

    def __init__(self):
        self.departure = asyncio.get_running_loop().create_future()
        self.is_over = self

    async def receive(self):
        raise AssertionError("the server was asked")

    def set(self):
        if not self.departure.done():
            self.departure.set_result(None)


both = pytest.mark.parametrize("kind", [Connection, Told])


class Work:
    """Goes on until it may end, and notes its end."""

    def __init__(self):
        self.has_begun, self.may_end, self.is_ending = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.said = []

    async def __call__(self):
        try:
            self.has_begun.set()
            await self.may_end.wait()
            self.said.append("done")
            self.is_ending.set()
        finally:
            await asyncio.sleep(0)
            self.said.append("closed")


@both
async def test_work_that_is_done_is_not_waited_on_and_its_client_is_asked_no_more(kind):
    connection, work = kind(), Work()
    work.may_end.set()
    await while_present(connection.receive, work(), "r", connection.departure)
    assert work.said == ["done", "closed"]
    assert not asyncio.current_task().cancelling()


@both
async def test_a_client_that_leaves_ends_the_work_which_is_closed_by_then(kind, caplog):
    connection, work = kind(), Work()
    asyncio.get_running_loop().call_soon(connection.is_over.set)
    caplog.set_level("INFO")
    await while_present(connection.receive, work(), "r", connection.departure)
    assert work.said == ["closed"]
    assert "client_gone request_id=r" in caplog.text


@both
async def test_the_work_of_a_client_that_left_at_once_has_begun(kind):
    connection, work = kind(), Work()
    connection.is_over.set()
    await while_present(connection.receive, work(), "r", connection.departure)
    assert work.has_begun.is_set()
    assert work.said == ["closed"]


@both
@pytest.mark.parametrize("is_told_first", [True, False])
async def test_an_end_that_is_told_from_both_sides_at_once_cancels_nothing_that_follows(
    caplog, is_told_first, kind
):
    connection = kind()

    async def work():
        if is_told_first:
            # As uvicorn does with the last byte.
            connection.is_over.set()
        else:
            asyncio.get_running_loop().call_soon(connection.is_over.set)

    caplog.set_level("INFO")
    await while_present(connection.receive, work(), "r", connection.departure)
    for _ in range(5):
        await asyncio.sleep(0)
    assert "client_gone" not in caplog.text


@both
async def test_what_the_work_raises_is_raised(kind):
    async def work():
        raise LookupError("no")

    connection = kind()
    with pytest.raises(LookupError):
        await while_present(connection.receive, work(), "r", connection.departure)


async def test_a_server_that_fails_to_listen_ends_the_work():
    work = Work()

    async def receive():
        await work.has_begun.wait()
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await while_present(receive, work(), "r")
    assert work.said == ["closed"]


@both
@pytest.mark.parametrize("is_done", [False, True])
async def test_who_cancels_the_request_cancels_the_work_and_the_request(is_done, caplog, kind):
    connection, work = kind(), Work()
    request = asyncio.create_task(while_present(connection.receive, work(), "r", connection.departure))
    await work.has_begun.wait()
    if is_done:
        work.may_end.set()
        await work.is_ending.wait()
    caplog.set_level("INFO")
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert work.said[-1] == "closed"
    assert "client_gone" not in caplog.text
