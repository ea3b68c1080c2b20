"""DynamoDB that throttles, fails or is not there; and what its items look like."""

import asyncio
import json
import threading

import pytest

from fakes.tables import TABLE, refusing
from motes.aws import AWS
from motes.callers import KeyRing
from motes.errors import StoreError
from motes.store.dynamo import DynamoHealth, DynamoKeys
from motes.store.records import CallerKey, Failure, VendorHealth

KEY = CallerKey("id1", "mine", "f" * 64, "2026-11-29T00:00:00+00:00")


async def items(amazon):
    return await amazon.dynamodb(lambda client: client.scan(TableName=TABLE)["Items"])


async def test_nothing_but_the_hash_is_in_the_table(amazon, table):
    key, secret = await KeyRing(DynamoKeys(table, amazon)).new("mine")
    found = await items(amazon)
    assert secret not in json.dumps(found)
    assert {(item["pk"]["S"], item["sk"]["S"]) for item in found} == {
        (f"KEY#{key.hash}", "KEY"),
        ("KEYS", key.id),
    }


async def test_no_item_stands_among_the_due_ones_or_goes_away_by_itself(amazon, table):
    await DynamoKeys(table, amazon).add(KEY)
    await DynamoHealth(table, amazon).record(
        VendorHealth("a", 1, Failure(2, "dialect-issue", "overloaded", 529))
    )
    for item in await items(amazon):
        assert not item.keys() & {"state", "due_at", "ttl"}


async def test_a_key_that_does_not_say_that_it_is_enabled_is_not(amazon, table):
    keys = DynamoKeys(table, amazon)
    await keys.add(KEY)
    place = {"pk": {"S": f"KEY#{KEY.hash}"}, "sk": {"S": "KEY"}}
    await amazon.dynamodb(
        lambda client: client.update_item(
            TableName=TABLE,
            Key=place,
            UpdateExpression="REMOVE #d",
            ExpressionAttributeNames={"#d": "disabled"},
        )
    )
    assert (await keys.get(KEY.hash)).disabled


async def test_throttling_is_waited_out(amazon, table, slept):
    keys = DynamoKeys(table, amazon)
    await keys.add(KEY)
    left = [3]
    await amazon.dynamodb(
        lambda client: client.meta.events.register_first("before-send.dynamodb", refusing(3, left=left))
    )
    assert await keys.get(KEY.hash) == KEY
    assert left == [0]
    assert len(slept) == 3


async def test_throttling_without_end_is_a_store_error_that_names_it_only(amazon, table, slept):
    keys = DynamoKeys(table, amazon)
    await amazon.dynamodb(
        lambda client: client.meta.events.register_first("before-send.dynamodb", refusing(1000))
    )
    for work in (keys.get(KEY.hash), keys.all(), keys.add(KEY), keys.disable("id1")):
        with pytest.raises(StoreError) as caught:
            await work
        assert caught.value.message == "dynamodb cannot be used now: ProvisionedThroughputExceededException"


async def test_a_transaction_that_meets_another_is_no_duplicate(amazon, table):
    keys = DynamoKeys(table, amazon)
    await amazon.dynamodb(
        lambda client: client.meta.events.register_first(
            "before-send.dynamodb", refusing(1, "TransactionCanceledException")
        )
    )
    with pytest.raises(StoreError, match="TransactionCanceledException"):
        await keys.add(KEY)


async def test_a_table_that_is_not_there_is_a_store_error(amazon):
    with pytest.raises(StoreError, match="ResourceNotFoundException"):
        await DynamoKeys("nowhere", amazon).get(KEY.hash)


async def test_no_region_and_no_network_are_store_errors(monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(StoreError, match="NoRegionError: set AWS_REGION"):
        await DynamoKeys("t", AWS()).all()


async def test_a_conversation_is_held_in_another_thread_by_one_client(amazon):
    seen = await asyncio.gather(
        *[amazon.dynamodb(lambda client: (threading.get_ident(), id(client))) for _ in range(8)]
    )
    assert threading.get_ident() not in {thread for thread, _ in seen}
    assert len({client for _, client in seen}) == 1


async def test_health_is_one_write_where_nobody_was_faster_and_two_at_most(amazon, table):
    health, wrote = DynamoHealth(table, amazon), []
    await amazon.dynamodb(
        lambda client: client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: wrote.append(model.name)
        )
    )
    await health.record(VendorHealth("a", 300, Failure(200, "dialect-issue", "overloaded", 529)))
    assert wrote == ["UpdateItem"]
    await health.record(VendorHealth("a", 200, Failure(400, "dialect-issue", "quota", 429)))
    assert wrote == ["UpdateItem"] * 3
    await health.record(VendorHealth("a", 100))
    assert wrote == ["UpdateItem"] * 4
