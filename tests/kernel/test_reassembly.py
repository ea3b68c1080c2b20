"""Reassembly: a run of particles adds up to one message, and the outcome is decided once."""

from typing import get_args

import pytest

from motes import particles as p
from motes import reassembly
from motes.errors import VendorError
from motes.fragments import CodeFragment, MediaFragment, Message, OperationFragment, ReasoningFragment
from motes.reassembly import Reassembler

OK = p.End("done-dialect", "ok")
FAILED = p.End("issue-dialect")


def put_together(*particles: p.Particle) -> Message:
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return reassembler.finalize()


def test_every_particle_is_handled_or_named_as_ignored() -> None:
    assert set(get_args(p.Particle)) == set(reassembly._HANDLERS) | set(reassembly.IGNORED)


def test_text_reasoning_and_refusal_keep_their_order() -> None:
    m = put_together(p.Reasoning("a"), p.Reasoning("b"), p.Text("c"), p.Text("d"), p.Refusal("no"), OK)
    assert (m.reasoning, m.text, m.refusal, m.outcome) == ("ab", "cd", "no", "completed")
    assert len(m.fragments) == 3


def test_a_plan_is_told_apart_from_reasoning() -> None:
    plan = (p.Reasoning("I will", "plan"), p.Reasoning(" look.", "plan"))
    m = put_together(p.Reasoning("hm"), *plan, p.Reasoning("so"), p.ToolCall("a", "f", "{}"), OK)
    assert (m.reasoning, m.plan) == ("hmso", "I will look.")
    assert len(m.fragments) == 4


def test_a_signed_block_is_closed_and_the_next_one_is_its_own() -> None:
    m = put_together(
        p.Reasoning("a"),
        p.ReasoningSignature("s1"),
        p.Reasoning("b"),
        p.ReasoningSignature("s2"),
        p.Text("c"),
        OK,
    )
    blocks = [f for f in m.fragments if isinstance(f, ReasoningFragment)]
    assert [(b.text, b.signature) for b in blocks] == [("a", "s1"), ("b", "s2")]


def test_a_signature_without_text_and_encrypted_parcels_are_kept() -> None:
    m = put_together(
        p.ReasoningRedacted("r1"), p.ReasoningRedacted("r2"), p.Reasoning(""), p.ReasoningSignature("s"), OK
    )
    blocks = [f for f in m.fragments if isinstance(f, ReasoningFragment)]
    assert [b.redacted for b in blocks if b.redacted] == [["r1", "r2"]]
    assert [b.signature for b in blocks if b.signature] == ["s"]


def test_interleaved_arguments_find_their_calls() -> None:
    m = put_together(
        p.ToolCall("a", "f", '{"x":'),
        p.ToolCall("b", "g"),
        p.ToolCallArguments("{}", "b"),
        p.ToolCallArguments("1}", "a"),
        p.ToolCallArguments(""),
        p.End("done-dialect", "ok-tool_invocations"),
    )
    assert [(c.name, c.arguments, c.complete) for c in m.tool_calls] == [
        ("f", '{"x":1}', True),
        ("g", "{}", True),
    ]


def test_text_between_argument_pieces_breaks_nothing() -> None:
    m = put_together(p.ToolCall("a", "f", "{"), p.Text("x"), p.ToolCallArguments("}", "a"), OK)
    assert m.tool_calls[0].arguments == "{}"
    assert m.text == "x"


def test_a_failed_turn_keeps_its_text_and_hands_over_no_call() -> None:
    issue = p.Issue("dialect-issue", "busy", VendorError(message="busy", kind="overloaded"))
    m = put_together(p.Text("so far"), p.ToolCall("a", "f", '{"x'), issue, FAILED)
    assert (m.text, m.tool_calls, m.outcome) == ("so far", [], "failed")
    assert m.error is not None
    assert m.error.kind == "overloaded"


def test_a_run_without_an_end_is_failed() -> None:
    m = put_together(p.Text("x"))
    assert m.outcome == "failed"
    assert m.end == p.End("done-dispatch-closed")


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (p.End("done-dialect", "out-of-tokens"), "completed"),
        (p.End("done-dispatch-closed", "ok"), "completed"),
        (p.End("done-dialect"), "failed"),
        (p.End("done-dispatch-aborted"), "aborted"),
        (p.End("issue-dispatch-rpc"), "failed"),
    ],
)
def test_the_stop_reason_outranks_the_way_it_closed(end: p.End, outcome: str) -> None:
    assert put_together(p.Text("x"), end).outcome == outcome


def test_an_operation_is_updated_in_place_and_marked_when_it_never_ended() -> None:
    active = p.Operation("1", "Searching", "search-web")
    done = p.Operation("1", "Found", "search-web", "done")
    other = p.Operation("2", "Running", "code-exec")
    m = put_together(active, p.Text("x"), done, other, OK)
    found = [f.operation for f in m.fragments if isinstance(f, OperationFragment)]
    assert [(o.text, o.state) for o in found] == [("Found", "done"), ("Running", "done")]
    failed = put_together(other, FAILED)
    assert [f.operation.state for f in failed.fragments if isinstance(f, OperationFragment)] == ["error"]


def test_code_results_find_their_call() -> None:
    call = p.CodeCall("c", "python", "1+1", "gemini_auto_inline")
    result = p.CodeResult("c", False, "2", "gemini_auto_inline", "upstream")
    m = put_together(call, p.Text("x"), result, OK)
    assert [(f.call, f.result) for f in m.fragments if isinstance(f, CodeFragment)] == [(call, result)]


def test_a_preview_gives_way_to_the_next_image() -> None:
    m = put_together(
        p.Image("image/png", "a", partial=True), p.Image("image/png", "b"), p.Image("image/png", "c"), OK
    )
    assert [f.media.base64 for f in m.fragments if isinstance(f, MediaFragment)] == ["b", "c"]


def test_a_reset_goes_back_to_the_checkpoint_and_not_beyond() -> None:
    reset = p.RetryReset("srv-op", "since-checkpoint", "busy", 2, 4, 1000)
    m = put_together(p.Text("kept"), p.Note("1 of 10"), p.Text(" lost"), reset, p.Text(" new"), OK)
    assert m.text == "kept new"


def test_a_reset_of_everything_leaves_nothing() -> None:
    reset = p.RetryReset("cli-ll", "all", "network", 1, 3, 0)
    m = put_together(p.Text("a"), p.Note("1"), p.Text("b"), p.Metrics(tokens_out=3), reset, p.Text("c"), OK)
    assert m.text == "c"
    assert m.metrics is None


def test_a_reset_that_clears_nothing_clears_nothing() -> None:
    m = put_together(p.Text("a"), p.RetryReset("srv-dispatch", "none", "busy", 1, 3, 0), p.Text("b"), OK)
    assert m.text == "ab"


def test_usage_of_continued_segments_is_summed_and_within_a_segment_the_last_wins() -> None:
    m = put_together(
        p.Metrics(tokens_in=10, tokens_out=1),
        p.Metrics(tokens_in=10, tokens_out=50),
        p.Note("1 of 10"),
        p.Metrics(tokens_in=20, tokens_out=7, tokens_cache_read=3),
        OK,
    )
    assert m.metrics == p.Metrics(tokens_in=30, tokens_out=57, tokens_cache_read=3)


def test_state_of_a_fragment_and_of_the_message_are_kept_apart() -> None:
    m = put_together(
        p.ToolCall("a", "f", "{}"),
        p.VendorState("gemini", {"thoughtSignature": "s"}),
        p.VendorState("anthropic", {"container": {"id": "c"}}),
        OK,
    )
    assert m.tool_calls[0].state == {"gemini": {"thoughtSignature": "s"}}
    assert m.vendor_state == {"anthropic": {"container": {"id": "c"}}}


def test_what_a_newer_server_says_is_kept() -> None:
    unknown = p.Unknown({"p": "hologram"})
    assert put_together(unknown, OK).unknown == [unknown]
