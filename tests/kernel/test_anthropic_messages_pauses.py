"""A paused answer asks to go on; a failure told in-band ends the attempt."""

import json
from typing import Any

import pytest

from fakes.messages_wire import block, end, last_metrics, pumped, sse, start, text, tool
from fakes.recordings import WIRE, load, message
from motes import particles as p
from motes.continuation import continued
from motes.transmitter import Continue, Retry

# A pause.


def test_a_pause_asks_to_go_on_with_what_was_said_so_far() -> None:
    out, verdict = pumped(load(WIRE / "anthropic-messages" / "anthropic-pause-turn").body)
    assert isinstance(verdict, Continue)
    (turn,) = verdict.patch["messages+"]
    assert turn["role"] == "assistant"
    assert [b["type"] for b in turn["content"]] == [
        "thinking",
        "text",
        "server_tool_use",
        "web_search_tool_result",
    ]
    assert turn["content"][0]["signature"] == "c2lnLXBhdXNl"
    assert turn["content"][2]["input"] == {"query": "faro tides 1950"}
    assert turn["content"][3]["content"][0]["encrypted_content"] == "ZW5jcnlwdGVkLXBhZ2U="
    assert verdict.patch["container"] == "container_01abc"
    assert message([*out, p.End("done-dialect", "ok")]).text == "Searching further"
    assert last_metrics(out).tokens_out == 77


def test_a_pause_in_a_whole_body_keeps_its_text() -> None:
    whole = {"type": "message", "role": "assistant", "stop_reason": "pause_turn"}
    body = {**whole, "content": [{"type": "text", "text": "FIRST"}], "usage": {"output_tokens": 5}}
    out, verdict = pumped(json.dumps(body).encode())
    assert p.Text("FIRST") in out
    assert isinstance(verdict, Continue)


def test_both_halves_of_a_paused_answer_are_one_answer_and_their_tokens_are_summed() -> None:
    first, _ = pumped(sse(start(), *text(0, "FIRST "), *end("pause_turn", usage={"output_tokens": 50})))
    second, ended = pumped(sse(start(id="msg_2"), *text(0, "SECOND"), *end(usage={"output_tokens": 7})))
    m = message([*first, p.Note("pause_turn"), *second, ended])
    assert m.text == "FIRST SECOND"
    assert m.metrics is not None
    assert (m.metrics.tokens_in, m.metrics.tokens_out) == (20, 57)


def test_a_pause_is_a_pause_also_where_message_stop_was_lost() -> None:
    _, verdict = pumped(sse(start(), *text(0, "x"), end("pause_turn")[0]))
    assert isinstance(verdict, Continue)


def test_what_the_vendor_would_refuse_is_not_sent_back() -> None:
    _, verdict = pumped(
        sse(
            start(),
            *text(0, "\n"),
            *block(1, type="thinking", thinking="unsigned"),
            *block(2, type="redacted_thinking", data="R"),
            *tool(3, '{"half', id="s1", type="server_tool_use", name="web_search"),
            *block(4, type="hologram", data={"k": [1]}),
            *end("pause_turn"),
        )
    )
    assert isinstance(verdict, Continue)
    assert verdict.patch["messages+"][0]["content"] == [
        {"type": "redacted_thinking", "data": "R"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "hologram", "data": {"k": [1]}},
    ]


def test_a_pause_with_nothing_to_send_back_adds_no_turn() -> None:
    _, verdict = pumped(sse(start(), *end("pause_turn")))
    assert verdict.patch == {"messages+": []}
    assert continued({"messages": [{"role": "user"}]}, verdict.patch) == {"messages": [{"role": "user"}]}


LONG = ["words and "] * 8000
SEARCH = tool(1, "{}", id="s1", type="server_tool_use", name="web_search")


def test_a_pause_after_a_long_text_goes_on_where_the_vendor_had_used_a_tool_of_its_own() -> None:
    _, verdict = pumped(sse(start(), *text(0, "Hm."), *SEARCH, *text(2, *LONG), *end("pause_turn")))
    assert isinstance(verdict, Continue)
    assert [len(one.get("text", "")) for one in verdict.patch["messages+"][0]["content"]] == [3, 0, 80_000]


def test_a_text_too_long_for_a_pause_ends_as_the_vendor_left_it_and_never_goes_on_without_it() -> None:
    out, verdict = pumped(sse(start(), *text(0, *LONG), *SEARCH, *end("pause_turn")))
    assert isinstance(verdict, p.End)
    assert (verdict.stop, verdict.native_stop) == ("ok", "pause_turn")
    assert message([*out, verdict]).text == "".join(LONG)
    assert "pause_not_continued" in [one.code for one in out if isinstance(one, p.Warn)]


# Failures the vendor tells in-band.


def error(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "M"}, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("kind", "mapped"),
    [("overloaded_error", "overloaded"), ("rate_limit_error", "rate_limit"), ("api_error", "server_error")],
)
def test_a_retryable_failure_before_anything_was_said_asks_for_another_attempt(
    kind: str, mapped: str
) -> None:
    for body in (sse(start(), error(kind)), json.dumps(error(kind)).encode()):
        _, verdict = pumped(body)
        assert isinstance(verdict, Retry)
        assert (verdict.error.kind, verdict.error.request_id) == (mapped, "req_1")


def test_a_failure_after_text_keeps_the_text_and_ends_the_run() -> None:
    out, verdict = pumped(sse(start(), *text(0, "partial"), error("overloaded_error")))
    assert p.Text("partial") in out
    assert verdict.reason == "issue-dialect"
    (issue,) = [x for x in out if isinstance(x, p.Issue)]
    assert issue.error is not None
    assert (issue.error.kind, issue.error.retryable) == ("overloaded", True)


def test_a_failure_that_is_the_callers_is_not_retried() -> None:
    _, verdict = pumped(sse(start(), error("invalid_request_error")))
    assert verdict.reason == "issue-dialect"


@pytest.mark.parametrize(
    "body",
    [
        {"error": "boom"},
        {"error": {"message": "boom"}},
        {"errors": [{"message": "boom"}]},
        {"detail": "boom"},
        {"message": "boom"},
        {"code": 6004, "msg": "boom"},
        {"base_resp": {"status_code": 1004, "status_msg": "boom"}},
        {"type": "error", "error": "boom"},
        {"type": "message_delta", "error": {"message": "boom"}},
    ],
)
def test_an_error_of_any_shape_is_an_error(body: Any) -> None:
    out, verdict = pumped(sse(start(), *text(0, "x"), body, names=False))
    assert verdict.reason == "issue-dialect"
    assert [x.text for x in out if isinstance(x, p.Issue)] == ["boom"]
