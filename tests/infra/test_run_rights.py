"""The rights that the functions have on runs are those that their calls need, no more: every call is made."""

import json
from collections.abc import Awaitable, Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from moto import mock_aws

from fakes.stored_runs import NOW, OWNER, ended, handle, page, run
from fakes.tables import TABLE, make_table
from infra.templates import TEMPLATE, as_list, chosen, read, statements
from motes.aws import AWS
from motes.store.dynamo_runs import DynamoRuns

LATER = NOW + 100
NOT_OF_RUNS = {"HEALTH", "USAGE#*"}

Call = tuple[str, str, str]
"""Action, index (or none), partition."""


def of_batch(items: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, inner in items.items():
        place = inner.get("Item") or inner["Key"]
        yield name, place["pk"]["S"]


def calls(operation: str, body: dict[str, Any]) -> Iterator[Call]:
    match operation:
        case "TransactWriteItems":
            for item in body["TransactItems"]:
                for kind, pk in of_batch(item):
                    yield f"{kind}Item", "", pk
        case "BatchWriteItem":
            for item in body["RequestItems"][TABLE]:
                for _, pk in of_batch(item):
                    yield operation, "", pk
        case "BatchGetItem":
            for key in body["RequestItems"][TABLE]["Keys"]:
                yield operation, "", key["pk"]["S"]
        case "Query":
            values = body["ExpressionAttributeValues"]
            index = body.get("IndexName", "")
            yield operation, index, (values[":state"] if index else values[":pk"])["S"]
        case _:
            yield operation, "", body["Key"]["pk"]["S"]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[DynamoRuns, set[Call]]]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        aws, seen = AWS(), set[Call]()
        client: Any = aws._client("dynamodb")
        make_table(client)
        client.meta.events.register(
            "before-call.dynamodb",
            lambda model, params, **_: seen.update(calls(model.name, json.loads(params["body"]))),
        )
        yield DynamoRuns(TABLE, aws, lambda: NOW), seen


def granted(role: str) -> list[tuple[str, str, str]]:
    """(action, index, pattern of partitions) of what a role may do with runs."""
    found = []
    for name, statement in statements(chosen(read(TEMPLATE))):
        actions = [one.removeprefix("dynamodb:") for one in as_list(statement["Action"]) if "dynamodb" in one]
        if name != role or not actions:
            continue
        index = "due" if "index/due" in str(statement["Resource"]) else ""
        ((_, keys),) = statement.get("Condition", {"": {"dynamodb:LeadingKeys": ["*"]}}).items()
        found += [
            (action, index, key)
            for action in actions
            for key in keys["dynamodb:LeadingKeys"]
            if key not in NOT_OF_RUNS
        ]
    return found


async def stream(runs: DynamoRuns) -> None:
    """All that the streaming function does with runs."""
    await runs.put(run(is_resumable=True))
    await runs.renew("r1", worker="w1", until=LATER)
    await runs.set_handle("r1", handle(), first_seq=1, due_at=LATER)
    for n in (1, 2, 2):
        await runs.append("r1", page(n, n), worker="w1", until=LATER)
    await runs.cancel("r1", owner=OWNER)
    await runs.append("r1", page(3, 3), worker="w1", until=LATER)
    await runs.pages("r1", after=0, limit=9)
    await runs.get("r1", owner=OWNER)
    await runs.list(owner=OWNER, limit=9)
    await runs.claim(run(), worker="w2", until=LATER + 100, now=LATER)
    await runs.update(ended(), worker="w2")
    await runs.delete("r1")


async def cleanup(runs: DynamoRuns) -> None:
    """All that the cleanup does with them."""
    (found,) = await runs.due(NOW, 9)
    taken = await runs.claim(found, worker="c", until=LATER, now=NOW)
    assert taken is not None
    await runs.drop_pages(found.id)
    await runs.update(taken, worker="c")
    await runs.delete(found.id)


@pytest.mark.parametrize(("role", "work"), [("StreamRole", stream), ("CleanupRole", cleanup)])
async def test_a_function_may_do_what_it_does_and_nothing_else(
    made: tuple[DynamoRuns, set[Call]], role: str, work: Callable[[DynamoRuns], Awaitable[None]]
) -> None:
    runs, seen = made
    if work is cleanup:
        await runs.put(ended("old", due_at=NOW, is_resumable=True))
        await runs.claim(ended("old"), worker="w", until=NOW, now=NOW)
        await runs.append("old", page(1, 1), worker="w", until=NOW)
        seen.clear()
    await work(runs)
    rights = granted(role)

    def covers(right: Call, call: Call) -> bool:
        return right[:2] == call[:2] and fnmatchcase(call[2], right[2])

    assert not [call for call in seen if not any(covers(right, call) for right in rights)]
    assert not [right for right in rights if not any(covers(right, call) for call in seen)]
