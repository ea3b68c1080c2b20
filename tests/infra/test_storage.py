"""Laws of the table, as a stack of its own."""

from typing import Any

import pytest

from infra.templates import of_type


@pytest.fixture
def table(storage: dict[str, Any]) -> dict[str, Any]:
    (found,) = of_type(storage, "AWS::DynamoDB::Table").values()
    return found


def test_the_table_outlives_its_stack(table: dict[str, Any]) -> None:
    """Except where the stack could not be made: an empty table would only be in the way."""
    assert table["DeletionPolicy"] == "RetainExceptOnCreate"
    assert table["UpdateReplacePolicy"] == "Retain"
    assert "TableName" not in table["Properties"]


def test_the_table_is_paid_by_use_and_can_be_restored_and_is_encrypted(table: dict[str, Any]) -> None:
    properties = table["Properties"]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert properties["SSESpecification"] == {"SSEEnabled": True}


def test_what_is_past_its_time_goes(table: dict[str, Any]) -> None:
    assert table["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_items_lie_under_two_keys_and_due_ones_in_an_index(table: dict[str, Any]) -> None:
    properties = table["Properties"]
    types = {item["AttributeName"]: item["AttributeType"] for item in properties["AttributeDefinitions"]}
    assert types == {"pk": "S", "sk": "S", "state": "S", "due_at": "N"}
    assert keys(properties) == ["pk", "sk"]
    (index,) = properties["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "due"
    assert keys(index) == ["state", "due_at"]


def keys(thing: dict[str, Any]) -> list[str]:
    assert [key["KeyType"] for key in thing["KeySchema"]] == ["HASH", "RANGE"]
    return [key["AttributeName"] for key in thing["KeySchema"]]
