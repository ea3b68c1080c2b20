"""Failures by the vendors' own codes, in a stream of status 200 and as a whole answer."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from fakes.recordings import message, particles
from motes.dialects.registry import resolve
from motes.vendor_errors import read_failure
from motes.vendors.table import VENDORS

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def minimax(code: int) -> Any:
    return {"base_resp": {"status_code": code, "status_msg": "m"}, "choices": None}


def zai(code: str) -> Any:
    return {"error": {"code": code, "message": "m"}}


CODES = [
    ("minimax", 200, minimax(1002), "rate_limit", True),
    ("minimax", 200, minimax(1004), "authentication", False),
    ("minimax", 200, minimax(1008), "quota", False),
    ("minimax", 200, minimax(1026), "content_blocked", False),
    ("minimax", 200, minimax(2013), "invalid_request", False),
    ("minimax", 200, minimax(1013), "server_error", True),
    ("zai", 429, zai("1302"), "rate_limit", True),
    ("zai", 429, zai("1305"), "overloaded", True),
    ("zai", 429, zai("1113"), "quota", False),
    ("zai", 429, zai("1309"), "quota", False),
    ("zai", 400, zai("1261"), "context_length", False),
    ("zai", 400, zai("1301"), "content_blocked", False),
    ("zai", 401, zai("1001"), "authentication", False),
    ("zai", 500, zai("1234"), "server_error", True),
    ("codebuddy", 429, {"code": 6004, "msg": "m", "requestId": "r"}, "quota", False),
    ("codebuddy", 400, {"code": 11101, "msg": "m", "requestId": "r"}, "invalid_request", False),
    ("cloudflare", 429, {"success": False, "errors": [{"code": 3036, "message": "m"}]}, "quota", False),
    ("cloudflare", 429, {"success": False, "errors": [{"code": 3040, "message": "m"}]}, "overloaded", True),
    ("alibaba", 400, {"error": {"code": "data_inspection_failed", "message": "m"}}, "content_blocked", False),
    ("alibaba", 429, {"code": "Throttling.RateQuota", "message": "m"}, "rate_limit", True),
    ("alibaba", 400, {"code": "Arrearage", "message": "m"}, "quota", False),
    (
        "volcengine",
        429,
        {"error": {"code": "ServerOverloaded", "message": "m"}},
        "overloaded",
        True,
    ),
    (
        "volcengine",
        400,
        {"error": {"code": "SensitiveContentDetected.SevereViolation", "message": "m"}},
        "content_blocked",
        False,
    ),
    (
        "moonshot",
        429,
        {"error": {"type": "exceeded_current_quota_error", "message": "m"}},
        "quota",
        False,
    ),
    ("moonshot", 429, {"error": {"type": "engine_overloaded_error", "message": "m"}}, "overloaded", True),
    ("siliconflow", 403, {"code": 30001, "message": "m", "data": None}, "quota", False),
    ("siliconflow", 503, {"code": 50505, "message": "m", "data": None}, "overloaded", True),
    ("cerebras", 429, {"message": "m", "type": "too_many", "code": "queue_exceeded"}, "overloaded", True),
]


@pytest.mark.parametrize(("vendor", "status", "body", "kind", "retryable"), CODES)
def test_a_vendors_own_code_tells_more_than_its_status(
    vendor: str, status: int, body: Any, kind: str, retryable: bool
) -> None:
    codes = VENDORS[vendor].quirks.error_kinds
    error = read_failure(max(status, 400), {}, json.dumps(body).encode(), NOW, codes)
    assert (error.kind, error.retryable, error.message) == (kind, retryable, "m")


@pytest.mark.parametrize(("vendor", "status", "body", "kind", "retryable"), CODES)
def test_it_does_so_in_a_stream_too(vendor: str, status: int, body: Any, kind: str, retryable: bool) -> None:
    quirks = VENDORS[vendor].quirks
    out = particles(resolve("openai-chat"), [f"data: {json.dumps(body)}\n\n".encode()], quirks)
    failure = message(out).error
    assert failure is not None
    assert (failure.kind, failure.retryable) == (kind, retryable)


def test_every_code_of_a_row_is_a_text() -> None:
    codes = [code for row in VENDORS.values() for code in row.quirks.error_kinds]
    assert codes
    assert all(isinstance(code, str) for code in codes)
