"""Whatever ends a run, its socket is closed or waits in the pool, and the pool remembers no request."""

import asyncio
from contextlib import aclosing, asynccontextmanager

import pytest

from fakes.tiny import GOOD, line, tiny_dispatch
from fakes.tiny_runs import options
from motes.executor.connection import open_client
from motes.executor.pipeline import run
from motes.executor.policy import Backoff, Policy
from motes.vendors.vendor import Timeouts

ONCE = Policy(http=Backoff(1, 0.01), connection=Backoff(1, 0.01))
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Server:
    """Counts the connections that are open at this side."""

    def __init__(self, answer):
        self.answer = answer
        self.open = 0
        self.url = ""

    async def serve(self, reader, writer):
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                await self.answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def served(answer):
    server = Server(answer)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    async with listener:
        yield server


async def good(_, writer):
    writer.write(HEAD + chunk(b"".join(GOOD)))
    await writer.drain()
    writer.write(END)


async def silent(reader, _):
    await reader.read()


async def silent_in_the_middle(reader, writer):
    writer.write(HEAD + chunk(line(text="a")))
    await writer.drain()
    await reader.read()


async def flooding(_, writer):
    writer.write(HEAD)
    while not writer.is_closing():
        writer.write(chunk(line(text="x" * 10_000)))
        await writer.drain()


async def ask(url, http, each=None, **timeouts):
    dispatch = tiny_dispatch(url=url, timeouts=Timeouts(**timeouts))
    async with aclosing(run(dispatch, http, options(policy=ONCE))) as particles:
        last = None
        async for last in particles:  # noqa: B007 (the last one is wanted)
            if each is not None:
                await each()
    return last


async def nothing_is_left(server, http):
    """Within a second; a connection of the pool that is idle is not lost."""
    pool = http._transport.pool
    for _ in range(100):
        idle = [connection for connection in pool.connections if connection.is_idle()]
        if len(idle) == len(pool.connections) == server.open:
            return
        await asyncio.sleep(0.01)
    raise AssertionError((len(idle), len(pool.connections), server.open))


async def test_many_good_streams_at_once_leave_nothing():
    async with served(good) as server, open_client(trust_env=False) as http:
        for _ in range(2):
            ends = await asyncio.gather(*(ask(server.url, http) for _ in range(200)))
            assert {end.stop for end in ends} == {"ok"}
            await nothing_is_left(server, http)


@pytest.mark.parametrize("answer", [good, silent, silent_in_the_middle, flooding])
@pytest.mark.parametrize("is_warm", [False, True], ids=["new connections", "connections of the pool"])
async def test_readers_that_leave_at_any_turn_of_the_loop_leave_nothing(answer, is_warm):
    answers = {False: answer, True: good}
    cold = {"now": is_warm}

    async def serve(reader, writer):
        await answers[cold["now"]](reader, writer)

    async with served(serve) as server, open_client(trust_env=False) as http:
        if is_warm:
            await asyncio.gather(*(ask(server.url, http) for _ in range(30)))
            cold["now"] = False
        for turns in range(0, 90, 2):
            tasks = [asyncio.create_task(ask(server.url, http)) for _ in range(2)]
            for _ in range(turns):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        await nothing_is_left(server, http)


@pytest.mark.parametrize("answer", [silent, silent_in_the_middle])
async def test_timeouts_and_leaving_at_the_same_time_leave_nothing(answer):
    async with served(answer) as server, open_client(trust_env=False) as http:
        tasks = [
            asyncio.create_task(ask(server.url, http, first_byte=0.1 + n / 1000, idle=0.1 + n / 1000))
            for n in range(40)
        ]
        await asyncio.sleep(0.12)
        for task in tasks:
            task.cancel()
            task.cancel()
        await asyncio.wait(tasks)
        await nothing_is_left(server, http)


async def test_slow_readers_of_a_flood_that_leave_twice_over_leave_nothing():
    async def slowly():
        await asyncio.sleep(0.05)

    async with served(flooding) as server, open_client(trust_env=False) as http:
        tasks = [asyncio.create_task(ask(server.url, http, slowly, idle=0.02)) for _ in range(20)]
        await asyncio.sleep(0.3)
        for _ in range(3):
            for task in tasks:
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait(tasks)
        await nothing_is_left(server, http)
