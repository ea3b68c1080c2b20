"""A question beside a run that is given up at any moment, or comes too late, leaves no socket behind."""

import asyncio
import random
import ssl
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from motes import particles as p
from motes.dispatch import Errand, UpstreamRequest
from motes.engine.transport import Transport
from motes.executor.connection import open_client
from motes.executor.fetch import FetchFailed, fetch
from motes.executor.links import LinkResolving

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n"
REDIRECT = b"HTTP/1.1 302 Found\r\nlocation: https://x.example/\r\ncontent-length: 0\r\n\r\n"
LINK = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


async def silent(reader, _):
    await reader.read()


async def silent_in_the_middle(reader, writer):
    writer.write(HEAD + b"x" * 100)
    await reader.read()


async def in_pieces(_, writer):
    writer.write(HEAD)
    for _ in range(40):
        writer.write(b"x" * 1000)
        await asyncio.sleep(0)


async def elsewhere(_, writer):
    writer.write(REDIRECT)


class Local(httpx.AsyncBaseTransport):
    """Leads every request to one server of this machine, over the engine."""

    def __init__(self, port):
        self.port = port
        self.engine = Transport(ssl.create_default_context, trust_env=False)

    async def handle_async_request(self, request):
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self.port)
        return await self.engine.handle_async_request(request)

    async def aclose(self):
        await self.engine.aclose()


@asynccontextmanager
async def served(answer):
    """A client whose every request goes to one server, and the connections that are open at its side."""
    is_open = set()

    async def serve(reader, writer):
        is_open.add(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            is_open.discard(writer)
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000) as listener:
        local = Local(listener.sockets[0].getsockname()[1])
        async with open_client(transport=local) as http:
            yield http, is_open, local.engine.pool


async def file(http, seconds):
    request = UpstreamRequest(method="GET", url="http://tiny.invalid/file", headers={})
    with suppress(FetchFailed):
        return await fetch(http, Errand(request=request), limit=50_000, seconds=seconds)


async def too_large_a_file(http, seconds):
    request = UpstreamRequest(method="GET", url="http://tiny.invalid/file", headers={})
    with suppress(FetchFailed):
        await fetch(http, Errand(request=request), limit=50, seconds=seconds)


async def link(http, seconds):
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await LinkResolving(http)(p.Citation("t", LINK))


async def nothing_is_left(is_open, pool):
    """Within a second; a connection that is idle in the pool is not lost."""
    for _ in range(100):
        idle = [connection for connection in pool.connections if connection.is_idle()]
        if len(idle) == len(pool.connections) == len(is_open):
            return
        await asyncio.sleep(0.01)
    raise AssertionError((len(idle), len(pool.connections), len(is_open)))


QUESTIONS = [
    (file, in_pieces),
    (file, silent),
    (file, silent_in_the_middle),
    (too_large_a_file, in_pieces),
    (link, elsewhere),
    (link, silent),
]


@pytest.mark.parametrize(("ask", "answer"), QUESTIONS)
async def test_given_up_at_any_turn_of_the_loop_it_leaves_nothing(ask, answer):
    async with served(answer) as (http, is_open, pool):
        for turns in range(60):
            tasks = [asyncio.create_task(ask(http, 5)) for _ in range(3)]
            for _ in range(turns):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        await nothing_is_left(is_open, pool)


@pytest.mark.parametrize(("ask", "answer"), QUESTIONS)
async def test_out_of_time_and_given_up_at_random_moments_it_leaves_nothing(ask, answer):
    moments = random.Random(7)
    async with served(answer) as (http, is_open, pool):
        loop = asyncio.get_running_loop()
        tasks = [asyncio.create_task(ask(http, moments.uniform(0, 0.05))) for _ in range(120)]
        for task in tasks[::2]:
            loop.call_later(moments.uniform(0, 0.05), task.cancel)
        await asyncio.wait(tasks)
        await nothing_is_left(is_open, pool)


async def test_answered_in_time_it_leaves_its_connection_to_the_next():
    async with served(in_pieces) as (http, is_open, pool):
        for _ in range(5):
            assert len((await file(http, 5)).body) == 40_000
        assert len(pool.connections) == 1
        await nothing_is_left(is_open, pool)


async def test_a_link_is_answered_by_the_server_of_this_machine():
    async with served(elsewhere) as (http, is_open, pool):
        (source,) = await link(http, 5)
        assert source.url == "https://x.example/"
        await nothing_is_left(is_open, pool)
