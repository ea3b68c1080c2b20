"""Amazon in this process (moto), and the two kinds of store side by side."""

import secrets
import shutil
from types import SimpleNamespace

import pytest
from botocore.session import Session
from moto import mock_aws

from fakes.ministack import running
from fakes.tables import TABLE, make_table
from motes.aws import AWS
from motes.settings import load_settings
from motes.store.dynamo_runs import DynamoRuns
from motes.store.opening import open_stores
from motes.store.sqlite import SqliteRuns

FAKE_AMAZON = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
}


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


@pytest.fixture(scope="session")
def ministack(tmp_path_factory):
    command = shutil.which("ministack")
    if command is None:
        pytest.skip("needs MiniStack: `uv tool install ministack`, and `ministack` on the PATH")
    with running(command, tmp_path_factory.mktemp("ministack")) as address:
        yield address


def _run_table(request, kind):
    """A table, empty, of one of two DynamoDBs that know nothing of each other."""
    if kind == "moto":
        request.getfixturevalue("amazon")
    else:
        environ = request.getfixturevalue("monkeypatch")
        for name, value in FAKE_AMAZON.items():
            environ.setenv(name, value)
        environ.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("ministack"))
    name = f"motes-{secrets.token_hex(8)}"
    make_table(Session().create_client("dynamodb"), name)
    return name


@pytest.fixture(params=["moto", "ministack"])
def run_table(request):
    return _run_table(request, request.param)


@pytest.fixture(params=["sqlite", "moto", "ministack"])
def opened_runs(request, tmp_path):
    """How another process opens the same store of runs."""
    if request.param == "sqlite":
        return lambda: SqliteRuns(tmp_path / "home" / "motes.sqlite")
    name = _run_table(request, request.param)
    return lambda: DynamoRuns(name, AWS())


@pytest.fixture
def runs(opened_runs):
    return opened_runs()
