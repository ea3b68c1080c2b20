"""The law of the usage stores, the same for a file and for DynamoDB; and what a report makes of their rows."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from fakes.stores import Clock
from fakes.tables import TABLE
from motes.errors import InvalidRequest
from motes.store.dynamo_usage import DynamoUsage
from motes.store.sqlite_usage import SqliteUsage
from motes.store.usage import DAY, UsageRow
from motes.store.usage_report import dimensions, period, report

NOON = 1_800_014_400.0
DAYS = 400
ROW = UsageRow(
    run="r1",
    at=NOON,
    key="k1",
    vendor="openai",
    model="gpt-5",
    finish="stop",
    source="measured",
    tokens_in=100,
    tokens_cached=0,
    tokens_written=7,
    tokens_out=20,
    tokens_reasoning=5,
    cost=0.1234567891234,
    margin=1.3,
    context='night "job" é',
)
BARE = UsageRow(run="r2", at=NOON + 1, key="k2", vendor="a", model="b/c", finish="failed", source="estimated")


@pytest.fixture
def clock():
    return Clock(NOON + 10)


@pytest.fixture(params=["sqlite", "dynamo"])
def store(request, tmp_path, clock):
    if request.param == "sqlite":
        return SqliteUsage(tmp_path / "deep" / "usage.sqlite", DAYS, clock)
    amazon = request.getfixturevalue("amazon")
    request.getfixturevalue("table")
    return DynamoUsage(TABLE, amazon, DAYS, clock)


async def read(store, since=0.0, until=NOON + DAY):
    return [row async for rows in store.between(since, until) for row in rows]


async def test_a_store_begins_with_nothing(store):
    assert await read(store) == []


async def test_a_row_is_kept_as_it_is_zero_and_unknown_apart(store):
    await store.add([ROW, BARE])
    assert await read(store) == [ROW, BARE]


async def test_a_row_that_is_written_again_takes_the_place_of_the_first(store):
    await store.add([replace(ROW, cost=None)])
    await store.add([ROW])
    assert await read(store) == [ROW]


async def test_rows_come_oldest_first_over_days_and_of_the_time_that_was_asked_for(store, clock):
    rows = [replace(ROW, run=f"r{n}", at=NOON - n * DAY / 3) for n in range(8)]
    await store.add(rows)
    assert [row.run for row in await read(store)] == [row.run for row in reversed(rows)]
    asked = await read(store, since=rows[6].at, until=rows[2].at)
    assert [row.run for row in asked] == ["r6", "r5", "r4", "r3"]


async def test_two_runs_that_end_at_once_are_two_rows(store):
    await store.add([replace(ROW, run=f"r{n}") for n in range(3)])
    assert len(await read(store)) == 3
    assert len(await read(store, since=NOON, until=NOON)) == 0


async def test_what_is_older_than_the_days_that_are_set_is_gone(store, clock):
    await store.add([ROW])
    clock.at = NOON + DAYS * DAY + 1
    await store.add([replace(ROW, run="later", at=clock.at)])
    assert [row.run for row in await read(store, until=clock.at + 1)] == ["later"]


async def test_what_is_too_old_does_not_stay_in_the_file(tmp_path, clock):
    store = SqliteUsage(tmp_path / "usage.sqlite", DAYS, clock)
    await store.add([ROW])
    clock.at += 1
    await store.add([replace(ROW, run="r2", at=clock.at)])
    assert runs_in(store.path) == ["r1", "r2"]
    clock.at = NOON + DAYS * DAY + 1
    await store.add([replace(ROW, run="later", at=clock.at)])
    assert runs_in(store.path) == ["later", "r2"]


def runs_in(path):
    with closing(sqlite3.connect(path)) as db:
        return [run for (run,) in db.execute("SELECT run FROM usage ORDER BY run")]


async def test_any_number_of_rows_is_kept_whole(tmp_path, clock):
    store = SqliteUsage(tmp_path / "usage.sqlite", DAYS, clock)
    expected = set()
    for number in (*range(20), 63, 64, 65, 200):
        rows = [replace(ROW, run=f"{number} {n}") for n in range(number)]
        await store.add(rows)
        expected.update(row.run for row in rows)
    assert {row.run for row in await read(store)} == expected


async def test_a_long_answer_of_the_store_is_whole(store):
    """DynamoDB gives at most 1 MB at a time, the file a few thousand rows."""
    many = 5_100 if isinstance(store, SqliteUsage) else 30
    wide = "x" if isinstance(store, SqliteUsage) else "x" * 50_000
    await store.add([replace(ROW, run=f"r{n}", at=NOON + n / 10_000, model=wide) for n in range(many)])
    assert len({row.run for row in await read(store)}) == many


async def test_an_item_has_its_time_to_live_and_is_none_of_the_due_ones(amazon, table):
    await DynamoUsage(TABLE, amazon, DAYS).add([ROW])
    (item,) = await amazon.dynamodb(lambda client: client.scan(TableName=TABLE)["Items"])
    assert item["pk"] == {"S": "USAGE#2027-01-15"}
    assert item["ttl"] == {"N": str(int(NOON + DAYS * DAY))}
    assert not item.keys() & {"state", "due_at"}


async def test_the_file_is_its_owners_only(tmp_path, clock):
    store = SqliteUsage(tmp_path / "usage.sqlite", DAYS, clock)
    await store.add([ROW])
    assert store.path.stat().st_mode & 0o077 == 0


# Reports.


async def test_sums_by_any_names_say_what_is_measured_and_what_is_not(store):
    await store.add(
        [
            ROW,
            replace(ROW, run="r3", key="k2", cost=0.2, source="partial", tokens_cached=None),
            replace(ROW, run="r4", at=NOON - DAY, cost=None),
            BARE,
        ]
    )
    made = await report(store, since=0, until=NOON + DAY, by=dimensions("model, day"))
    first, second, third = made.rows()
    assert (first["model"], first["day"], first["runs"], first["estimated"]) == ("a/b/c", "2027-01-15", 1, 1)
    assert (second["model"], second["day"], second["unpriced"]) == ("openai/gpt-5", "2027-01-14", 1)
    assert (third["runs"], third["tokens_in"], third["tokens_out"]) == (2, 200, 40)
    assert (third["cost"], third["cost_measured"]) == (0.323456789, 0.123456789)
    total = made.json()["total"]
    assert (total["runs"], total["measured"], total["partial"], total["estimated"]) == (4, 2, 1, 1)
    # A run that used nothing needs no price.
    assert total["unpriced"] == 1


async def test_ten_thousand_small_costs_add_up_to_the_cent(tmp_path, clock):
    store = SqliteUsage(tmp_path / "usage.sqlite", DAYS, clock)
    await store.add([replace(ROW, run=f"r{n}", cost=0.0000013) for n in range(10_000)])
    assert (await report(store, since=0, until=NOON + DAY)).total.cost.normalize() * 1000 == 13


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, None, (NOON - 30 * DAY, NOON)),
        ("7d", None, (NOON - 7 * DAY, NOON)),
        ("24h", "1h", (NOON - DAY, NOON - 3600)),
        ("2027-01-14", "2027-01-15", (1_799_884_800, 1_800_057_600)),
        ("2027-01-15T11:00:00+01:00", None, (1_800_007_200, NOON)),
    ],
)
def test_a_period_is_two_moments(since, until, expected):
    assert period(since, until, NOON) == expected


@pytest.mark.parametrize(
    ("since", "until", "place"),
    [
        ("yesterday", None, "since"),
        ("2027-13-01", None, "since"),
        (None, "9" * 9, "until"),
        ("1h", "2h", "since"),
    ],
)
def test_a_period_that_is_none_is_refused_with_its_place(since, until, place):
    with pytest.raises(InvalidRequest, match=f"^{place}: must be"):
        period(since, until, NOON)


@pytest.mark.parametrize("text", ["", ",", "colour", "key,colour"])
def test_groups_that_are_none_are_refused_with_those_there_are(text):
    with pytest.raises(InvalidRequest, match="by: choose among key, vendor, model, day"):
        dimensions(text)
