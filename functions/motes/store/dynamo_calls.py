"""Calls of DynamoDB that take what it leaves undone as a matter of course: batches, throttling, conflicts.

What botocore gives up on is tried again, with back-off and full jitter. Everything here blocks: it runs in a
thread. Must never wait as long as a lease lasts, nor take a condition that is not met for a failure.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from motes.errors import StoreError
from motes.store.dynamo_run_items import Item, Key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

T = TypeVar("T")

WRITES: Final = 25
READS: Final = 100
"""How many items DynamoDB takes in a batch."""

# botocore itself tries four times, which takes up to seven seconds.
_TRIES: Final = 4
_BASE_SECONDS: Final = 0.2
_CAP_SECONDS: Final = 3.0
# Of a batch that is answered but not done, which botocore does not look at.
_ROUNDS: Final = 10

_BUSY: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "ThrottlingException",
        "ThrottlingError",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_UNMET: Final = "ConditionalCheckFailed"


class Unmet(Exception):
    """The condition of a write is not met; `item` is what stands there instead, if there is anything."""

    def __init__(self, item: Item | None) -> None:
        super().__init__()
        self.item = item


def patiently(call: Callable[[], T]) -> T:
    """The answer of a call, which is made again where the table is busy. Raises Unmet and ClientError."""
    from botocore.exceptions import ClientError

    for attempt in range(_TRIES):
        try:
            return call()
        except ClientError as error:
            unmet, is_busy = _judged(error)
            if unmet is not None:
                raise unmet from None
            if not is_busy or attempt == _TRIES - 1:
                raise
            _pause(attempt)
    raise AssertionError


def _judged(error: Any) -> tuple[Unmet | None, bool]:
    """Whether a condition was not met, and whether the same call may do a moment later.

    A transaction that meets both a busy table and an unmet condition is tried again.
    """
    code = error.response.get("Error", {}).get("Code", "")
    if code == "ConditionalCheckFailedException":
        return Unmet(error.response.get("Item")), False
    reasons = error.response.get("CancellationReasons", [])
    codes = {reason.get("Code") for reason in reasons}
    if code in _BUSY or codes & _BUSY:
        return None, True
    failed = next((reason for reason in reasons if reason.get("Code") == _UNMET), None)
    return (Unmet(failed.get("Item")) if failed else None), False


def write_all(client: "DynamoDBClient", table: str, requests: Iterable[Any]) -> None:
    """Make these puts and deletes, in batches. Raises StoreError where the table stays too busy for them."""
    waiting = iter(requests)
    while batch := list(islice(waiting, WRITES)):
        for attempt in range(_ROUNDS):
            asked = {table: batch}
            answer = patiently(lambda asked=asked: client.batch_write_item(RequestItems=asked))  # type: ignore[misc]
            batch = list(answer.get("UnprocessedItems", {}).get(table, []))
            if not batch:
                break
            _pause(attempt)
        else:
            raise _too_busy()


def read_all(client: "DynamoDBClient", table: str, keys: Sequence[Key]) -> list[Item]:
    """The items of these keys as they are now, those that are there, in their order."""
    found: dict[tuple[str, str], Item] = {}
    for at in range(0, len(keys), READS):
        batch: Any = list(keys[at : at + READS])
        for attempt in range(_ROUNDS):
            asked = {table: {"Keys": batch, "ConsistentRead": True}}
            answer = patiently(lambda asked=asked: client.batch_get_item(RequestItems=asked))  # type: ignore[misc]
            found |= {_name(item): item for item in answer["Responses"].get(table, [])}
            left: Any = answer.get("UnprocessedKeys", {}).get(table, {"Keys": []})
            batch = left["Keys"]
            if not batch:
                break
            _pause(attempt)
        else:
            raise _too_busy()
    return [found[name] for name in map(_name, keys) if name in found]


def query(client: "DynamoDBClient", **asked: Any) -> Iterator[Sequence[Item]]:
    """What a query finds, one answer after the other; an answer may be empty, and another one follow."""
    start: dict[str, Any] = {}
    while True:
        answer = patiently(lambda start=start: client.query(**asked, **start))  # type: ignore[misc]
        yield answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _name(item: Item) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def _too_busy() -> StoreError:
    return StoreError("dynamodb cannot be used now: a part of a batch is never done")


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0, min(_CAP_SECONDS, _BASE_SECONDS * 2**attempt)))  # noqa: S311 (jitter)
