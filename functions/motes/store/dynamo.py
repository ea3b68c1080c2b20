"""Keys and health as items of one DynamoDB table.

    pk            sk         item
    KEY#<hash>    KEY        a caller's key: what a request looks up
    KEYS          <key id>   the same once more: what is listed; both are written in one transaction
    HEALTH        <vendor>   how a vendor was last seen

Keys are spread over partitions, so that many wrong ones cannot throttle the lookup of a right one. None of
these items carries `state`, `due_at` or `ttl`: they stay, and no cleanup sees them. Must never block the
event loop: every conversation with the table is one call in a thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from motes.aws import AWS
from motes.store.records import CallerKey, Failure, KeyRefusal, VendorHealth, by_age

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

Item = Mapping[str, Any]

_KEY: Final = "KEY"
_KEYS: Final = "KEYS"
_HEALTH: Final = "HEALTH"
_ABSENT: Final = "attribute_not_exists(pk)"
_PRESENT: Final = "attribute_exists(pk)"
_UNMET: Final = "ConditionalCheckFailed"


class DynamoKeys:
    """A `KeyStore`."""

    def __init__(self, table: str, aws: AWS) -> None:
        self._table = table
        self._aws = aws

    async def add(self, key: CallerKey) -> bool:
        """See `KeyStore`."""
        return await self._aws.dynamodb(lambda client: self._add(client, key))

    async def get(self, hash: str) -> CallerKey | None:
        """See `KeyStore`. A consistent read: a key opens as soon as it was shown."""
        return await self._aws.dynamodb(lambda client: self._get(client, hash))

    async def all(self) -> Sequence[CallerKey]:
        """See `KeyStore`."""
        return await self._aws.dynamodb(self._all)

    async def disable(self, id: str) -> bool:
        """See `KeyStore`."""
        return await self._aws.dynamodb(lambda client: self._disable(client, id))

    def _add(self, client: "DynamoDBClient", key: CallerKey) -> bool:
        puts: list[TransactWriteItemTypeDef] = [
            {
                "Put": {
                    "TableName": self._table,
                    "Item": place | _key_item(key),
                    "ConditionExpression": _ABSENT,
                }
            }
            for place in _places(key)
        ]
        try:
            client.transact_write_items(TransactItems=puts)
        except client.exceptions.TransactionCanceledException as error:
            reasons = error.response.get("CancellationReasons", [])
            if any(reason.get("Code") == _UNMET for reason in reasons):
                return False
            raise
        return True

    def _get(self, client: "DynamoDBClient", hash: str) -> CallerKey | None:
        place = {"pk": {"S": f"{_KEY}#{hash}"}, "sk": {"S": _KEY}}
        found = client.get_item(TableName=self._table, Key=place, ConsistentRead=True).get("Item")
        return None if found is None else _key_of(found)

    def _all(self, client: "DynamoDBClient") -> list[CallerKey]:
        keys = [_key_of(item) for item in _partition(client, self._table, _KEYS)]
        return sorted(keys, key=by_age)

    def _disable(self, client: "DynamoDBClient", id: str) -> bool:
        meant = [key for key in self._all(client) if key.is_called(id)]
        for key in meant:
            updates: list[TransactWriteItemTypeDef] = [
                {
                    "Update": {
                        "TableName": self._table,
                        "Key": place,
                        "UpdateExpression": "SET #disabled = :yes",
                        "ConditionExpression": _PRESENT,
                        "ExpressionAttributeNames": {"#disabled": "disabled"},
                        "ExpressionAttributeValues": {":yes": {"BOOL": True}},
                    }
                }
                for place in _places(key)
            ]
            client.transact_write_items(TransactItems=updates)
        return bool(meant)


class DynamoHealth:
    """A `HealthStore`."""

    def __init__(self, table: str, aws: AWS) -> None:
        self._table = table
        self._aws = aws

    async def record(self, health: VendorHealth) -> None:
        """See `HealthStore`."""
        await self._aws.dynamodb(lambda client: self._record(client, health))

    async def all(self) -> Sequence[VendorHealth]:
        """See `HealthStore`."""
        return await self._aws.dynamodb(
            lambda client: [_health_of(item) for item in _partition(client, self._table, _HEALTH)]
        )

    def _record(self, client: "DynamoDBClient", health: VendorHealth) -> None:
        """One write; a second one only where another process saw something newer of one half."""
        there = self._update(client, health)
        if there is not None:
            self._update(client, health.newer_than(there))

    def _update(self, client: "DynamoDBClient", health: VendorHealth) -> VendorHealth | None:
        """Write what is known. Gives what stands there instead, where any of that is newer."""
        values, conditions = _changes(health)
        if not values:
            return None
        names = {f"#{name}": name for name in values}
        try:
            client.update_item(
                TableName=self._table,
                Key={"pk": {"S": _HEALTH}, "sk": {"S": health.vendor}},
                UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
                ConditionExpression=" AND ".join(conditions),
                ExpressionAttributeNames=names,
                ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except client.exceptions.ConditionalCheckFailedException as error:
            return _health_of(cast(dict[str, Any], error.response)["Item"])
        return None


def _partition(client: "DynamoDBClient", table: str, pk: str) -> Iterator[Item]:
    """Every item under a partition key, page by page."""
    pages = client.get_paginator("query").paginate(
        TableName=table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": pk}},
        ConsistentRead=True,
    )
    for page in pages:
        yield from page["Items"]


def _places(key: CallerKey) -> tuple[dict[str, Any], ...]:
    return (
        {"pk": {"S": f"{_KEY}#{key.hash}"}, "sk": {"S": _KEY}},
        {"pk": {"S": _KEYS}, "sk": {"S": key.id}},
    )


def _key_item(key: CallerKey) -> dict[str, Any]:
    chosen = {name: {"S": word} for name, word in key.choices.items()}
    return {
        "id": {"S": key.id},
        "name": {"S": key.name},
        "hash": {"S": key.hash},
        "created": {"S": key.created},
        "disabled": {"BOOL": key.disabled},
        **({"choices": {"M": chosen}} if chosen else {}),
    }


def _key_of(item: Item) -> CallerKey:
    """A key that does not say that it is enabled is not."""
    return CallerKey(
        id=item["id"]["S"],
        name=item["name"]["S"],
        hash=item["hash"]["S"],
        created=item["created"]["S"],
        disabled=item.get("disabled") != {"BOOL": False},
        choices={name: word["S"] for name, word in item.get("choices", {}).get("M", {}).items()},
    )


def _changes(health: VendorHealth) -> tuple[dict[str, Any], list[str]]:
    """The attributes to set, and on which conditions."""
    values: dict[str, Any] = {}
    conditions = []
    if health.success is not None:
        values["success"] = _number(health.success)
        conditions.append(_no_newer("success"))
    failure = health.failure
    if failure is not None:
        values |= {"failed": _number(failure.at), "phase": {"S": failure.phase}, "kind": {"S": failure.kind}}
        values["http"] = {"NULL": True} if failure.status is None else _number(failure.status)
        conditions.append(_no_newer("failed"))
    for refusal in health.refusals:
        values |= _refusal_attributes(refusal)
        conditions.append(_no_newer(f"refused_{refusal.key}"))
    return values, conditions


def _refusal_attributes(refusal: KeyRefusal) -> dict[str, Any]:
    """Each in attributes of its own, so that two processes may tell of two keys."""
    attributes = {
        "refused": _number(refusal.at),
        "until": _number(refusal.until),
        "why": {"S": refusal.kind},
        "status": {"NULL": True} if refusal.status is None else _number(refusal.status),
    }
    return {f"{name}_{refusal.key}": value for name, value in attributes.items()}


def _no_newer(name: str) -> str:
    return f"(attribute_not_exists(#{name}) OR #{name} < :{name})"


def _number(value: float) -> dict[str, str]:
    return {"N": f"{value:.3f}".rstrip("0").rstrip(".")}


def _health_of(item: Item) -> VendorHealth:
    failure = None
    if "failed" in item:
        failure = Failure(
            at=float(item["failed"]["N"]),
            phase=item["phase"]["S"],
            kind=item["kind"]["S"],
            status=int(item["http"]["N"]) if "N" in item["http"] else None,
        )
    success = float(item["success"]["N"]) if "success" in item else None
    return VendorHealth(item["sk"]["S"], success, failure, tuple(_refusals_of(item)))


def _refusals_of(item: Item) -> Iterator[KeyRefusal]:
    heads = [name.partition("_") for name in item]
    for key in sorted(int(at) for head, _, at in heads if head == "refused" and at.isdecimal()):
        status = item[f"status_{key}"]
        yield KeyRefusal(
            key=key,
            at=float(item[f"refused_{key}"]["N"]),
            until=float(item[f"until_{key}"]["N"]),
            kind=item[f"why_{key}"]["S"],
            status=int(status["N"]) if "N" in status else None,
        )
