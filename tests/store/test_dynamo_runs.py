"""Runs in a DynamoDB that throttles, forgets a part of a batch, loses answers; and what its items look like."""

import json
import random
from contextlib import suppress
from types import SimpleNamespace

import pytest
from botocore.awsrequest import AWSResponse
from moto.core.botocore_stubber import MockRawResponse

from fakes.stored_runs import NOW, OWNER, ended, handle, page, run
from fakes.tables import TABLE, refusing
from motes.errors import StoreError
from motes.store.dynamo_runs import DynamoRuns
from motes.store.runs import MAX_PAGE_BYTES, RunFlags

LATER = NOW + 120
DAY = 24 * 3600


@pytest.fixture
def runs(amazon, table):
    return DynamoRuns(table, amazon, lambda: NOW)


@pytest.fixture
def waited(monkeypatch, slept):
    """The pauses of our own, besides botocore's, without taking them."""
    pauses = []
    monkeypatch.setattr("motes.store.dynamo_calls.time", SimpleNamespace(sleep=pauses.append))
    return pauses


async def hooked(amazon, event, handler):
    await amazon.dynamodb(lambda client: client.meta.events.register_first(f"{event}.dynamodb", handler))


async def items(amazon):
    return await amazon.dynamodb(
        lambda client: [
            item for page in client.get_paginator("scan").paginate(TableName=TABLE) for item in page["Items"]
        ]
    )


async def asked(amazon):
    """Fills with the names of the operations that are called from now on."""
    names = []
    await hooked(amazon, "before-call", lambda model, **_: names.append(model.name))
    return names


async def test_only_a_run_stands_among_the_due_and_its_backstop_is_days_later(amazon, runs):
    await runs.put(run(is_resumable=True))
    await runs.put(ended("never", due_at=None))
    await runs.append("r1", page(1, 2, bytes(800_000)), worker="w1", until=LATER)
    found = await items(amazon)
    assert [item["sk"]["S"] for item in found if "due_at" in item] == ["RUN"]
    assert {item["sk"]["S"] for item in found if "state" in item} == {"RUN"}
    for item in found:
        due_at = float(item.get("due_at", {"N": NOW})["N"])
        assert int(item["ttl"]["N"]) >= due_at + 14 * DAY
        assert len(json.dumps(item, default=lambda value: value.hex())) < 2 * 400_000


async def test_a_later_time_to_be_due_at_moves_the_backstop(amazon, runs):
    await runs.put(run())
    for change in (
        lambda: runs.set_handle("r1", handle(), first_seq=1, due_at=NOW + 30 * DAY),
        lambda: runs.postpone(run(), until=NOW + 60 * DAY, problem="none"),
    ):
        await change()
        (item,) = [item for item in await items(amazon) if "due_at" in item]
        assert int(item["ttl"]["N"]) == float(item["due_at"]["N"]) + 14 * DAY


async def test_nothing_of_a_deleted_run_is_left_in_the_table(amazon, runs):
    await runs.put(run(is_resumable=True))
    for n in range(1, 61):
        await runs.append("r1", page(n, n), worker="w1", until=LATER)
    assert len(await items(amazon)) == 63
    await runs.delete("r1")
    assert await items(amazon) == []


async def test_a_page_costs_one_transaction_and_one_more_once_a_cancel_was_asked_for(amazon, runs):
    await runs.put(run(is_resumable=True))
    names = await asked(amazon)
    await runs.append("r1", page(1, 2), worker="w1", until=LATER)
    assert names == ["TransactWriteItems"]
    await runs.cancel("r1", owner=OWNER)
    del names[:]
    assert await runs.append("r1", page(3, 4), worker="w1", until=LATER) == RunFlags(is_cancelled=True)
    assert names == ["TransactWriteItems"] * 2


async def test_a_run_without_pages_is_deleted_in_two_calls(amazon, runs):
    await runs.put(run())
    names = await asked(amazon)
    await runs.delete("r1")
    assert names == ["UpdateItem", "BatchWriteItem"]
    assert await items(amazon) == []


async def test_a_run_of_somebody_else_and_a_missing_one_cost_the_same_calls(amazon, runs):
    await runs.put(run())
    names = await asked(amazon)
    calls = []
    for id, owner in (("r1", "b" * 64), ("r2", OWNER)):
        assert await runs.get(id, owner=owner) is None
        assert await runs.cancel(id, owner=owner) is None
        calls.append([*names])
        del names[:]
    assert calls == [["GetItem", "UpdateItem"]] * 2


@pytest.mark.parametrize("times", [1, 3, 4, 9])
async def test_throttling_is_waited_out_by_every_method(amazon, runs, waited, times):
    """moto does what it is told, and it is the answer that is lost: what is written twice is written once."""

    async def throttled(work):
        left = [times]
        await hooked(amazon, "before-send", refusing(times, left=left))
        answer = await work
        assert left == [0]
        return answer

    assert await throttled(runs.put(run(is_resumable=True)))
    assert (await throttled(runs.append("r1", page(1, 2), worker="w1", until=LATER))) == RunFlags()
    assert len(await throttled(runs.pages("r1", after=0, limit=9))) == 1
    assert await throttled(runs.renew("r1", worker="w1", until=LATER)) == RunFlags()
    assert await throttled(runs.set_handle("r1", handle(), first_seq=1, due_at=LATER)) == handle()
    given_up = ended(is_resumable=True, handle=handle(), due_at=NOW)
    assert await throttled(runs.update(given_up, worker="w1")) == RunFlags()
    taken = await throttled(runs.claim(given_up, worker="w2", until=LATER, now=NOW))
    assert await throttled(runs.postpone(taken, until=NOW, problem="none"))
    assert [one.tries for one in await throttled(runs.due(NOW, 9))] == [1]
    assert (await throttled(runs.cancel("r1", owner=OWNER))).is_cancelled
    assert [one.id for one in await throttled(runs.list(owner=OWNER, limit=9))] == ["r1"]
    await throttled(runs.delete("r1"))
    assert await items(amazon) == []
    # botocore tries four times; what is left is ours, with a pause before each, never a long one.
    assert len(waited) == 12 * (times // 4)
    assert all(0 <= pause <= 3 for pause in waited)


async def test_throttling_without_end_is_a_store_error_and_nothing_is_half_done(amazon, runs, waited):
    await runs.put(ended(due_at=NOW))
    await hooked(amazon, "before-send", refusing(10_000))
    for work in (
        runs.put(run("r2")),
        runs.get("r1", owner=None),
        runs.list(owner=None, limit=1),
        runs.due(NOW, 1),
        runs.delete("r1"),
        runs.append("r1", page(1, 1), worker="w1", until=LATER),
    ):
        with pytest.raises(StoreError, match="dynamodb cannot be used now: Provisioned"):
            await work


def cancelled_transaction(times, *codes):
    """A `before-send` handler: so many transactions are cancelled for these reasons, and not done."""
    left = [times]

    def answer(request, **_):
        if left[0] <= 0 or b"TransactWriteItems" not in request.headers["X-Amz-Target"]:
            return None
        left[0] -= 1
        reasons = [{"Code": code} for code in codes]
        body = {
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "CancellationReasons": reasons,
        }
        raw = MockRawResponse(json.dumps(body).encode())
        return AWSResponse(request.url, 400, {"x-amzn-requestid": "1"}, raw)

    return answer


@pytest.mark.parametrize(
    "codes",
    [
        ("TransactionConflict", "None"),
        ("None", "ThrottlingError"),
        ("ConditionalCheckFailed", "TransactionConflict"),
    ],
)
async def test_a_transaction_that_meets_another_or_a_busy_table_is_tried_again(amazon, runs, waited, codes):
    await runs.put(run(is_resumable=True))
    await hooked(amazon, "before-send", cancelled_transaction(3, *codes))
    assert await runs.append("r1", page(1, 2), worker="w1", until=LATER) == RunFlags()
    assert len(waited) == 3
    await hooked(amazon, "before-send", cancelled_transaction(4, *codes))
    with pytest.raises(StoreError, match="TransactionCanceledException"):
        await runs.append("r1", page(3, 4), worker="w1", until=LATER)


NOBODY = {"pk": {"S": "none"}, "sk": {"S": "none"}}


class Forgetful:
    """DynamoDB that does a part of each batch only, and says which part it has not done."""

    def __init__(self, operation, does):
        self.operation = operation
        self.does = does
        self.left = []
        self.sizes = []

    def before(self, model, params, **_):
        if model.name != self.operation:
            return
        body = json.loads(params["body"])
        ((name, wanted),) = body["RequestItems"].items()
        is_reading = self.operation == "BatchGetItem"
        rows = wanted["Keys"] if is_reading else wanted
        self.sizes.append(len(rows))
        self.left = [name, rows[self.does :]]
        del rows[self.does :]
        if not rows:
            rows.append(NOBODY if is_reading else {"DeleteRequest": {"Key": NOBODY}})
        params["body"] = json.dumps(body).encode()

    def after(self, model, parsed, **_):
        if model.name != self.operation or not self.left[1]:
            return
        name, rows = self.left
        if self.operation == "BatchGetItem":
            parsed["UnprocessedKeys"] = {name: {"Keys": rows}}
        else:
            parsed["UnprocessedItems"] = {name: rows}


async def forgetful(amazon, operation, does):
    made = Forgetful(operation, does)
    await hooked(amazon, "before-call", made.before)
    await hooked(amazon, "after-call", made.after)
    return made


async def test_what_a_batch_leaves_undone_is_done_in_the_next(amazon, runs, waited):
    await runs.put(run(is_resumable=True))
    for n in range(1, 61):
        await runs.append("r1", page(n, n), worker="w1", until=LATER)
    made = await forgetful(amazon, "BatchWriteItem", 10)
    await runs.delete("r1")
    assert await items(amazon) == []
    assert made.sizes == [25, 15, 5, 25, 15, 5, 10, 3]
    assert len(waited) == 4


async def test_what_a_batch_does_not_read_is_read_in_the_next(amazon, runs, waited):
    for n in range(30):
        await runs.put(ended(f"r{n}", due_at=NOW - n, is_resumable=True, created=NOW + n))
    made = await forgetful(amazon, "BatchGetItem", 9)
    assert [one.id for one in await runs.due(NOW, 100)] == [f"r{n}" for n in reversed(range(30))]
    assert [one.id for one in await runs.list(owner=OWNER, limit=100)] == [
        f"r{n}" for n in reversed(range(30))
    ]
    assert made.sizes[:4] == [30, 21, 12, 3]


async def test_a_batch_that_is_never_done_is_a_store_error_and_the_run_is_found_again(amazon, runs, waited):
    await runs.put(ended(due_at=None))
    await runs.claim(ended(), worker="w1", until=LATER, now=NOW)
    for n in range(1, 11):
        await runs.append("r1", page(n, n), worker="w1", until=LATER)
    await forgetful(amazon, "BatchWriteItem", 0)
    with suppress(StoreError):
        await runs.delete("r1")
    assert len(waited) == 10
    there = await runs.get("r1", owner=OWNER)
    assert (there.state, there.worker) == ("deleting", None)
    assert [one.id for one in await runs.due(NOW, 9)] == ["r1"]


async def test_the_largest_page_lies_in_items_that_dynamodb_takes(amazon, runs):
    await runs.put(run(is_resumable=True))
    body = random.Random(1).randbytes(MAX_PAGE_BYTES)
    await runs.append("r1", page(1, 2, body), worker="w1", until=LATER)
    sizes = [len(item["body"]["B"]) for item in await items(amazon) if "body" in item]
    assert sum(sizes) == MAX_PAGE_BYTES
    assert max(sizes) <= 390_000


async def test_a_page_of_which_a_part_is_gone_ends_what_can_be_read(amazon, runs):
    await runs.put(run(is_resumable=True))
    for n, size in ((1, 10), (2, 800_000), (3, 10)):
        await runs.append("r1", page(n, n, bytes(size)), worker="w1", until=LATER)
    (gone,) = [item for item in await items(amazon) if item["sk"]["S"].endswith("#01")]
    key = {"pk": gone["pk"], "sk": gone["sk"]}
    await amazon.dynamodb(lambda client: client.delete_item(TableName=TABLE, Key=key))
    assert [one.first for one in await runs.pages("r1", after=0, limit=9)] == [1]


async def test_a_run_of_a_newer_version_is_read_and_keeps_what_is_not_known_here(amazon, runs):
    await runs.put(run())
    key = {"pk": {"S": "RUN#r1"}, "sk": {"S": "RUN"}}
    await amazon.dynamodb(
        lambda client: client.update_item(
            TableName=TABLE,
            Key=key,
            UpdateExpression="SET colour = :c",
            ExpressionAttributeValues={":c": {"S": "blue"}},
        )
    )
    assert await runs.get("r1", owner=OWNER) == run()
    await runs.update(ended(), worker="w1")
    (item,) = [item for item in await items(amazon) if "due_at" in item]
    assert item["colour"] == {"S": "blue"}


async def test_a_run_that_cannot_be_read_hides_none_of_the_others(amazon, runs, caplog):
    for id in ("broken", "r1"):
        await runs.put(ended(id, due_at=NOW, is_resumable=True))
    await amazon.dynamodb(
        lambda client: client.update_item(
            TableName=TABLE,
            Key={"pk": {"S": "RUN#broken"}, "sk": {"S": "RUN"}},
            UpdateExpression="REMOVE reply",
        )
    )
    assert [one.id for one in await runs.due(NOW, 9)] == ["r1"]
    assert [one.id for one in await runs.list(owner=None, limit=9)] == ["r1"]
    assert "run_unreadable run='broken'" in caplog.text
