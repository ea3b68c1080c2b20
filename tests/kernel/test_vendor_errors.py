"""Any vendor's error body becomes one error with the right kind; nothing raises, nothing is long."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes.errors import EXCERPT_CHARS
from motes.vendor_errors import from_body, from_http, read_failure, recoded

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "kind", "retryable"),
    [
        ({"error": {"message": "bad", "type": "invalid_request_error", "code": None}}, "invalid_request", False),
        ({"error": {"message": "Slow down", "code": 429, "metadata": {"provider_name": "P", "raw": "r"}}}, "rate_limit", True),
        ({"error": {"message": "x", "code": "insufficient_quota", "type": "insufficient_quota"}}, "quota", False),
        ({"error": {"message": "x", "code": "context_length_exceeded"}}, "context_length", False),
        ({"error": "model failed"}, "server_error", True),
        ({"error": ["first", "second"]}, "server_error", True),
        ("boom", "server_error", True),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", True),
        ({"type": "error", "error": {"type": "authentication_error", "message": "x"}}, "authentication", False),
        ({"type": "error", "error": {"type": "billing_error", "message": "x"}}, "quota", False),
        ({"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}, "overloaded", True),
        ([{"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}], "rate_limit", True),
        ({"error": {"code": 400, "message": "bad key", "status": "INVALID_ARGUMENT",
                    "details": [{"reason": "API_KEY_INVALID"}]}}, "authentication", False),
        ({"object": "error", "message": "This model's maximum context length is 8 tokens", "code": 400}, "context_length", False),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "server_error", True),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "quota", False),
        ({"error": "Rate limit reached, try later"}, "rate_limit", True),
        ({"error": "Server is overloaded"}, "overloaded", True),
        ({"error": "too many input tokens"}, "context_length", False),
        ({"code": 529, "message": "x"}, "overloaded", True),
        ({"success": False, "errors": [{"code": 1000, "message": "x"}], "result": None}, "server_error", True),
        ({}, "server_error", True),
        (None, "server_error", True),
    ],
)  # fmt: skip
def test_a_body_without_a_status_tells_its_kind(body: Any, kind: str, retryable: bool) -> None:
    error = from_body(body)
    assert (error.kind, error.retryable) == (kind, retryable)
    assert error.message


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "invalid_request", False), (401, "authentication", False), (402, "quota", False),
        (403, "authentication", False), (404, "invalid_request", False), (408, "timeout", True),
        (413, "context_length", False), (422, "invalid_request", False), (429, "rate_limit", True),
        (451, "content_blocked", False), (500, "server_error", True), (502, "server_error", True),
        (503, "overloaded", True), (504, "timeout", True), (524, "timeout", True), (529, "overloaded", True),
        (418, "invalid_request", False), (599, "server_error", True),
    ],
)  # fmt: skip
def test_a_status_tells_its_kind_where_the_body_is_silent(status: int, kind: str, retryable: bool) -> None:
    error = from_http(status, "")
    assert (error.kind, error.retryable, error.http_status) == (kind, retryable, status)
    assert str(status) in error.message


def test_a_vendor_may_mean_another_thing_by_a_status() -> None:
    error = from_http(498, {"message": "invalid api token"})
    assert recoded(error, {}).kind == "overloaded"
    mine = recoded(error, {"498": "authentication"})
    assert (mine.kind, mine.retryable) == ("authentication", False)
    assert recoded(from_http(400, {"error_type": "TOO_MANY_TOKENS"}), {}).kind == "context_length"


def test_a_quota_is_not_a_rate_limit_and_is_never_retried() -> None:
    body = {
        "error": {
            "message": "You exceeded your current quota, please check your plan",
            "code": "insufficient_quota",
        }
    }
    assert from_http(429, body).kind == "quota"
    assert not from_http(429, body).retryable


def test_a_limit_that_says_when_to_come_back_is_no_empty_purse() -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}
    words = "You exceeded your current quota, please check your plan and billing details"
    error = from_http(
        429, {"error": {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": [detail]}}
    )
    assert (error.kind, error.retryable, error.retry_after) == ("rate_limit", True, 22.0)
    assert from_http(429, {"error": {"type": "exceeded_current_quota_error", "message": "x"}}).kind == "quota"


def test_an_aggregators_error_names_the_provider_behind_it() -> None:
    error = from_body(
        {
            "error": {
                "message": "Provider returned error",
                "code": 502,
                "metadata": {"provider_name": "P", "raw": "r"},
            }
        }
    )
    assert "P: r" in error.message


def test_an_html_page_is_told_by_its_title() -> None:
    error = from_http(
        502, "<!doctype html><html><head><title> Bad gateway </title></head><body>…</body></html>"
    )
    assert error.message == "the upstream answered with an HTML page: Bad gateway"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "17"}, 17.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after": "Sun, 29 Nov 99999999999999999999 12:00:30 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert read_failure(429, headers, b"{}", NOW).retry_after == seconds


def test_a_delay_in_googles_body_counts_when_no_header_does() -> None:
    body = b'{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"retryDelay":"12.5s"}]}}'
    assert read_failure(429, {}, body, NOW).retry_after == 12.5


def test_a_vendor_may_forbid_the_retry_and_its_request_id_is_kept() -> None:
    error = read_failure(500, {"x-should-retry": "false", "x-request-id": "req_1"}, b"", NOW)
    assert not error.retryable
    assert error.request_id == "req_1"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "error",
                    "message",
                    "code",
                    "type",
                    "status",
                    "details",
                    "metadata",
                    "detail",
                    "errors",
                    "base_resp",
                    "msg",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.none() | st.integers(400, 599))
def test_no_body_makes_it_raise_or_talk_long(body: Any, status: int | None) -> None:
    error = from_http(status, body) if status else from_body(body)
    assert error.message
    assert len(error.message) <= EXCERPT_CHARS + 80


@given(
    st.binary(max_size=200),
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-should-retry"]), st.text(max_size=9)
    ),
)
def test_no_answer_makes_it_raise(body: bytes, headers: dict[str, str]) -> None:
    assert read_failure(500, headers, body, NOW).http_status == 500


MANY = 1_000_000


@pytest.mark.parametrize("body", ["<title" * MANY, "<title>" * MANY, "<" * MANY, "<html>" + " " * MANY, "context" * MANY,
                                  "exceeds the " * MANY, " " * MANY + "x", "input token" * MANY])  # fmt: skip
def test_of_a_long_body_only_the_head_is_looked_at(body: str) -> None:
    for made in (
        body,
        {"error": {"message": body}},
        {"error": {"code": body, "type": body, "request_id": body}},
    ):
        error = from_body(made)
        assert error == from_body(_shortened(made))
        assert len(error.message) <= EXCERPT_CHARS
        assert all(len(word) <= 100 for word in (error.code, error.type, error.request_id) if word)


def _shortened(body: Any) -> Any:
    """The same with no more than a head and one character of it."""
    if isinstance(body, dict):
        return {name: _shortened(value) for name, value in body.items()}
    return body.lstrip()[:4097]


def test_the_title_of_a_page_stands_in_its_head() -> None:
    page = "<!DOCTYPE html>\n<HTML><TITLE lang=x>İ Bad\n gateway</Title>" + "x" * MANY
    assert from_body(page).message == "the upstream answered with an HTML page: İ Bad gateway"
    late = "<html>" + "x" * 5000 + "<title>late</title>"
    assert from_body(late).message == "the upstream answered with an HTML page: no title"


@pytest.mark.parametrize("code", ["²", "9" * 5000, "٣", "-1", "1e3", int("9" * 4000), -(10**30), "c" * MANY])
@pytest.mark.parametrize("key", ["code", "status_code", "error_code", "status"])
def test_a_code_that_is_no_number_of_a_status_is_at_most_a_word(key: str, code: Any) -> None:
    error = from_http(503, {"error": {key: code, "message": "busy"}})
    assert (error.kind, error.message) == ("overloaded", "busy")
    assert len(error.code or "") <= 100


@pytest.mark.parametrize("wait", ["9" * 400 + "s", "²s", "s", "1.s", "-1s", "99999999999s", 3, None, ["1s"]])
def test_a_wait_that_cannot_be_meant_is_none(wait: Any) -> None:
    body = {"error": {"code": 429, "message": "q", "details": [{"retryDelay": wait}]}}
    assert from_http(429, body).retry_after is None
    headers = {"retry-after": str(wait).removesuffix("s")}
    assert read_failure(429, headers, b"{}", NOW).retry_after in (None, 0.0, 3.0, 1.0)


@pytest.mark.parametrize("reason", ["r" * MANY, 3, None, ["x"], {"a": 1}])
def test_a_reason_is_a_word_or_nothing(reason: Any) -> None:
    error = from_http(429, {"error": {"code": 7, "message": "q", "details": [{"reason": reason}]}})
    assert len(error.code or "") <= 100
