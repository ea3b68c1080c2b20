"""AWS tells what failed in a header, in `__type`, or not at all; it comes out as the same words as anyone's."""

import json
from datetime import UTC, datetime

import pytest

from motes.vendor_errors import from_body, read_failure

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def read(status: int, message: str = "no", type: str | None = None):
    headers = {"x-amzn-requestid": "req-1"} | ({"x-amzn-errortype": type} if type else {})
    return read_failure(status, headers, json.dumps({"message": message}).encode(), NOW)


@pytest.mark.parametrize(
    ("status", "type", "kind", "retryable"),
    [
        (400, "ValidationException", "invalid_request", False),
        (403, "AccessDeniedException", "authentication", False),
        (403, "UnrecognizedClientException", "authentication", False),
        (400, "ExpiredTokenException", "authentication", False),
        (404, "ResourceNotFoundException", "invalid_request", False),
        (408, "ModelTimeoutException", "timeout", True),
        (424, "ModelErrorException", "server_error", False),
        (429, "ThrottlingException", "rate_limit", True),
        (429, "ModelNotReadyException", "rate_limit", True),
        (400, "ServiceQuotaExceededException", "quota", False),
        (500, "InternalServerException", "server_error", True),
        (503, "ServiceUnavailableException", "overloaded", True),
    ],
)
def test_every_failure_of_the_service_has_its_kind(
    status: int, type: str, kind: str, retryable: bool
) -> None:
    error = read(status, type=f"{type}:http://internal.amazon.com/coral/com.amazon.bedrock/")
    assert (error.kind, error.retryable, error.type) == (kind, retryable, type)
    assert (error.http_status, error.request_id, error.message) == (status, "req-1", "no")


def test_without_the_header_the_status_tells() -> None:
    assert read(429).kind == "rate_limit"
    assert read(503).kind == "overloaded"


def test_the_type_may_stand_in_the_body() -> None:
    error = from_body({"__type": "com.amazonaws.bedrock#ThrottlingException", "Message": "slow"})
    assert (error.kind, error.type, error.message) == ("rate_limit", "ThrottlingException", "slow")


def test_too_many_tokens_a_day_are_no_context_that_is_too_long() -> None:
    assert read(429, "Too many tokens per day, please wait before trying again.").kind == "rate_limit"


@pytest.mark.parametrize(
    "message",
    [
        "Input is too long for requested model.",
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_an_input_that_is_too_long_is_told_by_its_words(message: str) -> None:
    assert read(400, message, "ValidationException").kind == "context_length"
