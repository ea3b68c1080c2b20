"""Usage rows as items of the one DynamoDB table.

    pk                  sk                       item
    USAGE#<yyyy-mm-dd>  <epoch seconds>#<run>    one run, under the day (UTC) that it ended on

A day's partition takes a thousand rows a second. `ttl` takes a row away after the days that are set; until
DynamoDB does so, a reader leaves it out by the clock. Must never block the event loop.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from motes.aws import AWS
from motes.store.usage import DAY, UsageRow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

Item = Mapping[str, Any]

USAGE: Final = "USAGE"
_WHOLE: Final = ("tokens_in", "tokens_cached", "tokens_written", "tokens_out", "tokens_reasoning")
_NUMBERS: Final = ("at", "cost", "margin")
_WORDS: Final = ("run", "key", "vendor", "model", "finish", "source", "currency", "context")


class DynamoUsage:
    """A `UsageStore`."""

    def __init__(self, table: str, aws: AWS, days: int, now: Callable[[], float] = time.time) -> None:
        self._table = table
        self._aws = aws
        self._days = days
        self._now = now

    async def add(self, rows: Sequence[UsageRow]) -> None:
        """See `UsageStore`. As a rule there is one."""
        await self._aws.dynamodb(lambda client: self._add(client, rows))

    async def between(self, since: float, until: float) -> AsyncIterator[Sequence[UsageRow]]:
        """See `UsageStore`. One question a day at least: the days before any row can be are not asked for."""
        since = max(since, self._now() - self._days * DAY)
        until = min(until, self._now() + DAY)
        day = since // DAY * DAY
        while day < until:
            start: Mapping[str, Any] | None = {}
            while start is not None:
                page, start = await self._aws.dynamodb(_asking(self._table, day, since, until, start))
                now = self._now()
                rows = [_row_of(item) for item in page if float(item["ttl"]["N"]) > now]
                if rows:
                    yield rows
            day += DAY

    def _add(self, client: "DynamoDBClient", rows: Sequence[UsageRow]) -> None:
        for row in rows:
            client.put_item(TableName=self._table, Item=_item_of(row, self._days))


Answer = tuple[Sequence[Item], Mapping[str, Any] | None]


def _asking(
    table: str, day: float, since: float, until: float, start: Mapping[str, Any]
) -> "Callable[[DynamoDBClient], Answer]":
    more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}

    def asked(client: "DynamoDBClient") -> Answer:
        answer = client.query(
            TableName=table,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :since AND :until",
            ExpressionAttributeValues={
                ":pk": {"S": _partition(day)},
                ":since": {"S": _moment(since)},
                # What follows the moment in a key sorts after it: this very moment is left out.
                ":until": {"S": _moment(until)},
            },
            **more,
        )
        return answer["Items"], answer.get("LastEvaluatedKey")

    return asked


def _partition(at: float) -> str:
    return f"{USAGE}#{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _moment(at: float) -> str:
    """Sorts as it counts, for the next two centuries."""
    return f"{at:017.6f}"


def _item_of(row: UsageRow, days: int) -> dict[str, Any]:
    item: dict[str, Any] = {
        "pk": {"S": _partition(row.at)},
        "sk": {"S": f"{_moment(row.at)}#{row.run}"},
        "ttl": {"N": str(int(row.at + days * DAY))},
    }
    for name in (*_WHOLE, *_NUMBERS, *_WORDS):
        value = getattr(row, name)
        if value is not None:
            item[name] = {"S": value} if name in _WORDS else {"N": repr(value)}
    return item


def _row_of(item: Item) -> UsageRow:
    values: dict[str, Any] = {name: item[name]["S"] for name in _WORDS if name in item}
    values |= {name: int(item[name]["N"]) for name in _WHOLE if name in item}
    values |= {name: float(item[name]["N"]) for name in _NUMBERS if name in item}
    return UsageRow(**values)
