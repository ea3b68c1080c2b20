"""A failure as callers see it: the right status, the right words, and no key."""

from typing import get_args

import pytest

from motes import jsontext
from motes import particles as p
from motes.codec import to_wire
from motes.egress.failure import error_object, presentable, status_of
from motes.egress.message_json import error_json
from motes.errors import STATUS_OF_KIND, ErrorKind, VendorError

TYPES = {
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "rate_limit_error",
    "insufficient_quota",
    "server_error",
    "timeout",
}
SECRET = "sk-very/secret"


def issue(kind, message="said", **fields):
    return p.Issue("dispatch-fetch", message, VendorError(message=message, kind=kind, **fields))


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_every_kind_has_a_status_and_openais_shape(kind):
    error = error_object(issue(kind))["error"]
    assert status_of(issue(kind)) == STATUS_OF_KIND[kind]
    assert error["type"] in TYPES
    assert isinstance(error["code"], str)
    assert error["param"] is None
    assert error["motes"]["kind"] == kind


@pytest.mark.parametrize("code", ["cancelled", "platform_deadline", "run_abandoned", "shutdown"])
def test_why_we_ended_a_run_is_told_where_clients_look(code):
    assert error_object(issue("server_error", code=code))["error"]["code"] == code
    # A vendor's own word is told beside ours.
    theirs = error_object(issue("server_error", code="meltdown"))["error"]
    assert (theirs["code"], theirs["motes"]["code"]) == ("upstream_error", "meltdown")


def test_a_vendors_refusal_of_our_key_is_not_the_callers_and_its_words_are_not_told():
    shown = presentable(issue("authentication", f"Incorrect API key: {SECRET[:8]}…", http_status=401), None)
    text = jsontext.dumps(error_object(shown)) + jsontext.dumps(to_wire(shown))
    assert "Incorrect" not in text
    assert SECRET[:8] not in text
    assert error_object(shown)["error"]["code"] == "upstream_auth"
    assert status_of(shown) == 502


def test_a_key_that_a_vendor_echoes_is_masked():
    said = f"bad header 'Bearer {SECRET}' at /x?key=sk-very%2Fsecret"
    shown = presentable(issue("invalid_request", said), SECRET)
    assert "secret" not in jsontext.dumps(to_wire(shown))
    assert shown.text == "bad header 'Bearer ***' at /x?key=***"


def test_an_issue_without_details_still_has_a_shape_and_a_status():
    bare = p.Issue("dispatch-read", "odd")
    assert error_object(bare)["error"]["message"] == "odd"
    assert status_of(bare) == 502
    assert status_of(None) == 502
    assert status_of(p.Issue("dispatch-prepare", "no key")) == 500


def test_a_failure_that_was_never_streamed_carries_the_text_so_far():
    assert error_object(issue("timeout"), "half an ans")["error"]["motes"]["partial"] == "half an ans"


def test_a_model_the_vendor_does_not_have_stays_not_found():
    missing = issue("invalid_request", "no such model", http_status=404)
    error = error_object(missing)["error"]
    assert status_of(missing) == error_json(missing.error, visible=False)["http_status"] == 404
    assert (error["code"], error["param"], error["type"]) == (
        "model_not_found",
        "model",
        "invalid_request_error",
    )


@pytest.mark.parametrize(
    ("kind", "status"), [("invalid_request", 400), ("invalid_request", 422), ("quota", 404)]
)
def test_no_other_status_of_the_vendors_is_passed_on(kind, status):
    other = issue(kind, http_status=status)
    assert status_of(other) == error_json(other.error, visible=False)["http_status"] == STATUS_OF_KIND[kind]
    assert error_object(other)["error"]["param"] is None
    assert error_object(other)["error"]["motes"]["upstream_status"] == status
