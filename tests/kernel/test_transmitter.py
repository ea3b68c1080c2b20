"""The transmitter: what every vendor gets wrong alike comes out right, and the first verdict wins."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes import particles as p
from motes.codec import to_wire
from motes.errors import VendorError
from motes.reassembly import Reassembler
from motes.transmitter import Continue, Retry, Transmitter

BUSY = VendorError(message="busy", kind="overloaded", retryable=True)
WRONG = VendorError(message="wrong", kind="invalid_request")


def transmitter() -> Transmitter:
    numbers = itertools.count(1)
    return Transmitter(lambda: f"made_{next(numbers)}")


def said(say: Callable[[Transmitter], Any]) -> list[p.Particle]:
    out = transmitter()
    say(out)
    end = out.end()
    return [*out.drain(), *([end] if end else [])]


def script(*steps: tuple[Any, ...]) -> Callable[[Transmitter], None]:
    def say(out: Transmitter) -> None:
        for name, *arguments in steps:
            getattr(out, name)(*arguments)

    return say


def test_text_comes_out_as_it_went_in() -> None:
    assert said(script(("text", "a"), ("text", ""), ("text", "b"))) == [p.Text("a"), p.Text("b")]


@pytest.mark.parametrize(
    ("method", "particle"), [("text", p.Text), ("reasoning", p.Reasoning), ("refusal", p.Refusal)]
)
def test_a_character_cut_in_half_between_deltas_is_joined(method: str, particle: type) -> None:
    out = said(script((method, "x\ud83d"), (method, "\ude00y")))
    assert out == [particle("x"), particle("😀y")]


def test_a_plan_is_reasoning_of_its_own_kind_whatever_halves_it_comes_in() -> None:
    out = said(script(("plan", "x\ud83d"), ("plan", "\ude00y"), ("plan", ""), ("plan", "\ud83d"), ("done",)))
    plans = [x.text for x in out if isinstance(x, p.Reasoning) and x.weak == "plan"]
    assert plans == ["x", "😀y", "\ufffd"]


def test_a_half_that_stays_alone_becomes_the_replacement_character() -> None:
    assert said(script(("text", "a\ud83d"), ("text", "b"))) == [p.Text("a"), p.Text("\ufffdb")]
    assert said(script(("text", "\ude00b"))) == [p.Text("\ufffdb")]
    out = said(script(("text", "a\ud83d"), ("done",)))
    assert [x for x in out if isinstance(x, p.Text)] == [p.Text("a"), p.Text("\ufffd")]


def test_each_call_joins_its_own_halves() -> None:
    out = said(
        script(
            ("tool_call", "a", "f", None), ("tool_call", "b", "g", None),
            ("tool_call_arguments", '"\ud83d', "a"), ("tool_call_arguments", '"\ud83c', "b"),
            ("tool_call_arguments", '\ude00"', "a"), ("tool_call_arguments", '\udf0a"', "b"),
        )
    )  # fmt: skip
    texts = {"a": "", "b": ""}
    for particle in out:
        if isinstance(particle, p.ToolCallArguments):
            texts[particle.id or "b"] += particle.arguments
    assert texts == {"a": '"😀"', "b": '"🌊"'}


def test_a_call_without_id_gets_one_and_a_repeated_id_a_new_one() -> None:
    out = transmitter()
    ids = [out.tool_call(None, "f"), out.tool_call("x", "f"), out.tool_call("x", "f"), out.tool_call("", "f")]
    assert ids == ["made_1", "x", "made_2", "made_3"]


def test_arguments_name_their_call_unless_they_follow_it_directly() -> None:
    out = said(
        script(
            ("tool_call", "a", "f", "{"),
            ("tool_call_arguments", "1", "a"),
            ("text", "between"),
            ("tool_call_arguments", "2", "a"),
            ("text", ""),
            ("tool_call_arguments", "3", "a"),
            ("refusal", "no"),
            ("tool_call_arguments", "4", "a"),
        )
    )
    assert out == [
        p.ToolCall("a", "f", "{"),
        p.ToolCallArguments("1"),
        p.Text("between"),
        p.ToolCallArguments("2", "a"),
        p.ToolCallArguments("3"),
        p.Refusal("no"),
        p.ToolCallArguments("4", "a"),
    ]


def test_arguments_without_a_call_are_counted_and_skipped() -> None:
    out = said(script(("tool_call_arguments", "{}", None), ("tool_call_arguments", "{}", "nobody")))
    assert [type(x) for x in out] == [p.Warn]


def test_a_call_that_never_got_arguments_has_an_empty_object() -> None:
    out = said(script(("tool_call", "a", "f", ""), ("tool_call", "b", "g", " "), ("stop", "ok"), ("done",)))
    assert p.ToolCallArguments("{}", "a") in out
    assert p.ToolCallArguments("{}", "b") in out or p.ToolCallArguments("{}") in out


def test_a_call_cut_by_the_token_limit_is_kept_raw() -> None:
    out = said(script(("tool_call", "a", "f", '{"x'), ("stop", "out-of-tokens"), ("done",)))
    assert out == [p.ToolCall("a", "f", '{"x'), p.End("done-dialect", "out-of-tokens")]


def test_a_stop_with_calls_is_a_tool_stop() -> None:
    out = said(script(("tool_call", "a", "f", "{}"), ("stop", "ok"), ("done",)))
    assert out[-1] == p.End("done-dialect", "ok-tool_invocations")


def test_done_without_a_reason_is_a_stop_with_a_warning() -> None:
    out = said(script(("text", "a"), ("done",)))
    assert out[-1] == p.End("done-dialect", "ok")
    assert any(isinstance(x, p.Warn) for x in out)


def test_the_first_verdict_wins_and_nothing_is_said_after_it() -> None:
    out = said(script(("stop", "ok"), ("done",), ("text", "late"), ("issue", WRONG), ("done",)))
    assert out == [p.End("done-dialect", "ok")]


def test_a_retryable_failure_before_anything_visible_asks_for_another_attempt() -> None:
    out = transmitter()
    out.model("m")
    out.issue(BUSY)
    assert out.verdict == Retry(BUSY)


def test_a_failure_that_may_not_be_retried_becomes_an_issue() -> None:
    out = transmitter()
    out.issue(BUSY)
    out.fail("dialect-issue", BUSY)
    assert out.verdict == p.End("issue-dialect")
    assert list(out.drain()) == [p.Issue("dialect-issue", "busy", BUSY)]


def test_a_retryable_failure_after_text_ends_the_run() -> None:
    out = said(script(("text", "a"), ("issue", BUSY)))
    assert out == [p.Text("a"), p.Issue("dialect-issue", "busy", BUSY), p.End("issue-dialect")]


def test_a_pause_gives_what_came_before_it_and_the_patch() -> None:
    out = transmitter()
    out.text("first")
    out.usage(tokens_out=5)
    out.resume({"x": 1}, "paused")
    assert out.verdict == Continue({"x": 1}, "paused")
    assert list(out.drain()) == [p.Text("first"), p.Metrics(tokens_out=5)]


def test_usage_is_told_early_and_finally_and_the_last_value_wins() -> None:
    out = transmitter()
    out.usage(partial=True, tokens_in=5, tokens_out=1)
    assert list(out.drain()) == [p.Metrics(tokens_in=5, tokens_out=1, source="partial")]
    out.usage(partial=True, tokens_out=2)
    assert list(out.drain()) == []
    out.usage(tokens_out=0, tokens_in=None)
    out.stop("ok")
    out.done()
    assert list(out.drain()) == [p.Metrics(tokens_in=5, tokens_out=0)]


def test_an_emitted_metrics_particle_never_changes_afterwards() -> None:
    out = transmitter()
    out.usage(tokens_in=5)
    (first,) = out.drain()
    out.usage(tokens_in=9)
    assert first == p.Metrics(tokens_in=5)


def test_names_are_told_once() -> None:
    out = said(
        script(("model", "m"), ("model", "m"), ("model", ""), ("response_id", "r"), ("response_id", "s"))
    )
    assert out == [p.ModelName("m"), p.ResponseId("r")]


def test_each_warning_is_told_once_and_counted() -> None:
    out = transmitter()
    out.warn("odd", "one")
    out.warn("odd", "two")
    assert list(out.drain()) == [p.Warn("one", "odd")]
    assert out.warnings == {"odd": 2}


def test_tagged_text_is_split_and_flushed_at_the_end() -> None:
    out = said(script(("tagged_text", "<think>a</thi"), ("stop", "out-of-tokens"), ("done",)))
    assert out == [
        p.Reasoning("a", "tag"),
        p.Reasoning("</thi", "tag"),
        p.End("done-dialect", "out-of-tokens"),
    ]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("text"), st.text(max_size=3)),
        st.tuples(st.just("tagged_text"), st.sampled_from(["<think>", "</think>", "a", "<"])),
        st.tuples(st.just("reasoning"), st.text(max_size=3)),
        st.tuples(st.just("tool_call"), st.sampled_from([None, "a", "b"]), st.just("f"), st.sampled_from([None, "", "{}"])),
        st.tuples(st.just("tool_call_arguments"), st.sampled_from(["{", "}"]), st.sampled_from([None, "a", "b", "c"])),
        st.tuples(st.just("issue"), st.sampled_from([BUSY, WRONG])),
        st.tuples(st.just("stop"), st.sampled_from(["ok", "out-of-tokens"])),
        st.tuples(st.just("done")),
        st.tuples(st.just("resume"), st.just({}), st.just("pause")),
    ),
    max_size=20,
)  # fmt: skip


@given(STEPS)
def test_whatever_is_said_ids_are_unique_arguments_have_a_call_and_text_can_be_encoded(
    steps: list[Any],
) -> None:
    out = transmitter()
    seen: list[p.Particle] = []
    for name, *arguments in steps:
        getattr(out, name)(*arguments)
        seen += out.drain()
    ids = [x.id for x in seen if isinstance(x, p.ToolCall)]
    assert len(ids) == len(set(ids))
    assert all(x.id is None or x.id in ids for x in seen if isinstance(x, p.ToolCallArguments))
    for particle in seen:
        str(to_wire(particle)).encode()


@given(STEPS)
def test_the_reassembler_takes_whatever_is_said(steps: list[Any]) -> None:
    out, message = transmitter(), Reassembler()
    for name, *arguments in steps:
        getattr(out, name)(*arguments)
        for particle in out.drain():
            message.feed(particle)
    whole = message.finalize()
    assert whole.outcome in ("completed", "failed", "aborted")


def test_argument_pieces_of_one_call_after_another_call_began_stay_with_theirs() -> None:
    out = Transmitter(lambda: "made")
    out.tool_call("a", "f")
    out.tool_call("b", "g")
    for piece, id in (("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")):
        out.tool_call_arguments(piece, id)
    found = dict[str, str]()
    latest = ""
    for particle in out.drain():
        if isinstance(particle, p.ToolCall):
            latest = particle.id
        elif isinstance(particle, p.ToolCallArguments):
            id = particle.id or latest
            found[id] = found.get(id, "") + particle.arguments
    assert found == {"a": "12", "b": "34"}
