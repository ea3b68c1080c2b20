"""Amazon in this process (moto), and the two kinds of store side by side."""

from types import SimpleNamespace

import pytest
from moto import mock_aws

from fakes.tables import TABLE, make_table
from motes.aws import AWS
from motes.settings import load_settings
from motes.store.dynamo_runs import DynamoRuns
from motes.store.opening import open_stores
from motes.store.sqlite import SqliteRuns


@pytest.fixture
def amazon(monkeypatch):
    """The clients of one process; nothing leaves this machine."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        yield AWS()


@pytest.fixture
def slept(monkeypatch):
    """The back-off that botocore would take, without taking it."""
    delays = []
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=delays.append))
    return delays


@pytest.fixture
async def table(amazon):
    await amazon.dynamodb(make_table)
    return TABLE


@pytest.fixture(params=["files", "dynamo"])
def opened(request, tmp_path):
    """How another process opens the same stores."""
    environ = {"MOTES_HOME": str(tmp_path / "home")}
    if request.param == "dynamo":
        environ["MOTES_TABLE"] = request.getfixturevalue("table")
        request.getfixturevalue("amazon")
    settings = load_settings(environ, tmp_path)
    return lambda: open_stores(settings, AWS())


@pytest.fixture(params=["sqlite", "dynamo"])
def opened_runs(request, tmp_path):
    """How another process opens the same store of runs."""
    if request.param == "dynamo":
        table = request.getfixturevalue("table")
        request.getfixturevalue("amazon")
        return lambda: DynamoRuns(table, AWS())
    return lambda: SqliteRuns(tmp_path / "home" / "motes.sqlite")


@pytest.fixture
def runs(opened_runs):
    return opened_runs()
