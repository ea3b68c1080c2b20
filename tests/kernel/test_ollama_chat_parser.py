"""Ollama's records add up to the answer they were, and nothing but `done` is an end."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.houses import House, calls, codes, of
from motes import particles as p
from motes.dialects.ollama_chat import DIALECT
from motes.quirks import Quirks

HOUSE = House(DIALECT)
read, run = HOUSE.read, HOUSE.run


def rec(**message: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": False}


def done(reason: Any = "stop", **members: Any) -> dict[str, Any]:
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
    return end | members


def test_text_and_thinking_come_out_apart_in_their_order() -> None:
    out = run(rec(thinking="hm", content=""), rec(thinking="m"), rec(content="a"), rec(content="b"), done())
    said = [x for x in out if isinstance(x, p.Text | p.Reasoning)]
    assert said == [p.Reasoning("hmm"), p.Text("ab")]
    assert of(p.End, out) == [p.End("done-dialect", "ok", None, "stop")]


def test_a_whole_body_is_read_as_the_stream_it_could_have_been() -> None:
    body = done(message={"content": "a", "thinking": "t"}, prompt_eval_count=3, eval_count=2)
    for indent in (None, 2):
        m = HOUSE.whole(body, indent)
        assert (m.text, m.reasoning, m.outcome) == ("a", "t", "completed")
        assert m.metrics is not None
        assert m.metrics.tokens_out == 2


@pytest.mark.parametrize(
    ("reason", "stop", "native"),
    [
        ("stop", "ok", "stop"),
        ("length", "out-of-tokens", "length"),
        ("load", "ok", "load"),
        ("unload", "ok", "unload"),
        ("", "ok", None),
        (None, "ok", None),
        (7, "ok", None),
        ("new_word", "ok", "new_word"),
    ],
)
def test_every_reason_has_its_meaning_and_an_unknown_one_is_a_plain_stop(
    reason: Any, stop: str, native: str | None
) -> None:
    m = read(rec(content="a"), done(reason))
    assert m.end is not None
    assert (m.end.stop, m.end.native_stop) == (stop, native)
    assert codes(m) == (["unknown_stop_reason"] if reason == "new_word" else [])


def test_a_stop_with_calls_is_a_tool_stop_and_ids_are_made_where_there_are_none() -> None:
    f, g = {"function": {"name": "f", "arguments": {"a": [1, "é"]}}}, {"function": {"name": "g"}}
    m = read(rec(content="", tool_calls=[f, g]), rec(tool_calls=[{"id": "x", **f}, {"id": "x", **g}]), done())
    assert calls(m) == [
        ("made_1", "f", '{"a":[1,"é"]}'),
        ("made_2", "g", "{}"),
        ("x", "f", '{"a":[1,"é"]}'),
        ("made_3", "g", "{}"),
    ]
    assert m.end is not None
    assert m.end.stop == "ok-tool_invocations"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, "{}"), (None, "{}"), ("", "{}"), ('{"a":1}', '{"a":1}'), ([1], "[1]")],
)
def test_arguments_of_any_form_are_json_text(arguments: Any, expected: str) -> None:
    m = read(rec(tool_calls=[{"function": {"name": "f", "arguments": arguments}}]), done())
    assert m.tool_calls[0].arguments == expected


def test_counts_and_speed_come_with_the_last_record() -> None:
    counts = {"prompt_eval_count": 10, "eval_count": 30, "eval_duration": 1_500_000_000}
    (metrics,) = of(p.Metrics, run(rec(content="a"), done(**counts, total_duration=9_000_000_000)))
    assert metrics == p.Metrics(tokens_in=10, tokens_out=30, inner_ms=1500, tokens_per_second=20.0)
    assert of(p.Metrics, run(rec(content="a"), done())) == []
    (partly,) = of(p.Metrics, run(done(eval_count=3, eval_duration=0)))
    assert (partly.tokens_in, partly.tokens_out, partly.tokens_per_second) == (None, 3, None)


@pytest.mark.parametrize(
    ("data", "mime"),
    [("iVBORw0KGgo=", "image/png"), ("/9j/4AAQ", "image/jpeg"), ("R0lGODlh", "image/gif"),
     ("UklGRg==", "image/webp"), ("AAAA", "image/png")],
)  # fmt: skip
def test_an_image_is_what_its_first_bytes_say(data: str, mime: str) -> None:
    assert of(p.Image, run(rec(images=[data, "", 3]), done())) == [p.Image(mime, data)]


def test_think_tags_are_split_unless_the_server_tells_reasoning_apart() -> None:
    tagged = [rec(content=c) for c in ("<thi", "nk>a</th", "ink>b")]
    assert (read(*tagged, done()).reasoning, read(*tagged, done()).text) == ("a", "b")
    apart = read(rec(thinking="t"), *tagged, done())
    assert (apart.reasoning, apart.text) == ("t", "<think>a</think>b")
    off = read(*tagged, done(), quirks=Quirks(think_tags=False))
    assert (off.reasoning, off.text) == ("", "<think>a</think>b")


def test_reasoning_that_comes_after_text_changes_nothing_about_the_text() -> None:
    m = read(rec(content="<th"), rec(thinking="t"), rec(content="ink>a</think>b"), done())
    assert (m.text, m.reasoning) == ("b", "ta")


def test_an_error_record_ends_the_answer_whatever_the_status_was() -> None:
    out = run(rec(content="Half"), {"error": "the runner stopped"}, done())
    (issue,) = of(p.Issue, out)
    assert (issue.text, issue.error.kind, issue.error.retryable) == (
        "the runner stopped",
        "server_error",
        True,
    )
    assert of(p.End, out) == [p.End("issue-dialect")]


@pytest.mark.parametrize(
    "record",
    [
        {"error": "boom"},
        {"error": {"message": "boom"}},
        {"error": ["boom"]},
        {"message": "boom"},
        {"detail": "boom"},
    ],
)
def test_errors_of_any_shape_are_issues(record: Any) -> None:
    (issue,) = of(p.Issue, run(record))
    assert issue.text == "boom"


def test_without_done_nothing_is_complete() -> None:
    m = read(rec(content="all of it"), {**rec(content=""), "done_reason": "stop", "eval_count": 3})
    assert m.outcome == "failed"
    assert m.error is not None
    assert m.error.kind == "stream_truncated"
    assert read({**rec(content="a"), "done": "true"}).outcome == "failed"
    assert read().outcome == "failed"


def test_nothing_is_said_after_done() -> None:
    m = read(rec(content="a"), done(), rec(content="b"), {"error": "late"})
    assert (m.text, m.outcome) == ("a", "completed")


def test_records_and_members_that_are_not_known_are_counted_or_passed_over() -> None:
    m = read({"status": "loading"}, {}, {"a": 1}, rec(content="a", mood="calm"), done(new=[1]))
    assert (m.text, m.outcome, codes(m)) == ("a", "completed", ["unknown_event"])


def test_a_server_that_passes_the_request_on_tells_to_whom() -> None:
    m = read({**rec(content="a"), "remote_host": "https://ollama.com:443", "remote_model": "x"}, done())
    assert (m.provider, m.model) == ("https://ollama.com:443", "m")


def test_records_of_generate_are_read_as_well() -> None:
    one = {"model": "m", "response": "a", "thinking": "t", "done": False}
    m = read(one, {"model": "m", "response": "b", "done": True, "done_reason": "length", "context": [1]})
    assert (m.text, m.reasoning, m.end and m.end.stop) == ("ab", "t", "out-of-tokens")


def test_a_line_that_is_no_record_is_skipped_and_counted() -> None:
    m = read(rec(content="a"), "{not json", "7", rec(content="b"), done())
    assert (m.text, m.outcome, codes(m)) == ("ab", "completed", ["bad_event"])
    assert read("x", "y", "z").error.kind == "protocol"  # type: ignore[union-attr]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["message", "content", "thinking", "tool_calls", "function", "name", "arguments", "id", "images", "done",
         "done_reason", "error", "response", "model", "eval_count", "eval_duration", "remote_host", "x"]
    ), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSON, max_size=5))
def test_whatever_comes_there_is_one_end_and_nothing_raises(records: list[Any]) -> None:
    assert len(of(p.End, run(*records))) == 1
