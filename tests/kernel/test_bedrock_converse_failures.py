"""How Converse fails: exceptions among the events, error frames, frames that are broken or cut."""

import pytest

from fakes.converse import START, body, delta, of, said
from fakes.eventstream import exception, frame, raw_frame
from motes import particles as p


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("throttlingException", "rate_limit"),
        ("serviceUnavailableException", "overloaded"),
        ("internalServerException", "server_error"),
        ("modelStreamErrorException", "server_error"),
        ("modelTimeoutException", "timeout"),
    ],
)
def test_an_exception_may_be_retried_while_nothing_was_said(name: str, kind: str) -> None:
    before = said(START, exception(name, {"message": "no"}))
    after = said(START, delta(0, text="Hi"), exception(name, {"message": "no"}))
    for run in (before, after):
        (issue,) = of(p.Issue, run)
        assert (issue.phase, issue.error.kind, issue.error.retryable, issue.error.type) == (
            "dialect-issue",
            kind,
            True,
            name,
        )
    assert after[-1] == p.End("issue-dialect")


@pytest.mark.parametrize(
    ("message_text", "kind"),
    [
        ("Malformed input request", "invalid_request"),
        ("Input is too long for requested model.", "context_length"),
        ("Number of input tokens exceeds maximum length", "context_length"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "context_length"),
    ],
)
def test_a_refused_input_is_told_by_what_is_wrong_with_it(message_text: str, kind: str) -> None:
    (issue,) = of(p.Issue, said(START, exception("validationException", {"message": message_text})))
    assert (issue.error.kind, issue.error.retryable) == (kind, False)


def test_an_error_frame_is_read_from_its_headers() -> None:
    (issue,) = of(
        p.Issue,
        said(
            START,
            frame(b"", message_type="error", error_code="internalServerException", error_message="it broke"),
        ),
    )
    assert (issue.error.kind, issue.error.message) == ("server_error", "it broke")


@pytest.mark.parametrize(
    "broken", [bytes(16), raw_frame(b"", b"", total=5), raw_frame(b"", b"{}")[:-1] + b"?"]
)
def test_a_broken_frame_ends_the_answer_as_an_error_of_protocol(broken: bytes) -> None:
    run = said(START, delta(0, text="Hi"), broken)
    (issue,) = of(p.Issue, run)
    assert issue.error.kind == "protocol"
    assert [x.text for x in of(p.Text, run)] == ["Hi"]


def test_a_first_frame_that_is_cut_is_cut_and_no_foreign_answer() -> None:
    for at in range(1, len(START)):
        (issue,) = of(p.Issue, said(START[:at]))
        assert issue.error.kind == "stream_truncated", at


def test_an_error_in_place_of_a_whole_body_is_an_error() -> None:
    (issue,) = of(
        p.Issue, body({"__type": "com.amazon.coral.service#ThrottlingException", "message": "slow down"})
    )
    assert (issue.error.kind, issue.error.type) == ("rate_limit", "ThrottlingException")
