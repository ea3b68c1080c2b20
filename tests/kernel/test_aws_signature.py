"""AWS's signature: made when a request is sent, over what is sent, and by nobody but who may."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from fakes.sigv4 import expected_signature, signature_of
from motes.dispatch import Dispatch, UpstreamRequest, generate, unsigned
from motes.errors import PrepareError
from motes.intake import parse_request
from motes.vendors.auth import AWSCredentials, region_of, signer
from motes.vendors.vendor import Auth, Surface, Vendor

HI = parse_request({"messages": [{"role": "user", "content": "Hi"}]})
NOW = datetime(2026, 11, 29, 12, 30, 5, tzinfo=UTC)
LATER = datetime(2026, 11, 29, 12, 31, 0, tzinfo=UTC)
SECRET = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ROW = Vendor(
    id="bedrock",
    base_url="https://bedrock-runtime.eu-west-1.amazonaws.com",
    surfaces=(Surface(dialect="bedrock-converse"),),
    auth=Auth("sigv4", "bedrock"),
    key_name="AWS_BEARER_TOKEN_BEDROCK",
)


def plan(secret: str | None = SECRET, model: str = "amazon.nova-lite-v1:0") -> Dispatch:
    return generate(HI, ROW, model, secret=secret)


def valid(request: UpstreamRequest, key: str = SECRET.partition(":")[2]) -> bool:
    headers = request.headers
    return signature_of(headers) == expected_signature(
        request.method, request.url, headers, request.body, key
    )


def test_the_published_example_comes_out() -> None:
    """`get-vanilla` of AWS's own test suite for this signature."""
    credentials = AWSCredentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    sign = signer(Auth("sigv4", "service", "us-east-1"), credentials)
    headers = sign(
        "GET", "https://example.amazonaws.com/", {}, b"", datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
    )
    assert headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date, "
        "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    )


def test_a_request_is_signed_when_it_is_sent_and_over_its_body() -> None:
    dispatch = plan()
    assert "authorization" not in dispatch.request.headers
    request = dispatch.sign(dispatch.request, NOW)
    assert valid(request)
    assert request.headers["x-amz-date"] == "20261129T123005Z"
    assert "/20261129/eu-west-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.body == dispatch.request.body
    assert request.headers["content-type"] == "application/json"


def test_every_sending_has_a_signature_of_its_own() -> None:
    dispatch = plan()
    first, second = dispatch.sign(dispatch.request, NOW), dispatch.sign(dispatch.request, LATER)
    assert valid(first)
    assert valid(second)
    assert signature_of(first.headers) != signature_of(second.headers)


def test_a_signature_is_void_over_another_body() -> None:
    from dataclasses import replace

    dispatch = plan()
    assert not valid(replace(dispatch.sign(dispatch.request, NOW), body=b"{}"))


@pytest.mark.parametrize(
    "model",
    [
        "amazon.nova-lite-v1:0",
        "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3",
        "a model/with spaces?and=marks#and ü",
    ],
)
def test_a_model_name_of_any_characters_is_in_the_path_and_in_the_signature(model: str) -> None:
    dispatch = plan(model=model)
    path = urlsplit(dispatch.request.url).path
    assert path.count("/") == 3
    assert path.endswith("/converse-stream")
    assert urlsplit(dispatch.request.url).query == ""
    assert valid(dispatch.sign(dispatch.request, NOW))


def test_a_session_token_goes_along_and_is_signed() -> None:
    dispatch = plan(secret=f"{SECRET}:the+session/token==")
    request = dispatch.sign(dispatch.request, NOW)
    assert request.headers["x-amz-security-token"] == "the+session/token=="
    assert "x-amz-security-token" in request.headers["authorization"]
    assert valid(request)


def test_a_bearer_key_travels_and_nothing_is_signed() -> None:
    dispatch = plan(secret="ABSKQmVkcm9jaw==")
    assert dispatch.request.headers["authorization"] == "Bearer ABSKQmVkcm9jaw=="
    assert dispatch.sign is unsigned
    assert dispatch.sign(dispatch.request, NOW) is dispatch.request


def test_other_vendors_are_not_signed_even_where_their_key_looks_like_two() -> None:
    row = Vendor(id="x", base_url="https://x.example/v1", surfaces=(Surface(dialect="openai-chat"),))
    dispatch = generate(HI, row, "m", secret="id:key")
    assert dispatch.request.headers["authorization"] == "Bearer id:key"
    assert dispatch.sign is unsigned


def test_without_any_key_both_ways_to_give_one_are_named() -> None:
    with pytest.raises(PrepareError) as refused:
        plan(secret=None)
    assert "AWS_BEARER_TOKEN_BEDROCK" in refused.value.message
    assert "AWS_ACCESS_KEY_ID" in refused.value.message


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        ("id:key", AWSCredentials("id", "key")),
        ("id:key:token", AWSCredentials("id", "key", "token")),
        ("id:key:", AWSCredentials("id", "key")),
        ("id:key:a:b", AWSCredentials("id", "key", "a:b")),
        ("ABSKabc", None),
        (":key", None),
        ("id:", None),
        ("", None),
    ],
)
def test_a_pair_of_keys_is_told_from_a_bearer_key(secret: str, expected: AWSCredentials | None) -> None:
    assert AWSCredentials.of(secret) == expected


def test_credentials_are_in_no_repr() -> None:
    assert "key" not in repr(AWSCredentials("id", "key", "token"))
    assert SECRET.partition(":")[2] not in repr(plan())


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/x", "eu-west-1"),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("https://bedrock-mantle.us-east-2.api.aws/v1", "us-east-2"),
        ("https://vpce-1a.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com", "ap-southeast-2"),
        ("https://proxy.example/bedrock", None),
        ("http://127.0.0.1:8080", None),
    ],
)
def test_the_region_is_what_the_address_says(url: str, region: str | None) -> None:
    assert region_of(url) == region
