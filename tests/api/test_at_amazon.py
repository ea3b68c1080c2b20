"""The gateway as the template sets it up: callers' keys and health in the table, a vendor's key in SSM."""

import asyncio
from contextlib import contextmanager

import httpx
import pytest
from moto import mock_aws

from fakes.serving import ONCE, STREAM
from fakes.tables import TABLE, make_table
from fakes.upstream import HELLO
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.aws import AWS
from motes.callers import KeyRing
from motes.hosts.local import running
from motes.settings import load_settings
from motes.store.dynamo import DynamoHealth, DynamoKeys

VENDOR_KEY = "sk-in-ssm-1234567890"


@pytest.fixture
def amazon(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        aws = AWS()
        asyncio.run(aws.dynamodb(make_table))
        asyncio.run(
            aws.ssm(
                lambda client: client.put_parameter(
                    Name="/motes/FAKE_API_KEY", Value=VENDOR_KEY, Type="SecureString"
                )
            )
        )
        yield aws


@contextmanager
def served(home, upstream):
    """The gateway; all its chores are done when the block is left."""
    toml = f'[vendors.fake]\ndialect = "openai-chat"\nbase_url = "{upstream.base_url}"\nmodels = ["m"]\n'
    (home / "motes.toml").write_text(toml)
    environ = {"MOTES_HOME": str(home / "state"), "MOTES_TABLE": TABLE, "MOTES_KEY_PATH": "/motes"}
    gateway = open_gateway(load_settings(environ, home), environ, policy=ONCE)
    with running(create_app(gateway)) as base_url:
        yield base_url


def test_one_request_uses_all_three(amazon, upstream, tmp_path):
    upstream.play(*HELLO)
    _, secret = asyncio.run(KeyRing(DynamoKeys(TABLE, amazon)).new("mine"))
    headers = {"x-api-key": secret}
    with (
        served(tmp_path, upstream) as url,
        httpx.Client(base_url=url, headers=headers, timeout=20, trust_env=False) as caller,
    ):
        assert caller.post("/chat/completions", json=STREAM).status_code == 200
        listed = {model["id"].partition("/")[0] for model in caller.get("/models").json()["data"]}
    assert upstream.received[0].headers["authorization"] == f"Bearer {VENDOR_KEY}"
    assert "fake" in listed
    assert "openai" not in listed
    (seen,) = asyncio.run(DynamoHealth(TABLE, amazon).all())
    assert (seen.vendor, seen.failure) == ("fake", None)
    assert seen.success is not None
    assert not (tmp_path / "state").exists()
