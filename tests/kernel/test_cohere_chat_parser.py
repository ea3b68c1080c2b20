"""Cohere's events add up to the answer they were, with its sources, and nothing but `message-end` is an end."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.houses import House, calls, codes, of
from fakes.recordings import message, particles
from motes import particles as p
from motes.dialects.cohere_chat import DIALECT

HOUSE = House(DIALECT, "data: ", "\n\n")
read, run = HOUSE.read, HOUSE.run


def event(type: str, index: Any = None, id: Any = None, **about: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"type": type, "delta": {"message": about}}
    return out | ({"index": index} if index is not None else {}) | ({"id": id} if id else {})


def start(index: Any = 0, **content: Any) -> dict[str, Any]:
    kind = next(iter(content), "text")
    return event("content-start", index, content={"type": kind, **({kind: ""} | content)})


def delta(index: Any = 0, **content: Any) -> dict[str, Any]:
    return event("content-delta", index, content=content)


def call(index: Any, id: Any, name: Any, arguments: Any = "") -> dict[str, Any]:
    made = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return event("tool-call-start", index, tool_calls=made)


def more(index: Any, arguments: Any) -> dict[str, Any]:
    return event("tool-call-delta", index, tool_calls={"function": {"arguments": arguments}})


def cited(index: int = 0, **citation: Any) -> dict[str, Any]:
    return event("citation-start", index, citations=citation)


def end(reason: Any = "COMPLETE", usage: Any = None, **members: Any) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage, **members}}


def document(id: str, **fields: Any) -> dict[str, Any]:
    return {"type": "document", "id": id, "document": {"id": id, **fields}}


def test_text_and_thinking_come_out_apart_and_the_id_is_kept() -> None:
    begin = event("message-start", id="r1", role="assistant")
    out = run(begin, start(0, thinking="h"), delta(0, thinking="m"), start(1), delta(1, text="a"), end())
    said = [x for x in out if isinstance(x, p.Text | p.Reasoning | p.ResponseId)]
    assert said == [p.ResponseId("r1"), p.Reasoning("hm"), p.Text("a")]
    assert of(p.End, out) == [p.End("done-dialect", "ok", None, "COMPLETE")]


def test_two_blocks_of_thinking_are_two_blocks() -> None:
    m = read(start(0, thinking="a"), start(1, thinking="b"), start(2, text="t"), end())
    assert m.reasoning == "ab"
    assert len(m.fragments) == 3


def test_a_plan_is_told_as_one_and_is_no_reasoning() -> None:
    plan = [event("tool-plan-delta", tool_plan=t) for t in ("I will", " look.")]
    out = run(*plan, call(0, "a", "f", "{}"), end("TOOL_CALL"))
    assert of(p.Reasoning, out) == [p.Reasoning("I will look.", "plan")]
    assert message(out).reasoning == ""


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("COMPLETE", "ok"),
        ("STOP_SEQUENCE", "ok"),
        ("MAX_TOKENS", "out-of-tokens"),
        ("TOOL_CALL", "ok-tool_invocations"),
        ("ERROR_TOXIC", "filter-content"),
        ("ERROR_LIMIT", "out-of-tokens"),
        ("NEW_WORD", "ok"),
    ],
)
def test_every_reason_has_its_meaning_and_an_unknown_one_is_a_plain_stop(reason: str, stop: str) -> None:
    m = read(start(text="a"), end(reason))
    assert m.end is not None
    assert (m.end.stop, m.end.native_stop) == (stop, reason)
    assert codes(m) == (["unknown_stop_reason"] if reason == "NEW_WORD" else [])


@pytest.mark.parametrize("reason", [None, "", 7])
def test_an_end_without_a_reason_is_an_end_with_a_word(reason: Any) -> None:
    m = read(start(text="a"), end(reason))
    assert (m.outcome, codes(m)) == ("completed", ["no_finish_reason"])


@pytest.mark.parametrize(
    ("reason", "told", "kind", "text"),
    [
        ("ERROR", "it broke", "server_error", "it broke"),
        ("ERROR", None, "server_error", "'ERROR'"),
        ("ERROR_NEW", None, "server_error", "'ERROR_NEW'"),
        ("TIMEOUT", None, "timeout", "'TIMEOUT'"),
        (None, "it broke", "server_error", "it broke"),
    ],
)
def test_a_failure_at_the_end_is_an_issue_and_no_success(
    reason: Any, told: Any, kind: str, text: str
) -> None:
    out = run(
        start(text="Half"), end(reason, {"tokens": {"input_tokens": 2, "output_tokens": 1}}, error=told)
    )
    (issue,) = of(p.Issue, out)
    assert issue.error is not None
    assert (issue.error.kind, issue.error.retryable) == (kind, True)
    assert text in issue.text
    assert of(p.End, out) == [p.End("issue-dialect")]
    assert of(p.Metrics, out)


def test_parallel_calls_are_told_apart_by_their_index() -> None:
    m = read(
        call(0, "a", "f", '{"x"'), call(1, "b", "g"), more(0, ":1"), more(1, "{}"), more(0, "}"),
        event("tool-call-end", 0), call(2, "", "h"), more(2, ""), end("TOOL_CALL"),
    )  # fmt: skip
    assert calls(m) == [("a", "f", '{"x":1}'), ("b", "g", "{}"), ("made_1", "h", "{}")]


def test_arguments_without_an_index_belong_to_the_latest_call() -> None:
    m = read(call(None, "a", "f"), more(None, "{}"), call(None, "b", "g", {"y": 2}), end("TOOL_CALL"))
    assert calls(m) == [("a", "f", "{}"), ("b", "g", '{"y":2}')]
    assert codes(read(more(0, "{}"), end())) == ["orphan_arguments"]


def test_a_call_cut_by_the_limit_stays_raw() -> None:
    m = read(call(0, "a", "f"), more(0, '{"x":"half'), end("MAX_TOKENS"))
    assert calls(m) == [("a", "f", '{"x":"half')]


def test_a_citation_has_its_place_in_the_whole_text_and_one_particle_a_source() -> None:
    sources = [document("d:0", title="T"), document("d:1", url="https://a.example", title="U")]
    passage = {
        "start": 1,
        "end": 3,
        "text": "bc",
        "sources": sources,
        "content_index": 2,
        "type": "TEXT_CONTENT",
    }
    m = read(start(0, thinking="hm"), start(1, text="0123"), start(2, text="abcd"), cited(**passage), end())
    first, second = m.citations
    assert (first.title, first.url, first.document, first.start, first.end) == ("T", "", "d:0", 5, 7)
    assert (second.title, second.url, second.start, second.end) == ("U", "https://a.example", 5, 7)
    assert first.location == {
        "type": "document", "id": "d:0", "in": "TEXT_CONTENT", "contentIndex": 2, "start": 1, "end": 3,
    }  # fmt: skip
    assert m.text[first.start : first.end] == "bc"


@pytest.mark.parametrize("kind", ["THINKING_CONTENT", "PLAN"])
def test_a_citation_outside_the_text_has_no_place_in_it(kind: str) -> None:
    source = {"type": "tool", "id": "call:0", "tool_output": {"knots": "12"}}
    passage = {"start": 0, "end": 2, "sources": [source], "content_index": 0, "type": kind}
    (citation,) = read(start(0, thinking="hm"), cited(**passage), start(1, text="a"), end()).citations
    assert (citation.start, citation.end, citation.title, citation.url) == (None, None, "", "")
    assert citation.document == "call:0"
    assert citation.location is not None
    assert (citation.location["in"], citation.location["start"]) == (kind, 0)


def test_a_citation_of_a_block_that_is_not_named_is_placed_only_where_there_is_no_choice() -> None:
    passage = {"start": 0, "end": 1, "sources": [document("d")]}
    assert read(start(0, text="ab"), cited(**passage), end()).citations[0].start == 0
    m = read(start(0, text="ab"), start(1, text="cd"), cited(**passage), end())
    assert m.citations[0].start is None


def test_usage_counts_all_tokens_and_cached_ones_once() -> None:
    tokens = {"input_tokens": 500.0, "output_tokens": 80, "reasoning_tokens": 30}
    usage = {"billed_units": {"input_tokens": 9, "output_tokens": 7}, "tokens": tokens, "cached_tokens": 144}
    (metrics,) = of(p.Metrics, run(start(text="a"), end(usage=usage)))
    assert metrics == p.Metrics(tokens_in=356, tokens_cache_read=144, tokens_out=80, tokens_out_reasoning=30)
    (billed,) = of(p.Metrics, run(end(usage={"billed_units": {"input_tokens": 9, "output_tokens": 7}})))
    assert (billed.tokens_in, billed.tokens_out) == (9, 7)
    (odd,) = of(p.Metrics, run(end(usage={"tokens": {"input_tokens": 5}, "cached_tokens": 9})))
    assert (odd.tokens_in, odd.tokens_cache_read) == (0, 5)
    assert of(p.Metrics, run(end(usage={"billed_units": {"search_units": 1}}))) == []


def test_a_whole_body_is_read_as_the_stream_it_could_have_been() -> None:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ab"}]
    made = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    citation = {"start": 0, "end": 1, "sources": [document("d", title="T")], "content_index": 1}
    answer = {"content": content, "tool_plan": "I will", "tool_calls": [made, made], "citations": [citation]}
    body = {
        "id": "r",
        "message": answer,
        "finish_reason": "TOOL_CALL",
        "usage": {"tokens": {"input_tokens": 1}},
    }
    for indent in (None, 1):
        m = HOUSE.whole(body, indent)
        assert (m.text, m.reasoning, m.plan, m.response_id) == ("ab", "hm", "I will", "r")
        assert [name for _, name, _ in calls(m)] == ["f", "f"]
        assert m.citations[0].start == 0
        assert m.end is not None
        assert (m.outcome, m.end.stop) == ("completed", "ok-tool_invocations")
    assert HOUSE.whole({"message": {"content": "plain"}, "finish_reason": "COMPLETE"}).text == "plain"


@pytest.mark.parametrize(
    "data",
    [
        {"message": "boom"},
        {"type": "error", "message": "boom"},
        {"error": "boom"},
        {"error": {"message": "boom"}},
        {"detail": "boom"},
    ],
)
def test_errors_of_any_shape_are_issues(data: Any) -> None:
    (issue,) = of(p.Issue, run(data))
    assert issue.text == "boom"


def test_without_message_end_nothing_is_complete() -> None:
    for tail in ([], ["[DONE]"], [event("content-end", 0)], [event("tool-call-end", 0), "[DONE]"]):
        m = read(start(text="all of it"), *tail)
        assert m.outcome == "failed"
        assert m.error is not None
        assert m.error.kind == "stream_truncated"


def test_nothing_is_said_after_the_end() -> None:
    m = read(start(text="a"), end(), "[DONE]", delta(0, text="b"), {"message": "late"})
    assert (m.text, m.outcome) == ("a", "completed")


def test_a_type_may_stand_in_the_event_name_alone() -> None:
    wire = b"".join(
        f"event: {e.pop('type')}\ndata: {json.dumps(e)}\n\n".encode()
        for e in (start(0, text="a"), delta(0, text="b"), end())
    )
    m = message(particles(DIALECT, [wire]))
    assert (m.text, m.outcome) == ("ab", "completed")


def test_events_and_blocks_that_are_not_known_are_counted_and_skipped() -> None:
    odd = [event("debug"), event("weather"), {"x": 1}, start(0, hologram={}), start(1, text="a")]
    m = read(*odd, end())
    assert (m.text, m.outcome, codes(m)) == ("a", "completed", ["unknown_event", "unknown_block"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "delta", "message", "content", "text", "thinking", "tool_calls", "function", "name", "arguments",
         "id", "index", "citations", "sources", "document", "start", "end", "content_index", "finish_reason",
         "usage", "tokens", "input_tokens", "cached_tokens", "error", "tool_plan", "x"]
    ), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip
TYPES = st.sampled_from(
    ["content-start", "content-delta", "tool-plan-delta", "tool-call-start", "tool-call-delta", "citation-start",
     "message-start", "message-end", "", "error"]
)  # fmt: skip


@given(st.lists(st.tuples(TYPES, JSON, JSON, JSON), max_size=5))
def test_whatever_comes_there_is_one_end_and_nothing_raises(events: list[Any]) -> None:
    shaped = [{"type": t, "index": i, "delta": {"message": m, **({"usage": d} if t else {})}, "message": d} for t, i, m, d in events]  # fmt: skip
    assert len(of(p.End, run(*shaped))) == 1
    assert len(of(p.End, run(*(m for _, _, m, _ in events)))) == 1
