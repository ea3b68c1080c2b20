"""Converse that is not quite Converse: what is unknown is counted, what is odd is mended, nothing raises."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.converse import METADATA, START, STOP, body, closed, delta, of, opened, said, stopped, whole
from fakes.eventstream import event
from motes import particles as p

NAMES = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "error",
    "somethingElse",
]
KEYS = [
    "role", "start", "delta", "contentBlockIndex", "stopReason", "usage", "metrics", "trace", "text", "toolUse",
    "toolUseId", "name", "input", "type", "toolResult", "status", "image", "format", "source", "bytes",
    "reasoningContent", "signature", "redactedContent", "citation", "location", "web", "url", "documentChar",
    "sourceContent", "title", "inputTokens", "latencyMs", "guardrail", "actionReason", "promptRouter",
    "invokedModelId", "output", "message", "content", "citationsContent", "citations", "reasoningText", "error",
    "audio", "video", "s3Location", "uri", "json", "server_tool_use", "__type",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.floats(allow_nan=False),
    st.sampled_from(["", "x", *KEYS, "AA==", "="]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=8))
def test_events_of_any_content_never_raise_and_end_once(told: list[tuple[str, Any]]) -> None:
    run = said(*[event(name, value) for name, value in told])
    assert [isinstance(x, p.End) for x in run].count(True) == 1
    assert isinstance(run[-1], p.End)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_bodies_of_any_content_never_raise_and_end_once(value: dict[str, Any]) -> None:
    assert [isinstance(x, p.End) for x in body(value)].count(True) == 1


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        (event("weather", {"mood": "calm"}), "unknown_event"),
        (opened(0, hologram={}), "unknown_block"),
        (delta(0, hologram={}), "unknown_delta"),
        (delta(0, toolUse={"input": "{}"}), "orphan_delta"),
        (START, "repeated_message"),
        (
            opened(0, image={"format": "png"}) + delta(0, image={"error": {"message": "too large"}}),
            "media_failed",
        ),
        (opened(0, toolResult={}) + delta(0, toolUse={"input": "{}"}), "misplaced_delta"),
    ],
)
def test_what_is_odd_is_counted_and_the_answer_goes_on(odd: bytes, code: str) -> None:
    run = said(START, odd, delta(9, text="Still here."), STOP, METADATA)
    assert code in [warning.code for warning in of(p.Warn, run)]
    assert [x.text for x in of(p.Text, run)] == ["Still here."]
    assert run[-1].stop == "ok"


def test_an_unknown_stop_reason_is_a_plain_stop_with_a_word() -> None:
    run = said(START, delta(0, text="x"), stopped("tide_turned"), METADATA)
    assert run[-1] == p.End("done-dialect", "ok", None, "tide_turned")
    assert [warning.code for warning in of(p.Warn, run)] == ["unknown_stop_reason"]


@pytest.mark.parametrize("index", [None, "0", -1, 1.5, [], {}])
def test_a_block_without_a_number_is_the_latest_one(index: Any) -> None:
    use = {"toolUseId": "a", "name": "f"}
    run = whole(
        START,
        opened(index, toolUse=use),
        delta(index, toolUse={"input": "{}"}),
        closed(index),
        stopped("tool_use"),
    )
    assert [(c.id, c.arguments) for c in run.tool_calls] == [("a", "{}")]


def test_two_kinds_under_one_number_are_two_blocks() -> None:
    run = whole(
        START, delta(0, reasoningContent={"text": "Hm."}), delta(0, text="Yes."), delta(0, text=" So."), STOP
    )
    assert (run.reasoning, run.text) == ("Hm.", "Yes. So.")


def test_one_event_that_is_no_json_is_skipped() -> None:
    run = said(START, event("contentBlockDelta", b"not json"), delta(0, text="Hi"), STOP, METADATA)
    assert [x.text for x in of(p.Text, run)] == ["Hi"]
    assert run[-1].stop == "ok"


def test_arguments_that_come_as_an_object_are_their_json() -> None:
    use = {"toolUseId": "a", "name": "f"}
    run = whole(START, opened(0, toolUse=use), delta(0, toolUse={"input": {"a": 1}}), stopped("tool_use"))
    assert json.loads(run.tool_calls[0].arguments) == {"a": 1}


def test_a_call_without_id_or_name_is_still_a_call() -> None:
    run = whole(START, opened(0, toolUse={}), stopped("tool_use"))
    (call,) = run.tool_calls
    assert call.id
    assert call.name == "unknown_function"


def test_nothing_follows_the_end() -> None:
    run = said(START, delta(0, text="Hi"), STOP, METADATA, delta(0, text=" again"), METADATA)
    assert [x.text for x in of(p.Text, run)] == ["Hi"]
    assert isinstance(run[-1], p.End)
