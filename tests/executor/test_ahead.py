"""A request that is sent before its run is made: asked once, told whole, let go of, and never before its time."""

import asyncio
import socket
from contextlib import aclosing
from dataclasses import replace

import httpx
import pytest

from executor.test_leaks import END, HEAD, chunk, good, served
from fakes.tiny import GOOD, tiny_dispatch
from fakes.tiny_runs import options
from motes import particles as p
from motes.dispatch import Transforms
from motes.executor.connection import open_client
from motes.executor.exchange import sent_ahead
from motes.executor.pipeline import batches


class Silent:
    """A vendor that answers nothing, and knows who has come and who has gone."""

    def __init__(self):
        self.asked, self.left = asyncio.Event(), asyncio.Event()

    async def __call__(self, reader, _):
        self.asked.set()
        await reader.read()
        self.left.set()


async def told(dispatch, http, ahead, **changes):
    async with aclosing(batches(dispatch, http, options(**changes), ahead=ahead)) as source:
        return [particle async for batch in source for particle in batch]


async def test_it_is_asked_once_and_its_answer_is_the_runs():
    asked = asyncio.Queue()

    async def answer(_, writer):
        asked.put_nowait(None)
        writer.write(HEAD + chunk(b"".join(GOOD)) + END)

    async with served(answer) as server, open_client(trust_env=False) as http:
        dispatch = tiny_dispatch(url=server.url)
        without = await told(dispatch, http, None)
        # The first one over a connection that was used before, the others over new ones.
        several = [sent_ahead(dispatch, http, None) for _ in range(3)]
        for _ in range(4):
            await asked.get()
        # They were all asked before any run was begun.
        for ahead in several:
            said = await told(dispatch, http, ahead)
            assert [type(one) for one in said] == [type(one) for one in without]
            assert said[-1] == without[-1] == p.End("done-dialect", "ok")
        assert asked.empty()


@pytest.mark.parametrize("warnings", [(), ("a tool was left out",)])
async def test_who_leaves_before_the_answer_closes_the_connection(warnings):
    vendor = Silent()
    async with served(vendor) as server, open_client(trust_env=False) as http:
        dispatch = tiny_dispatch(url=server.url, warnings=warnings)
        source = batches(dispatch, http, options(heartbeat=0.01), ahead=sent_ahead(dispatch, http, None))
        # A warning comes before anything is read, a sign of life while it is waited for.
        assert [type(one) for one in await anext(source)] == [p.Warn if warnings else p.Heartbeat]
        await vendor.asked.wait()
        await source.aclose()
        await asyncio.wait_for(vendor.left.wait(), 5)


async def never_begun(dispatch, http, turns=0):
    """A run that is closed before its first batch: nothing of such a generator is ever run."""
    source = batches(dispatch, http, options(), ahead=sent_ahead(dispatch, http, None))
    for _ in range(turns):
        await asyncio.sleep(0)
    await source.aclose()


async def test_a_request_that_nobody_comes_to_read_is_let_go_of():
    vendor = Silent()
    answers = [vendor, good]

    async def answer(reader, writer):
        await answers.pop()(reader, writer)

    async with served(answer) as server, open_client(trust_env=False) as http:
        dispatch = tiny_dispatch(url=server.url)
        await told(dispatch, http, None)
        await never_begun(dispatch, http)
        await asyncio.wait_for(vendor.left.wait(), 5)


@pytest.mark.parametrize("turns", range(6))
async def test_a_connection_that_nobody_waits_for_any_more_is_closed(turns):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with open_client(trust_env=False) as http:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
            await never_begun(tiny_dispatch(url=url), http, turns)
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*others, return_exceptions=True)
            assert not http.engine.pool.connections


async def test_a_run_whose_time_is_over_when_it_begins_closes_the_connection():
    vendor = Silent()
    async with served(vendor) as server, open_client(trust_env=False) as http:
        dispatch = tiny_dispatch(url=server.url)
        now = asyncio.get_running_loop().time()
        ahead = sent_ahead(dispatch, http, now + 60)
        await vendor.asked.wait()
        said = await told(dispatch, http, ahead, deadline=now, stop_margin=0.0)
        assert said[-2].error.code == "platform_deadline"
        await asyncio.wait_for(vendor.left.wait(), 5)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"sign": lambda request, _: request}, 60.0),
        ({"tool_names": {"a": "b"}}, 60.0),
        ({"transforms": Transforms(resolve_links=True)}, 60.0),
        ({}, 0.0),
    ],
)
async def test_what_is_not_yet_to_be_asked_is_not_asked(changes, left):
    def unasked(request):
        raise AssertionError(request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(unasked)) as http:
        until = asyncio.get_running_loop().time() + left
        assert sent_ahead(tiny_dispatch(**changes), http, until) is None


async def test_what_cannot_be_sent_is_told_by_the_run():
    dispatch = tiny_dispatch(url="http://localhost/v1")
    headers = {"authorization": "Bearer sk-\nx: y"}
    dispatch = replace(dispatch, request=replace(dispatch.request, headers=headers))
    async with open_client(trust_env=False) as http:
        ahead = sent_ahead(dispatch, http, None)
        assert ahead is None
        said = await told(dispatch, http, ahead)
    assert isinstance(said[-2], p.Issue)
    assert said[-2].phase == "dispatch-fetch"
