"""The scheduled function: its contract, its time, its metrics."""

import asyncio
import json
import logging
from contextvars import copy_context

import pytest
from botocore.session import Session
from moto import mock_aws

from fakes.run_vendor import RunVendor
from fakes.stored_runs import ended, handle
from fakes.tables import TABLE, make_table
from motes.aws import AWS
from motes.errors import StoreError
from motes.hosts import cleanup
from motes.hosts.cleanup import handler
from motes.store.dynamo_runs import DynamoRuns
from motes.store.sqlite import SqliteRuns

SCHEDULED = {
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.scheduler",
    "account": "123456789012",
    "time": "2026-11-29T12:00:00Z",
    "region": "eu-central-1",
    "resources": ["arn:aws:scheduler:eu-central-1:123456789012:schedule/default/motes"],
    "detail": "{}",
}


NOTHING = {
    **dict.fromkeys(("deleted", "abandoned", "kept", "postponed", "parked", "taken", "failed", "left"), 0),
    "is_done": True,
}


class Context:
    """What Lambda tells of an invocation."""

    aws_request_id = "8476a536"

    def __init__(self, seconds=300):
        self.seconds = seconds

    def get_remaining_time_in_millis(self):
        return self.seconds * 1000


def invoked(context):
    """As the platform does it, once; what is said of the invocation stays with it."""
    return copy_context().run(handler, SCHEDULED, context)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    # What an invocation does to the log is undone with it.
    monkeypatch.setattr("logging.root.handlers", [*logging.root.handlers])
    monkeypatch.setenv("MOTES_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    cleanup._upkeep.cache_clear()
    yield tmp_path / "home"
    cleanup._upkeep.cache_clear()


@pytest.fixture
def runs(home):
    return SqliteRuns(home / "motes.sqlite")


@pytest.mark.parametrize("event", [SCHEDULED, {}, {"anything": 1}])
def test_nothing_is_due_and_one_line_says_so(event, caplog):
    with caplog.at_level("INFO"):
        summary = handler(event, None)
    assert summary == NOTHING
    assert json.loads(json.dumps(summary)) == summary
    assert [record.getMessage() for record in caplog.records] == [
        "cleanup deleted=0 abandoned=0 kept=0 postponed=0 parked=0 taken=0 failed=0 left=0 is_done=True"
    ]


def test_what_is_due_is_settled_and_what_came_of_it_is_counted(runs, capsys, monkeypatch):
    monkeypatch.setattr("logging.root.handlers", [])
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "the-function")
    for id in ("r1", "r2"):
        asyncio.run(runs.put(ended(id, due_at=1.0)))
    assert invoked(Context()) == NOTHING | {"deleted": 2}
    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (line["event"], line["requestId"], line["function"]) == ("cleanup", "8476a536", "the-function")
    assert (line["RunsDeleted"], line["RunsParked"]) == (2, 0)
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["function"]]
    assert {"Name": "RunsDeleted", "Unit": "Count"} in directive["Metrics"]
    assert {metric["Name"] for metric in directive["Metrics"]} <= line.keys()


def test_without_the_time_for_a_run_none_is_begun(runs):
    asyncio.run(runs.put(ended(due_at=1.0)))
    assert invoked(Context(39)) == NOTHING | {"is_done": False}
    assert invoked(Context(41)) == NOTHING | {"deleted": 1}


@pytest.mark.parametrize("event", [None, [], "x", 3, {"version": "2.0", "requestContext": {"http": {}}}])
def test_what_no_schedule_sends_is_refused(event):
    with pytest.raises(ValueError, match="no event of a schedule"):
        handler(event, None)


def test_on_amazon_one_invocation_after_the_other_settles_what_is_in_the_table(monkeypatch, tmp_path):
    """With the vendor's key from SSM, and clients that are kept from one event loop to the next."""
    vendor = RunVendor({"resp_1", "resp_2"})
    with mock_aws(), vendor.serving():
        for name, value in {
            "AWS_DEFAULT_REGION": "eu-central-1",
            "MOTES_TABLE": TABLE,
            "MOTES_KEY_PATH": "/motes",
            "OPENAI_BASE_URL": vendor.base_url,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        make_table(Session().create_client("dynamodb"))
        Session().create_client("ssm").put_parameter(
            Name="/motes/OPENAI_API_KEY", Type="SecureString", Value="sk-of-ssm"
        )
        runs = DynamoRuns(TABLE, AWS())
        for n in (1, 2):
            asyncio.run(runs.put(ended(f"r{n}", due_at=1.0, handle=handle(f"resp_{n}"))))
            assert invoked(Context()) == NOTHING | {"deleted": 1}
        assert invoked(Context()) == NOTHING
    assert vendor.deleted == {"resp_1": 1, "resp_2": 1}
    assert vendor.keys == {"Bearer sk-of-ssm"}


def test_a_table_that_is_not_there_is_the_platforms_to_try_again(monkeypatch, caplog):
    with mock_aws():
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        monkeypatch.setenv("MOTES_TABLE", "nowhere")
        with pytest.raises(StoreError, match="ResourceNotFoundException"):
            invoked(Context())
