"""Callers' keys that lie far away: what a request waits for, and how soon a disabled key is refused."""

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest

from fakes.particle_runs import deltas_of
from fakes.serving import ASK, ONCE, STREAM, vendor_row
from fakes.stores import Clock, HeldKeys
from fakes.upstream import HELLO, SSE_HEAD, Gate, UntilGone, answer, chat_chunk
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.callers import KeyRing, hash_of
from motes.hosts.local import running
from motes.settings import load_settings
from motes.store.records import CallerKey

CHAT = "/chat/completions"
SECRET = "mk-" + "s" * 43
UNKNOWN = "mk-" + "u" * 43
KEY = CallerKey("id1", "mine", hash_of(SECRET), "2026-11-29T00:00:00+00:00")


class Later:
    """Moves the clock, once everything that was asked so far has been dealt with, chores and all."""

    def __init__(self, clock):
        self.clock = clock
        self.sent = 0
        self.done = threading.Semaphore(0)

    def __call__(self, seconds):
        for _ in range(self.sent):
            assert self.done.acquire(timeout=10)
        self.sent = 0
        self.clock.at += seconds

    def note(self, _):
        self.sent += 1


@contextmanager
def served(home, upstream, keys, later):
    """A gateway with these keys; gives a caller who has one of them."""

    async def chore():
        await keys.renew()
        later.done.release()

    (home / "motes.toml").write_text(vendor_row(upstream.base_url))
    environ = {"MOTES_HOME": str(home)}
    gateway = open_gateway(load_settings(environ, home), environ, policy=ONCE)
    gateway = replace(gateway, keys=keys, chores=(chore,))
    headers = {"authorization": f"Bearer {SECRET}"}
    with (
        running(create_app(gateway)) as url,
        httpx.Client(base_url=url, headers=headers, timeout=20, trust_env=False) as caller,
    ):
        caller.event_hooks = {"request": [later.note]}
        yield caller


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store():
    made = HeldKeys()
    made.keys[KEY.hash] = KEY
    yield made
    made.gate.set()


@pytest.fixture
def later(clock):
    return Later(clock)


@pytest.fixture
def caller(tmp_path, upstream, store, clock, later):
    upstream.play(*HELLO)
    with served(tmp_path, upstream, KeyRing(store, max_age=60, now=clock), later) as caller:
        yield caller


def text_of(response):
    return "".join(delta.get("content") or "" for delta in deltas_of(response.content))


def test_a_cold_process_asks_once_and_a_warm_one_does_not(caller, store, later):
    for _ in range(5):
        assert text_of(caller.post(CHAT, json=STREAM)) == "Hello there"
        later(5)
    assert caller.get("/models").status_code == 200
    assert store.asked == [KEY.hash]


def test_a_cold_process_asks_before_it_asks_the_vendor(caller, store, upstream):
    store.keys.clear()
    assert caller.post(CHAT, json=STREAM).status_code == 401
    assert upstream.received == []


def test_a_key_is_asked_for_again_after_the_last_byte(caller, store, later):
    """The store does not answer until the client has everything."""
    caller.post(CHAT, json=STREAM)
    store.was_asked.clear()
    store.gate.clear()
    later(31)
    assert text_of(caller.post(CHAT, json=STREAM)) == "Hello there"
    assert store.was_asked.wait(10)
    assert len(store.asked) == 2
    store.gate.set()


def test_a_busy_process_never_waits_for_the_store(caller, store, later, upstream):
    caller.post(CHAT, json=STREAM)
    for n in range(1, 10):
        later(40)
        store.was_asked.clear()
        upstream.forget()
        upstream.play(*HELLO[:3], Gate("rest"), *HELLO[3:])
        with caller.stream("POST", CHAT, json=STREAM) as response:
            pieces = response.iter_bytes()
            next(pieces)
            assert len(store.asked) == n
            upstream.open("rest")
            assert b"".join(pieces).endswith(b"data: [DONE]\n\n")
        assert store.was_asked.wait(10)


def test_what_is_too_old_is_asked_beside_the_vendor_and_nothing_is_shown_before_it_is_known(
    caller, store, later, upstream
):
    caller.post(CHAT, json=STREAM)
    later(61)
    store.was_asked.clear()
    store.gate.clear()
    answers = []
    asking = threading.Thread(target=lambda: answers.append(caller.post(CHAT, json=STREAM)))
    asking.start()
    assert store.was_asked.wait(10)
    while len(upstream.received) < 2:
        assert asking.is_alive()
    asking.join(0.2)
    assert answers == []
    store.gate.set()
    asking.join(10)
    assert text_of(answers[0]) == "Hello there"


@pytest.mark.parametrize("body", [STREAM, ASK])
def test_a_key_that_was_disabled_meanwhile_is_refused_and_the_vendor_let_go(
    caller, store, later, upstream, body
):
    caller.post(CHAT, json=STREAM)
    asyncio.run(store.disable("id1"))
    later(60)
    upstream.forget()
    upstream.play(SSE_HEAD, chat_chunk({"content": "secret"}), UntilGone())
    response = caller.post(CHAT, json=body)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"
    assert "secret" not in response.text
    upstream.wait_until_gone()
    asked = len(store.asked)
    assert caller.post(CHAT, json=body).status_code == 401
    assert len(upstream.received) == 1
    assert len(store.asked) == asked


def test_a_disabled_key_is_refused_within_the_set_time_on_every_path(caller, store, later):
    assert caller.get("/models").status_code == 200
    asyncio.run(store.disable("id1"))
    later(60)
    for method, path in (("GET", "/models"), ("GET", "/models/fake/m"), ("POST", "/particles")):
        assert caller.request(method, path, json=STREAM).status_code == 401


def test_a_store_that_fails_stops_nobody_who_is_known(caller, store, later, caplog):
    caller.post(CHAT, json=STREAM)
    store.fails = True
    later(61)
    assert text_of(caller.post(CHAT, json=STREAM)) == "Hello there"
    assert "not_renewed what=caller_key" in caplog.text
    assert SECRET not in caplog.text


def test_a_store_that_fails_lets_nobody_in_who_is_not(caller, store, upstream, caplog):
    store.fails = True
    response = caller.post(CHAT, json=STREAM)
    assert response.status_code == 500
    error = response.json()["error"]
    assert error["code"] == "store_error"
    assert "Told" not in response.text
    assert "x-should-retry" not in response.headers
    assert "dynamodb cannot be used now: Told" in caplog.text
    assert upstream.received == []
    store.fails = False
    assert caller.post(CHAT, json=STREAM).status_code == 200


def test_what_cannot_be_a_key_of_ours_costs_no_question(caller, store):
    for wrong in ("x", "mk-short", "sk-" + "s" * 43, SECRET + "x", "mk-" + "é" * 43):
        response = caller.get("/models", headers={"authorization": b"Bearer " + wrong.encode()})
        assert response.status_code == 401
    assert store.asked == []


def test_wrong_keys_are_not_remembered(caller, store):
    for _ in range(3):
        assert caller.get("/models", headers={"authorization": f"Bearer {UNKNOWN}"}).status_code == 401
    assert store.asked == [hash_of(UNKNOWN)] * 3
    store.keys[hash_of(UNKNOWN)] = replace(KEY, hash=hash_of(UNKNOWN))
    assert caller.get("/models", headers={"authorization": f"Bearer {UNKNOWN}"}).status_code == 200


async def test_a_key_of_the_environment_is_never_asked_for(store, clock):
    ring = KeyRing(store, SECRET, max_age=60, now=clock)
    assert (await ring.admit([UNKNOWN, SECRET])).key.id == "environment"
    assert store.asked == []


async def test_of_several_keys_any_one_that_is_right_opens(store, clock):
    ring = KeyRing(store, max_age=60, now=clock)
    assert (await ring.admit([UNKNOWN, SECRET])).key == KEY


async def test_many_at_once_share_one_question(store, clock):
    ring = KeyRing(store, max_age=60, now=clock)
    admitted = await asyncio.gather(*[ring.admit([SECRET]) for _ in range(64)])
    assert {one.key for one in admitted} == {KEY}
    assert store.asked == [KEY.hash]


def test_whose_runs_are_a_keys_is_told_by_a_hash_that_leads_to_no_key():
    other = replace(KEY, hash="0" * 64)
    assert KEY.owner == replace(KEY, name="renamed", disabled=True).owner
    assert KEY.owner != other.owner
    assert KEY.hash not in KEY.owner
    assert len(KEY.owner) == 64


def test_an_error_of_the_vendors_is_not_shown_to_a_disabled_key(caller, store, later, upstream):
    caller.post(CHAT, json=STREAM)
    asyncio.run(store.disable("id1"))
    later(60)
    upstream.forget()
    upstream.play(answer(400, {"error": {"message": "the vendor's words"}}))
    response = caller.post(CHAT, json=STREAM)
    assert response.status_code == 401
    assert "vendor's words" not in response.text
