"""The law of the stores: the same tests for files and for DynamoDB."""

import asyncio
from dataclasses import replace

import pytest

from motes.callers import KeyRing
from motes.store.records import CallerKey, Failure, KeyRefusal, VendorHealth


def key(n, name="a", created=None):
    return CallerKey(f"id{n}", name, f"{n:064x}", created or f"2026-11-{n:02d}T00:00:00+00:00")


@pytest.fixture
def keys(opened):
    return opened().keys


@pytest.fixture
def health(opened):
    return opened().health


async def test_a_key_is_found_by_its_hash_and_by_nothing_else(keys):
    assert await keys.add(key(1))
    assert await keys.get(key(1).hash) == key(1)
    assert await keys.get(key(2).hash) is None
    assert await keys.get("id1") is None
    assert await keys.get("") is None


async def test_a_key_keeps_its_choices_also_when_it_is_disabled(keys):
    mine = replace(key(1), choices={"reasoning_field": "both", "keepalive": "empty-delta"})
    await keys.add(mine)
    assert await keys.get(mine.hash) == mine
    await keys.disable("id1")
    assert await keys.get(mine.hash) == replace(mine, disabled=True)
    assert list(await keys.all()) == [replace(mine, disabled=True)]


async def test_an_id_or_a_hash_that_is_there_already_is_not_added_and_changes_nothing(keys):
    await keys.add(key(1))
    same_id = CallerKey("id1", "b", key(2).hash, "")
    same_hash = CallerKey("id2", "b", key(1).hash, "")
    assert not await keys.add(same_id)
    assert not await keys.add(same_hash)
    assert list(await keys.all()) == [key(1)]
    assert await keys.get(key(2).hash) is None


async def test_of_many_who_add_the_same_id_at_once_one_wins(opened):
    stores = [opened().keys for _ in range(4)]
    keys = [CallerKey("id1", "a", f"{n:064x}", "") for n in range(4)]
    added = await asyncio.gather(*[store.add(key) for store, key in zip(stores, keys, strict=True)])
    assert sorted(added) == [False, False, False, True]
    assert list(await stores[0].all()) == [keys[added.index(True)]]


async def test_keys_are_listed_oldest_first(keys):
    for n in (3, 1, 2):
        await keys.add(key(n))
    assert [one.id for one in await keys.all()] == ["id1", "id2", "id3"]


async def test_a_disabled_key_is_disabled_for_every_process_wherever_it_is_looked_for(opened):
    keys, other = opened().keys, opened().keys
    await keys.add(key(1))
    assert await other.get(key(1).hash) == key(1)
    assert await keys.disable("id1")
    assert (await other.get(key(1).hash)).disabled
    assert [one.disabled for one in await other.all()] == [True]
    assert await keys.disable("id1")


async def test_a_name_disables_all_who_have_it_and_an_unknown_one_nobody(keys):
    for n, name in ((1, "a"), (2, "b"), (3, "a")):
        await keys.add(key(n, name))
    assert await keys.disable("a")
    assert [one.disabled for one in await keys.all()] == [True, False, True]
    assert not await keys.disable("c")


@pytest.mark.parametrize("name", ["", "é🙂", 'a"b\n', "x" * 1000])
async def test_a_name_is_kept_as_it_is(keys, name):
    await keys.add(key(1, name))
    assert (await keys.get(key(1).hash)).name == name


async def test_a_list_is_whole_however_long_it_is(keys):
    """DynamoDB gives at most 1 MB at a time."""
    for n in range(1, 9):
        await keys.add(key(n, "x" * 200_000))
    assert len(await keys.all()) == 8
    assert await keys.disable("id8")


async def test_a_ring_shows_a_key_once_and_every_process_lets_it_in(opened):
    ring = KeyRing(opened().keys)
    made, secret = await ring.new("mine")
    assert secret.startswith("mk-")
    assert (await KeyRing(opened().keys).admit([secret])).key == made
    assert secret not in repr(await ring.list())
    assert await ring.disable(made.id)
    assert await KeyRing(opened().keys).admit([secret]) is None


FAILED = Failure(100.5, "dispatch-fetch", "rate_limit", 429)
CUT = Failure(200.25, "dispatch-read", "stream_truncated")


async def test_health_begins_with_nothing(health):
    assert list(await health.all()) == []


@pytest.mark.parametrize(
    "seen",
    [
        VendorHealth("a", 100.125),
        VendorHealth("a", None, FAILED),
        VendorHealth("a", 100, CUT),
    ],
)
async def test_health_is_kept_as_it_was_seen(health, seen):
    await health.record(seen)
    assert list(await health.all()) == [seen]


async def test_success_and_failure_are_kept_side_by_side_vendor_by_vendor(health):
    await health.record(VendorHealth("b", 100))
    await health.record(VendorHealth("a", None, FAILED))
    await health.record(VendorHealth("a", 300))
    assert list(await health.all()) == [VendorHealth("a", 300, FAILED), VendorHealth("b", 100)]


async def test_what_is_older_than_what_is_there_changes_nothing(health):
    await health.record(VendorHealth("a", 300, CUT))
    await health.record(VendorHealth("a", 299, FAILED))
    await health.record(VendorHealth("a", 300, CUT))
    assert list(await health.all()) == [VendorHealth("a", 300, CUT)]


async def test_of_two_halves_the_newer_one_is_taken(health):
    await health.record(VendorHealth("a", 300, FAILED))
    await health.record(VendorHealth("a", 200, CUT))
    assert list(await health.all()) == [VendorHealth("a", 300, CUT)]
    await health.record(VendorHealth("a", 400, FAILED))
    assert list(await health.all()) == [VendorHealth("a", 400, CUT)]


async def test_the_last_refusal_of_each_key_is_kept_whoever_tells_it_and_in_any_order(health):
    first, second = KeyRefusal(0, 10, 70, "rate_limit", 429), KeyRefusal(1, 20, 620, "authentication", 401)
    later = KeyRefusal(0, 30, 3630, "quota")
    for refusals in ((first,), (second,), (later,), (first,)):
        await health.record(VendorHealth("v", refusals=refusals))
    await health.record(VendorHealth("v", 5.0))
    assert list(await health.all()) == [VendorHealth("v", 5.0, None, (later, second))]
    await health.record(VendorHealth("v", 6.0, refusals=(replace(second, at=40.0, status=403),)))
    assert (await health.all())[0].refusals == (later, replace(second, at=40.0, status=403))
