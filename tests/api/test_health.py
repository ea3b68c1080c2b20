"""Vendors' health: what counts as what, and that it is written after the last byte, once a minute a vendor."""

import asyncio
from contextlib import contextmanager
from dataclasses import replace

import pytest

from fakes.serving import KEY, ONCE, STREAM, VENDOR_KEY, client, serving, vendor_row
from fakes.stores import Clock, HeldHealth
from fakes.tiny import Listener
from fakes.upstream import HELLO, SSE_HEAD, answer, chat_chunk
from motes import particles as p
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.api.health import HealthObserver
from motes.errors import VendorError
from motes.hosts.local import running
from motes.settings import load_settings
from motes.store.files import FileHealth
from motes.store.records import Failure, VendorHealth

STOPPED = p.End("done-dialect", "ok")
FAILED = p.End("issue-dialect")


@pytest.fixture
def clock():
    return Clock(1000.0)


@pytest.fixture
def store():
    made = HeldHealth()
    yield made
    made.gate.set()


@pytest.fixture
def heard():
    return Listener()


@pytest.fixture
def observer(heard, store, clock):
    return HealthObserver(heard, store, clock)


def failure(kind, code=None, status=None):
    return p.Issue(
        "dispatch-fetch", "words", VendorError(message="words", kind=kind, code=code, http_status=status)
    )


def succeed(observer, label="a/m"):
    observer.run_ended(label, STOPPED, p.Metrics())


def fail(observer, kind="overloaded", label="a/m", **more):
    observer.failed(label, failure(kind, **more))
    observer.run_ended(label, FAILED, p.Metrics())


async def test_nothing_heard_nothing_written(observer, store):
    await observer.write()
    assert store.recorded == []


async def test_a_success_and_a_failure_are_one_record(observer, store, clock):
    succeed(observer, "a/x/y")
    clock.at += 1
    fail(observer, status=529)
    await observer.write()
    seen = Failure(1001.0, "dispatch-fetch", "overloaded", 529)
    assert store.recorded == [VendorHealth("a", 1000.0, seen)]


async def test_a_vendor_is_written_once_a_minute_and_the_next_time_with_all_that_came_since(
    observer, store, clock
):
    for second in range(150):
        clock.at = 1000.0 + second
        succeed(observer)
        if second == 70:
            fail(observer)
        await observer.write()
    assert [seen.success for seen in store.recorded] == [1000.0, 1060.0, 1120.0]
    assert [seen.failure and seen.failure.at for seen in store.recorded] == [None, None, 1070.0]


async def test_each_vendor_has_its_own_minute(observer, store, clock):
    succeed(observer)
    await observer.write()
    clock.at += 30
    succeed(observer)
    succeed(observer, "b/m")
    await observer.write()
    assert [seen.vendor for seen in store.recorded] == ["a", "b"]


@pytest.mark.parametrize("kind", ["invalid_request", "context_length", "content_blocked"])
async def test_a_request_that_cannot_be_is_no_failure_of_the_vendor(observer, store, kind):
    fail(observer, kind)
    await observer.write()
    assert store.recorded == []


async def test_our_own_deadline_and_a_caller_who_left_say_nothing_of_the_vendor(observer, store):
    fail(observer, "timeout", code="platform_deadline")
    observer.run_ended("a/m", p.End("done-dispatch-aborted"), p.Metrics())
    await observer.write()
    assert store.recorded == []


async def test_a_store_that_fails_is_logged_and_told_again_in_a_minute(observer, store, clock, caplog):
    store.fails = True
    succeed(observer)
    await observer.write()
    assert "health_not_recorded vendor=a" in caplog.text
    store.fails = False
    await observer.write()
    assert len(store.recorded) == 1
    clock.at += 60
    await observer.write()
    assert store.recorded[1:] == [VendorHealth("a", 1000.0)]


async def test_everything_is_passed_on(observer, heard):
    issue = failure("overloaded")
    observer.failed("a/m", issue)
    observer.retrying("a/m", p.RetryReset("srv-dispatch", "none", "told", 2, 4, 0))
    observer.warned("a/m", p.Warn("words", "bad_event"))
    observer.bug("a/m", ValueError())
    observer.run_ended("a/m", FAILED, p.Metrics())
    assert heard.issues == [issue]
    assert heard.warnings == [("a/m", "bad_event")]
    assert len(heard.retries) == len(heard.bugs) == len(heard.ends) == 1


@pytest.fixture
def served(tmp_path, upstream, store):
    """A gateway whose vendors' health is held. It has stopped, and done all chores, when the block is left."""

    @contextmanager
    def run():
        (tmp_path / "motes.toml").write_text(vendor_row(upstream.base_url))
        environ = {"MOTES_HOME": str(tmp_path), "MOTES_API_KEY": KEY}
        gateway = open_gateway(load_settings(environ, tmp_path), environ, policy=ONCE)
        observer = HealthObserver(Listener(), store, gateway.now)
        gateway = replace(gateway, observer=observer, chores=(observer.write,))
        with running(create_app(gateway)) as url, client(url) as caller:
            yield caller

    return run


def test_a_stream_does_not_wait_for_its_own_record(served, store, upstream):
    upstream.play(*HELLO)
    store.gate.clear()
    with served() as caller:
        assert caller.post("/chat/completions", json=STREAM).text.endswith("data: [DONE]\n\n")
        store.gate.set()
    assert len(store.recorded) == 1


def test_no_word_of_a_vendor_is_stored(served, store, upstream):
    upstream.play(answer(429, {"error": {"message": f"{VENDOR_KEY} said", "code": VENDOR_KEY}}))
    with served() as caller:
        assert caller.post("/chat/completions", json=STREAM).status_code == 429
    (seen,) = store.recorded
    assert (seen.failure.kind, seen.failure.status, seen.failure.phase) == (
        "rate_limit",
        429,
        "dispatch-fetch",
    )
    assert VENDOR_KEY not in repr(seen)
    assert "said" not in repr(seen)


def test_a_stream_that_was_cut_is_a_failure(served, store, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "half"}))
    with served() as caller:
        caller.post("/chat/completions", json=STREAM)
    (seen,) = store.recorded
    assert (seen.success, seen.failure.kind) == (None, "stream_truncated")


def test_on_this_machine_it_lies_in_a_file(tmp_path, upstream):
    upstream.play(*HELLO)
    with serving(tmp_path, vendor_row(upstream.base_url)) as url, client(url) as caller:
        caller.post("/chat/completions", json=STREAM)
    (seen,) = asyncio.run(FileHealth(tmp_path / "health.json").all())
    assert seen.vendor == "fake"
    assert seen.success is not None
