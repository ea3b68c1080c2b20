"""The client of real gateways that keep runs: broken lines, time limits, other processes, cancelling, forgetting."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from fakes.cutting_proxy import CuttingProxy
from fakes.serving import KEY, serving, vendor_row
from fakes.stored_vendor import Script, StoredVendor
from fakes.upstream import DONE, SSE_HEAD, Upstream, chat_chunk
from motes import particles as p
from motes.client import AsyncClient, Patience
from motes.errors import RunNotFound

WORDS = tuple(f"word{n} " for n in range(40))
LONG = Script(words=WORDS, pace=0.01)
QUICK = Patience(attempts=4, base=0.01, cap=0.05, idle_s=10.0)
OPENAI = "openai/m"
ASK = {"messages": [{"role": "user", "content": "Hi"}], "motes": {"background": True}}
CHAT = (SSE_HEAD, *(chat_chunk({"content": word}) for word in WORDS), chat_chunk({}, "stop"), DONE)


@pytest.fixture(scope="module")
def vendor() -> Iterator[StoredVendor]:
    with StoredVendor(script=LONG) as running:
        yield running


@pytest.fixture(scope="module")
def gateway(vendor: StoredVendor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("home"), vendor.toml("heartbeat_s = 1.0\n")) as url:
        yield url


def at(base_url: str) -> AsyncClient:
    return AsyncClient(base_url, KEY, model=OPENAI, patience=QUICK)


@asynccontextmanager
async def through_a_proxy(gateway: str) -> AsyncIterator[tuple[CuttingProxy, AsyncClient]]:
    async with CuttingProxy(gateway).listening() as proxy, at(proxy.base_url) as client:
        yield proxy, client


async def test_a_line_that_breaks_at_random_places_is_joined_until_the_run_is_whole(gateway: str) -> None:
    dice = Random(3)
    for _ in range(6):
        # A client of its own each time: a line that was kept for the next request would be cut in its middle.
        async with through_a_proxy(gateway) as (proxy, client):
            proxy.cuts = [dice.randrange(500, 3000) for _ in range(dice.randrange(1, 5))]
            stream = client.stream(ASK, resumable=True)
            came = [one async for one in stream]
            assert (stream.message.outcome, stream.message.error) == ("completed", None)
            texts = "".join(one.text for one in came if isinstance(one, p.Text))
            assert texts == stream.message.text == LONG.text
            assert stream.message.reasoning == "".join(LONG.thoughts)
            assert sum(isinstance(one, p.End) for one in came) == 1


async def test_the_time_limit_of_a_gateway_is_no_limit_of_a_run(vendor: StoredVendor, tmp_path: Path) -> None:
    limited = "heartbeat_s = 0.2\ncommit_after_s = 0.05\ndeadline_s = 0.45\ndeadline_stop_s = 0.1\ndeadline_warn_s = 0.2\n"
    with serving(tmp_path, vendor.toml(limited)) as url:
        async with at(url) as client:
            stream = client.stream(ASK, resumable=True)
            came = [one async for one in stream]
    assert any(isinstance(one, p.RetryReset) for one in came), "the limit was never reached"
    assert (stream.message.outcome, stream.message.text) == ("completed", LONG.text)
    assert not [one for one in came if isinstance(one, p.Issue)]


async def test_a_run_is_resumed_by_its_id_and_by_its_owner_only(gateway: str) -> None:
    async with at(gateway) as client:
        stream = client.stream(ASK, resumable=True)
        async for particle in stream:
            if isinstance(particle, p.Text) and particle.text == WORDS[3]:
                break
        await stream.abort()
        assert stream.message.outcome == "aborted"
        assert stream.run_id is not None
        whole = await client.resume(stream.run_id).result()
        assert (whole.outcome, whole.text) == ("completed", LONG.text)
        nobody = await client.resume("0" * 24).result()
        assert nobody.error is not None
        assert (nobody.outcome, nobody.error.http_status) == ("failed", 404)


async def test_a_run_is_cancelled_from_elsewhere_and_keeps_what_came(gateway: str) -> None:
    async with at(gateway) as client:
        stream = client.stream(ASK, resumable=True)
        async for particle in stream:
            if isinstance(particle, p.Text) and stream.run_id is not None:
                await client.cancel(stream.run_id)
                break
        message = await client.resume(stream.run_id or "").result()
        assert message.outcome == "aborted"
        assert message.text
        assert LONG.text.startswith(message.text)


async def test_a_run_that_was_deleted_is_nobodys(gateway: str) -> None:
    async with at(gateway) as client:
        stream = client.stream(ASK, resumable=True)
        await stream.result()
        assert stream.run_id is not None
        assert await client.delete(stream.run_id)
        with pytest.raises(RunNotFound):
            await client.cancel(stream.run_id)
        assert (await client.resume(stream.run_id).result()).outcome == "failed"


async def test_a_run_that_is_not_kept_is_not_joined_again(tmp_path: Path) -> None:
    with Upstream() as upstream, serving(tmp_path, vendor_row(upstream.base_url)) as url:
        upstream.play(*CHAT)
        async with through_a_proxy(url) as (proxy, client):
            proxy.cuts = [800]
            message = await client.generate("Hi", model="fake/m")
            assert message.error is not None
            assert (message.outcome, message.error.code) == ("failed", "connection_lost")
            assert message.text
            assert LONG.text.startswith(message.text)
            proxy.cuts = [800]
            again = await client.generate("Hi", model="fake/m", restart="always")
            assert (again.outcome, again.text) == ("completed", LONG.text)
            proxy.cuts = [700, 500, 900]
            kept = await client.generate("Hi", model="fake/m", resumable=True)
            assert (kept.outcome, kept.text) == ("completed", LONG.text)


async def test_very_many_readers_at_once_get_their_own_runs(gateway: str) -> None:
    async with at(gateway) as client:
        messages = await asyncio.gather(*(client.generate(ASK, resumable=True) for _ in range(12)))
        assert [message.text for message in messages] == [LONG.text] * 12
        assert len({message.response_id for message in messages}) == 12
