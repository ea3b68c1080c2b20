"""Failures inside a chat-completions stream, and bodies that are no stream at all."""

import json
from typing import Any

import pytest

from fakes.chat_streams import DONE, body, chunk, codes, completion, read, stop
from fakes.recordings import message, particles
from motes import particles as p
from motes.dialects.openai_chat import DIALECT

# Failures in the stream.


@pytest.mark.parametrize(
    ("event", "kind", "words"),
    [
        ({"error": "boom"}, "server_error", "boom"),
        ({"error": {"message": "boom", "type": "server_error"}}, "server_error", "boom"),
        ({"error": [{"message": "boom"}]}, "server_error", "boom"),
        ({"error": {"message": "slow", "code": 429}}, "rate_limit", "slow"),
        ({"error": {"code": "429", "message": "slow"}}, "rate_limit", "slow"),
        ({"error": {"message": "no key", "code": 401}, "choices": []}, "authentication", "no key"),
        ({"error": {"message": "x", "type": "insufficient_quota", "code": 429}}, "quota", "x"),
        ({"error": {"code": "tool_use_failed", "message": "bad call"}}, "malformed_tool_call", "bad call"),
        ({"object": "error", "message": "prompt is too long", "code": 400}, "context_length", "too long"),
        ({"detail": "Not Found"}, "server_error", "Not Found"),
        (
            {"detail": [{"loc": ["body"], "msg": "field required", "type": "missing"}]},
            "server_error",
            "field",
        ),
        ({"message": "Unauthorized", "status_code": 401}, "authentication", "Unauthorized"),
        ({"code": 6004, "msg": "quota exceeded", "requestId": "q"}, "server_error", "quota"),
        ({"message": "internal"}, "server_error", "internal"),
        ({"type": "error", "message": "internal"}, "server_error", "internal"),
        ({"success": False, "errors": [{"code": 3040, "message": "no capacity"}]}, "overloaded", "capacity"),
        ({"base_resp": {"status_code": 1013, "status_msg": "oops"}, "choices": []}, "server_error", "oops"),
        ({"Response": {"Error": {"Code": "X", "Message": "oops"}}}, "server_error", "oops"),
        ({"choices": [], "x_groq": {"error": "gone"}}, "server_error", "gone"),
        (
            {"choices": [{"index": 0, "delta": {}, "error": {"code": 503, "message": "busy"}}]},
            "overloaded",
            "busy",
        ),
        ([{"error": {"code": 503, "message": "down", "status": "UNAVAILABLE"}}], "overloaded", "down"),
    ],
)
@pytest.mark.parametrize("after_text", [True, False])
def test_a_failure_in_any_shape_is_one_issue(event: Any, kind: str, words: str, after_text: bool) -> None:
    before = [chunk({"content": "hi"})] if after_text else []
    m = read(*before, event, DONE)
    assert m.error is not None
    assert m.error.kind == kind
    assert words in m.error.message
    assert m.end == p.End("issue-dialect")


def test_an_aggregators_error_tells_its_cause() -> None:
    error = {"message": "boom", "code": 429, "metadata": {"provider_name": "P", "raw": "r"}}
    found = read(chunk({"content": "a"}), {"error": error}).error
    assert found is not None
    assert (found.message, found.http_status, found.retryable) == ("boom (P: r)", 429, True)


def test_what_came_with_the_failure_is_kept_before_it() -> None:
    event = chunk(
        {"content": " end"},
        "error",
        error={"message": "x"},
        usage={"prompt_tokens": 1, "completion_tokens": 2},
    )
    m = read(chunk({"content": "the"}), event, DONE)
    assert m.text == "the end"
    assert m.metrics == p.Metrics(tokens_in=1, tokens_out=2)
    assert m.error is not None
    assert m.error.message == "x"


def test_a_failure_after_the_finish_reason_is_still_one() -> None:
    assert read(chunk({"content": "a"}, "length"), {"error": {"code": 400, "message": "x"}}, DONE).error


@pytest.mark.parametrize("data", ['{"error": {"code": 400, "message": "bad"}}', '{"message": "bad"}', "bad"])
def test_an_event_named_error_is_one_whatever_it_holds(data: str) -> None:
    m = message(particles(DIALECT, [f": wait\n\nevent: error\ndata: {data}\n\n".encode()]))
    assert m.error is not None
    assert m.error.message == "bad"


@pytest.mark.parametrize("calm", [None, "", {}, [], {"message": "", "code": None}, False, 0])
def test_an_empty_error_member_is_no_failure(calm: Any) -> None:
    assert read(chunk({"content": "a"}, error=calm), chunk(finish="stop", error=calm), DONE).error is None


# Whole bodies.


def test_a_whole_body_is_read_like_a_stream_and_reasoning_comes_first() -> None:
    value = completion(
        {
            "content": "<think>x</think>text",
            "reasoning_content": "why",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}},
            ],
            "annotations": [
                {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
            ],
        },
        "tool_calls",
        provider="P",
        usage={"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 30}},
    )
    out = particles(DIALECT, [json.dumps(value).encode()])
    assert [x for x in out if not isinstance(x, p.Metrics)] == [
        p.ModelName("m"),
        p.ResponseId("r1"),
        p.ProviderInfra("P"),
        p.Reasoning("why"),
        p.Text("<think>x</think>text"),
        p.ToolCall("a", "f", "{}"),
        p.ToolCall("b", "g"),
        p.Citation("A", "https://a.example"),
        p.ToolCallArguments("{}", "b"),
        p.End("done-dialect", "ok-tool_invocations", None, "tool_calls"),
    ]


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v]], ids=["object", "array"])
def test_a_whole_body_may_come_bare_or_as_the_only_event(wrap: Any) -> None:
    value = wrap(completion({"content": "hi"}))
    assert body(value).text == read(value).text == read(value, DONE).text == "hi"


def test_a_whole_body_without_a_finish_reason_is_complete_because_its_json_is() -> None:
    m = body(completion({"content": "hi"}, None))
    assert (m.text, stop(m), codes(m)) == ("hi", "ok", ["no_finish_reason"])


def test_a_cut_body_is_no_success() -> None:
    cut = json.dumps(completion({"content": "hi"}))[:-4].encode()
    found = message(particles(DIALECT, [cut]))
    assert (found.text, stop(found)) == ("", None)
    assert found.error


def test_a_first_message_of_a_cut_stream_is_no_whole_body() -> None:
    event = {"object": "chat.completion.chunk", "choices": [{"index": 0, "message": {"content": "hi"}}]}
    assert stop(read(event)) is None


def test_a_body_that_is_an_error_under_status_200() -> None:
    found = body({"error": {"message": "no such model", "code": "model_not_found"}, "choices": None}).error
    assert found is not None
    assert found.message == "no such model"
