"""The operators' API as Lambda calls it: an event in, an answer out; DynamoDB and SSM in this process."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime

import pytest
from moto import mock_aws

from fakes.tables import TABLE, make_table
from motes.aws import AWS
from motes.callers import KeyRing
from motes.hosts.operators import create_operators_api, open_office
from motes.settings import load_settings
from motes.store.dynamo import DynamoHealth, DynamoKeys
from motes.store.dynamo_usage import DynamoUsage
from motes.store.records import Failure, KeyRefusal, VendorHealth
from motes.store.usage import UsageRow
from motes.store.usage_report import COLUMNS

SIGNER = "arn:aws:iam::123456789012:user/operator"
IAM = {"authorizer": {"iam": {"userArn": SIGNER, "accountId": "123456789012"}}}
TOML = """
[vendors.mine]
dialect = "openai-chat"
base_url = "https://user:sk-in-the-address@mine.example/v1?key=sk-in-the-query"
key = "sk-in-the-file"
headers = { x-team = "sk-in-a-header" }

[vendors.local]
dialect = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
auth = "none"
"""


def event(method, path, body=None, context=IAM, query=""):
    """What a Function URL sends (payload format 2.0)."""
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "x.lambda-url.eu-central-1.on.aws", "content-type": "application/json"},
        "requestContext": {
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "1.2.3.4"},
            "requestId": "request-1",
            "stage": "$default",
            **context,
        },
        "body": None if body is None else base64.b64encode(json.dumps(body).encode()).decode(),
        "isBase64Encoded": body is not None,
    }


class Answer:
    """One answer; `text` is all of it."""

    def __init__(self, raw):
        self.status, self.headers, self.text = raw["statusCode"], raw["headers"], raw["body"]
        assert raw["isBase64Encoded"] is False

    @property
    def json(self):
        return json.loads(self.text)


@pytest.fixture
def loop():
    """Mangum runs the app on the thread's own loop, as it does on Lambda."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield made
    asyncio.set_event_loop(None)
    made.close()


@pytest.fixture
def amazon(monkeypatch, loop):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        aws = AWS()
        loop.run_until_complete(aws.dynamodb(make_table))
        yield aws


@pytest.fixture
def ask(amazon, tmp_path):
    """A signed call of the handler."""
    from mangum import Mangum

    (tmp_path / "motes.toml").write_text(TOML)
    environ = {
        "MOTES_HOME": str(tmp_path),
        "MOTES_TABLE": TABLE,
        "MOTES_KEY_PATH": "/motes",
        "GROQ_API_KEY": "sk-in-the-environment",
    }
    office = open_office(load_settings(environ, tmp_path), environ)
    handler = Mangum(create_operators_api(office), lifespan="off")
    return lambda *args, **more: Answer(handler(event(*args, **more), None))


def put_vendor_key(loop, amazon, name, value):
    loop.run_until_complete(
        amazon.ssm(
            lambda client: client.put_parameter(Name=f"/motes/{name}", Value=value, Type="SecureString")
        )
    )


def test_a_key_is_made_shown_once_and_opens(ask, amazon, loop):
    made = ask("POST", "/keys", {"name": "team é"})
    assert made.status == 201
    assert made.headers["cache-control"] == "no-store"
    secret = made.json["secret"]
    listed = ask("GET", "/keys")
    assert secret not in listed.text
    assert [(key["id"], key["name"], key["disabled"]) for key in listed.json] == [
        (made.json["id"], "team é", False)
    ]
    assert datetime.fromisoformat(listed.json[0]["created"]).tzinfo is not None
    admission = loop.run_until_complete(KeyRing(DynamoKeys(TABLE, amazon)).admit([secret]))
    assert admission.key.name == "team é"


def test_a_key_is_made_with_its_choices_and_a_wrong_one_makes_none(ask):
    refused = ask("POST", "/keys", {"name": "mine", "choices": {"reasoning_field": "loud"}})
    assert refused.status == 400
    assert "must be one of reasoning_content" in refused.json["error"]["message"]
    assert ask("GET", "/keys").json == []
    made = ask("POST", "/keys", {"choices": {"reasoning_field": "both"}})
    assert made.json["choices"] == {"reasoning_field": "both"}
    assert ask("GET", "/keys").json[0]["choices"] == {"reasoning_field": "both"}


def test_no_hash_is_shown(ask):
    secret = ask("POST", "/keys", {}).json["secret"]
    shown = ask("GET", "/keys").json[0]
    assert shown.keys() == {"id", "name", "created", "disabled", "choices"}
    assert shown["name"] == "unnamed"
    assert secret not in str(shown)


def test_a_disabled_key_opens_no_more(ask, amazon, loop):
    made = ask("POST", "/keys", {"name": "mine"}).json
    assert ask("POST", f"/keys/{made['id']}/disable").json == {"disabled": True}
    assert ask("GET", "/keys").json[0]["disabled"]
    ring = KeyRing(DynamoKeys(TABLE, amazon))
    assert loop.run_until_complete(ring.admit([made["secret"]])) is None
    assert ask("POST", "/keys/nobody/disable").status == 404


@pytest.mark.parametrize("body", [{"name": ""}, {"name": "x" * 101}, {"name": 3}, [], "x"])
def test_a_request_that_cannot_be_is_refused_and_makes_nothing(ask, body):
    assert ask("POST", "/keys", body).status == 422
    assert ask("GET", "/keys").json == []


def test_vendors_are_listed_with_whether_they_have_a_key_and_never_with_it(ask, amazon, loop):
    put_vendor_key(loop, amazon, "OPENAI_API_KEY", "sk-in-ssm")
    answer = ask("GET", "/vendors")
    rows = {row["id"]: row for row in answer.json}
    assert {id for id, row in rows.items() if row["has_key"]} == {"openai", "groq", "mine"}
    assert rows["openai"] == {
        "id": "openai",
        "base_url": "https://api.openai.com/v1",
        "dialects": rows["openai"]["dialects"],
        "key_name": "OPENAI_API_KEY",
        "has_key": True,
        "keys": 1,
        "needs_key": True,
    }
    assert "openai-chat" in rows["openai"]["dialects"]
    assert rows["mine"]["base_url"] == "https://mine.example/v1"
    assert not rows["local"]["needs_key"]
    assert rows["openai-compatible"]["base_url"] is None
    assert "sk-in" not in answer.text


def test_health_is_what_the_store_has_seen(ask, amazon, loop):
    refusal = KeyRefusal(1, 1_700_000_000, 1_700_000_060, "rate_limit", 429)
    seen = [
        VendorHealth("groq", 1_700_000_000.5, Failure(1_700_000_100, "dispatch-fetch", "rate_limit", 429)),
        VendorHealth("openai", 1_700_000_000, refusals=(refusal,)),
    ]
    for one in seen:
        loop.run_until_complete(DynamoHealth(TABLE, amazon).record(one))
    assert ask("GET", "/health").json == [
        {
            "vendor": "groq",
            "last_success": "2023-11-14T22:13:20.500000Z",
            "last_error": {
                "at": "2023-11-14T22:15:00Z",
                "phase": "dispatch-fetch",
                "kind": "rate_limit",
                "http_status": 429,
            },
            "keys": [],
        },
        {
            "vendor": "openai",
            "last_success": "2023-11-14T22:13:20Z",
            "last_error": None,
            "keys": [
                {
                    "key": 2,
                    "refused_at": "2023-11-14T22:13:20Z",
                    "rests_until": "2023-11-14T22:14:20Z",
                    "kind": "rate_limit",
                    "http_status": 429,
                }
            ],
        },
    ]


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"authorizer": None},
        {"authorizer": {}},
        {"authorizer": {"iam": None}},
        {"authorizer": {"iam": {}}},
        {"authorizer": {"iam": {"userArn": None}}},
        {"authorizer": {"jwt": {"claims": {"sub": "x"}}}},
        {"authorizer": "iam"},
    ],
)
def test_who_did_not_sign_makes_nothing_however_the_url_was_configured(ask, context):
    answer = ask("POST", "/keys", {}, context=context)
    assert answer.status == 403
    assert answer.json["error"]["code"] == "not_signed"
    assert ask("GET", "/keys").json == []


@pytest.mark.parametrize(
    "path", ["/", "/keys", "/vendors", "/health", "/usage", "/docs", "/redoc", "/openapi.json", "/nowhere"]
)
def test_who_did_not_sign_sees_nothing_at_all(ask, path):
    assert ask("GET", path, context={}).status == 403


def test_the_log_says_who_made_which_key_and_no_secret(ask, caplog):
    with caplog.at_level("INFO"):
        made = ask("POST", "/keys", {"name": "mine"}).json
        ask("POST", f"/keys/{made['id']}/disable")
    assert f"key_made id={made['id']} name=mine by={SIGNER}" in caplog.text
    assert f"key_disabled key={made['id']} by={SIGNER}" in caplog.text
    assert made["secret"] not in caplog.text


def test_a_store_that_fails_is_told_without_its_inside(ask, amazon, loop, caplog):
    loop.run_until_complete(amazon.dynamodb(lambda client: client.delete_table(TableName=TABLE)))
    answer = ask("GET", "/keys")
    assert answer.status == 500
    assert answer.json["error"]["code"] == "store_error"
    assert "request-1" in answer.text
    assert "ResourceNotFoundException" not in answer.text
    assert "ResourceNotFoundException" in caplog.text


def test_the_documentation_describes_every_path(ask):
    document = ask("GET", "/openapi.json").json
    assert set(document["paths"]) == {"/vendors", "/health", "/usage", "/keys", "/keys/{id}/disable"}
    assert ask("GET", "/docs").headers["content-type"].startswith("text/html")


def test_the_entry_reads_the_environment_when_it_is_imported(tmp_path):
    code = (
        "import json, sys\nfrom motes.hosts.manage import handler\n"
        "print(json.dumps(handler(json.load(sys.stdin), None)))\n"
        "assert not {'botocore', 'boto3'} & set(sys.modules), 'the SDK was loaded for nothing'"
    )
    environ = os.environ | {"MOTES_HOME": str(tmp_path), "MOTES_TABLE": "motes"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environ,
        cwd=tmp_path,
        input=json.dumps(event("GET", "/openapi.json")),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["statusCode"] == 200
    broken = subprocess.run(
        [sys.executable, "-c", code],
        env=environ | {"MOTES_TABLE": "x"},
        cwd=tmp_path,
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "MOTES_TABLE" in broken.stderr


def test_usage_is_told_in_groups_with_the_words_of_the_command(ask, amazon, loop):
    row = UsageRow(
        run="r1",
        at=time.time() - 60,
        key="k1",
        vendor="openai",
        model="gpt-5",
        finish="stop",
        source="measured",
        tokens_in=100,
        tokens_out=20,
        cost=0.5,
    )
    loop.run_until_complete(DynamoUsage(TABLE, amazon, 400).add([row, replace(row, run="r2", cost=0.25)]))
    told = ask("GET", "/usage", query="by=key,model&since=1h").json
    assert told["by"] == ["key", "model"]
    (group,) = told["rows"]
    assert (group["key"], group["model"], group["runs"], group["cost"]) == ("k1", "openai/gpt-5", 2, 0.75)
    assert group.keys() == {"key", "model", *COLUMNS}
    assert told["total"] == {name: group[name] for name in COLUMNS}


@pytest.mark.parametrize("query", ["by=colour", "since=soon", "since=1h&until=2h"])
def test_usage_that_cannot_be_meant_is_refused_with_the_place(ask, query):
    answer = ask("GET", "/usage", query=query)
    assert answer.status == 400
    assert answer.json["error"]["param"] in query
