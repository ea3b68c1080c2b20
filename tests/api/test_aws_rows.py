"""Amazon's rows: where they stand, whose keys they take, and what the operator may change."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from motes.aws import AWS
from motes.cli import main
from motes.credentials import open_vendor_keys, vendor_keys
from motes.dispatch import Dispatch, generate
from motes.egress.reply import signature_format
from motes.errors import PrepareError, StoreError
from motes.intake import parse_request
from motes.settings import AWS_KEY, Settings, load_settings
from motes.vendors.catalogue import Catalogue, build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS

HI = parse_request({"messages": [{"role": "user", "content": "hi"}]})
NOW = datetime(2026, 11, 29, tzinfo=UTC)
PAIR = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}


def settings(tmp_path: Path, toml: str = "", **environ: str) -> Settings:
    (tmp_path / "motes.toml").write_text(toml)
    return load_settings({"MOTES_HOME": str(tmp_path), **environ}, tmp_path)


def catalogue(tmp_path: Path, toml: str = "", **environ: str) -> Catalogue:
    return build_catalogue(VENDORS, ALIASES, settings(tmp_path, toml, **environ))


def plan(rows: Catalogue, model: str, dialect: str | None = None) -> Dispatch:
    route = rows.resolve(model)
    return generate(HI, speaking(route.vendor, dialect, route.model), route.model, secret="id:key")


@pytest.mark.parametrize(
    ("model", "dialect", "url"),
    [
        ("bedrock/m", None, "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse-stream"),
        (
            "bedrock/anthropic.claude-x",
            "bedrock-invoke",
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-x/invoke-with-response-stream",
        ),
        ("aws/m", None, "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse-stream"),
        (
            "bedrock-openai/m",
            None,
            "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/chat/completions",
        ),
        (
            "bedrock-openai/m",
            "openai-responses",
            "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/responses",
        ),
        ("bedrock-mantle/m", None, "https://bedrock-mantle.us-east-1.api.aws/v1/chat/completions"),
        ("bedrock-mantle-openai/m", None, "https://bedrock-mantle.us-east-1.api.aws/openai/v1/responses"),
        (
            "bedrock-mantle-anthropic/m",
            None,
            "https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages",
        ),
    ],
)
def test_every_surface_stands_at_its_host(tmp_path: Path, model: str, dialect: str | None, url: str) -> None:
    assert plan(catalogue(tmp_path), model, dialect=dialect).request.url == url


def signed_scope(dispatch: Dispatch) -> str:
    return dispatch.sign(dispatch.request, NOW).headers["authorization"].split("Credential=")[1].split(",")[0]


def test_a_signature_is_for_the_service_and_region_of_the_host(tmp_path: Path) -> None:
    rows = catalogue(tmp_path, AWS_REGION="eu-west-1")
    assert signed_scope(plan(rows, "bedrock/m")) == "id/20261129/eu-west-1/bedrock/aws4_request"
    assert signed_scope(plan(rows, "bedrock-mantle/m")) == "id/20261129/eu-west-1/bedrock-mantle/aws4_request"


@pytest.mark.parametrize(
    ("toml", "environ", "region"),
    [
        ("", {}, "us-east-1"),
        ("", {"AWS_DEFAULT_REGION": "ap-southeast-2"}, "ap-southeast-2"),
        ("", {"AWS_REGION": "us-gov-west-1", "AWS_DEFAULT_REGION": "ap-southeast-2"}, "us-gov-west-1"),
        ('aws_region = "eu-north-1"', {"AWS_REGION": "us-west-2"}, "eu-north-1"),
        ('aws_region = "eu-north-1"', {"MOTES_AWS_REGION": "sa-east-1"}, "sa-east-1"),
        ("", {"AWS_REGION": "evil.example/"}, "us-east-1"),
        ("", {"AWS_REGION": "us-east-1\n"}, "us-east-1"),
    ],
)
def test_the_region_is_the_operators(tmp_path: Path, toml: str, environ: dict[str, str], region: str) -> None:
    row = catalogue(tmp_path, toml, **environ).vendors["bedrock"]
    assert row.base_url == f"https://bedrock-runtime.{region}.amazonaws.com"
    assert row.auth.region == region


def test_a_region_of_the_settings_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrepareError, match="aws_region"):
        settings(tmp_path, 'aws_region = "x.evil.example/"')


def test_behind_a_proxy_the_region_is_that_of_the_settings(tmp_path: Path) -> None:
    rows = catalogue(tmp_path, BEDROCK_BASE_URL="https://proxy.example/aws", AWS_REGION="eu-west-3")
    dispatch = plan(rows, "bedrock/m")
    assert dispatch.request.url == "https://proxy.example/aws/model/m/converse-stream"
    assert "/eu-west-3/bedrock/" in signed_scope(dispatch)


def test_another_region_is_a_row_of_the_operators(tmp_path: Path) -> None:
    toml = """
    [vendors.bedrock-tokyo]
    dialect = "bedrock-converse"
    base_url = "https://bedrock-runtime.ap-northeast-1.amazonaws.com"
    auth = "sigv4"
    """
    rows = catalogue(tmp_path, toml)
    assert rows.vendors["bedrock-tokyo"].key_name == AWS_KEY
    assert "/ap-northeast-1/bedrock/" in signed_scope(plan(rows, "bedrock-tokyo/m"))


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({}, None),
        ({AWS_KEY: "ABSK", **PAIR}, "ABSK"),
        (PAIR, "AKIDEXAMPLE:secret"),
        ({**PAIR, "AWS_SESSION_TOKEN": "tok"}, "AKIDEXAMPLE:secret:tok"),
        ({"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}, None),
    ],
)
def test_a_bearer_key_comes_before_a_pair(tmp_path: Path, environ: dict[str, str], key: str | None) -> None:
    assert vendor_keys("bedrock", [AWS_KEY], settings(tmp_path), environ) == ((key,) if key else ())
    assert vendor_keys("openai", ["OPENAI_API_KEY"], settings(tmp_path), environ) == ()


class Chain(AWS):
    """botocore's chain with a known end."""

    def __init__(self, found: str | None) -> None:
        super().__init__()
        self.found, self.asked = found, 0

    async def credentials(self) -> str | None:
        self.asked += 1
        if self.found == "broken":
            raise StoreError("credentials cannot be had now")
        return self.found


async def test_where_the_environment_points_elsewhere_botocore_is_asked(tmp_path: Path) -> None:
    chain = Chain("A:B:C")
    keys = open_vendor_keys(settings(tmp_path), {"AWS_PROFILE": "dev"}, chain)
    assert await keys.all("bedrock", [AWS_KEY]) == ("A:B:C",)
    assert await keys.all("bedrock-mantle", [AWS_KEY]) == ("A:B:C",)
    assert await keys.all("openai", ["OPENAI_API_KEY"]) == ()
    assert chain.asked == 1


async def test_a_broken_profile_is_no_key_and_no_failure(tmp_path: Path) -> None:
    keys = open_vendor_keys(settings(tmp_path), {"AWS_PROFILE": "dev"}, Chain("broken"))
    assert await keys.all("bedrock", [AWS_KEY]) == ()


async def test_botocore_is_not_asked_where_a_key_lies_nearer_or_nothing_points_there(tmp_path: Path) -> None:
    chain = Chain("A:B")
    assert await open_vendor_keys(settings(tmp_path), {}, chain).all("bedrock", [AWS_KEY]) == ()
    keys = open_vendor_keys(settings(tmp_path), {**PAIR, "AWS_PROFILE": "dev"}, chain)
    assert await keys.all("bedrock", [AWS_KEY]) == ("AKIDEXAMPLE:secret",)
    assert chain.asked == 0


async def test_a_profile_is_read_by_botocore_itself(tmp_path: Path, monkeypatch: Any) -> None:
    file = tmp_path / "credentials"
    file.write_text("[dev]\naws_access_key_id = AK\naws_secret_access_key = SK\naws_session_token = ST\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "dev")
    assert await AWS().credentials() == "AK:SK:ST"
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(StoreError) as failed:
        await AWS().credentials()
    assert "ProfileNotFound" in failed.value.message


def test_signatures_of_reasoning_have_the_name_of_who_can_read_them() -> None:
    assert signature_format("bedrock-converse") == "bedrock-converse-v1"
    assert signature_format("bedrock-invoke") == signature_format("anthropic-messages")


def explained(capfdbinary: Any, tmp_path: Path, monkeypatch: Any, model: str) -> dict[str, Any]:
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
    monkeypatch.setenv("MOTES_HOME", str(tmp_path))
    for name, value in {
        **PAIR,
        "AWS_SESSION_TOKEN": "tok",
        AWS_KEY: "ABSK",
        "AWS_REGION": "eu-west-1",
    }.items():
        monkeypatch.setenv(name, value)
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["explain", "--model", model]) == 0
    out = capfdbinary.readouterr().out
    assert b"AKIDEXAMPLE" not in out
    assert b"Signature=" not in out
    shown: dict[str, Any] = json.loads(out)
    return shown


def test_explain_shows_a_signed_request_without_its_signature(
    capfdbinary: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    shown = explained(capfdbinary, tmp_path, monkeypatch, "bedrock/us.amazon.nova-pro-v1:0")
    assert shown["url"].startswith(
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.amazon.nova-pro-v1%3A0/"
    )
    assert shown["headers"]["authorization"] == "***"
    assert shown["headers"]["x-amz-date"] == "***"
    assert explained(capfdbinary, tmp_path, monkeypatch, "bedrock/us.amazon.nova-pro-v1:0") == shown


async def test_a_key_of_bedrocks_in_the_parameters_goes_before_the_keys_of_this_process(tmp_path):
    class Parameters(Chain):
        async def ssm(self, _):
            return {AWS_KEY: "bearer-of-ssm"}

    given = {**PAIR, "MOTES_HOME": str(tmp_path), "MOTES_KEY_PATH": "/motes"}
    keys = open_vendor_keys(load_settings(given, tmp_path), given, Parameters(None))
    assert await keys.all("bedrock", [AWS_KEY]) == ("bearer-of-ssm",)


async def test_the_keys_of_this_process_are_left_alone_where_the_operator_says_so(tmp_path):
    given = {**PAIR, "AWS_PROFILE": "dev", "MOTES_HOME": str(tmp_path), "MOTES_AWS_KEYS": "false"}
    keys = open_vendor_keys(load_settings(given, tmp_path), given, Chain("AKIDEXAMPLE:of-the-chain"))
    assert await keys.all("bedrock", [AWS_KEY]) == ()
