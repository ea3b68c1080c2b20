"""The Messages API read: bytes in, text, reasoning, calls, usage and one end out."""

import json
from typing import Any

import pytest

from fakes.messages_wire import answer, block, codes, end, last_metrics, pumped, said, sse, start, text, tool
from fakes.recordings import WIRE, load, message, ours
from fakes.recordings import particles as fed
from motes import particles as p
from motes.dialects.anthropic_messages import DIALECT
from motes.quirks import Quirks

RECORDINGS = [r for r in ours() if r.meta["dialect"] == DIALECT.name]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: r.path.name)
def test_every_recording_reads_as_expected(recording: Any) -> None:
    expected = json.loads((recording.path / "expected.json").read_text())
    if recording.failed:
        pytest.skip("an HTTP failure has no particles of its own")
    m = message(fed(DIALECT, [recording.body]))
    assert m.text == expected["text"]
    assert m.reasoning == expected["reasoning"]
    calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in m.tool_calls]
    assert calls == expected["tool_calls"]
    assert m.end is not None
    assert m.end.native_stop == expected["native_finish_reason"]
    assert m.end.reason == expected["end"]
    told = m.issue and m.issue.error
    assert (told.kind if told else None) == (expected["error"] or {}).get("kind")
    assert (m.model, m.response_id) == (expected["model"], expected["response_id"])
    assert m.metrics is not None
    assert m.metrics.tokens_out == expected["usage"]["completion"]
    assert m.metrics.source == expected["usage"]["source"]


# The whole grammar at once.


def test_everything_at_once_comes_out_in_the_order_it_came_in() -> None:
    out, verdict = pumped(load(WIRE / "anthropic-messages" / "anthropic-everything-at-once").body)
    kinds = [type(x).__name__ for x in out if not isinstance(x, p.Text | p.Metrics)]
    assert kinds == [
        "ModelName",
        "ResponseId",
        "Reasoning",
        "Reasoning",
        "ReasoningSignature",
        "ReasoningRedacted",
        "Operation",
        "Operation",
        "Operation",
        "Citation",
        "Operation",
        "Operation",
        "Operation",
        "Operation",
        "HostedResource",
        "ToolCall",
        "ToolCallArguments",
        "ToolCallArguments",
        "ToolCall",
        "HostedResource",
        "Warn",
        "VendorState",
    ]
    assert not [x for x in out if isinstance(x, p.ToolCallArguments) and not x.arguments]
    assert last_metrics(out).tokens_out_reasoning == 9
    assert verdict == p.End("done-dialect", "ok-tool_invocations", None, "tool_use")


def test_a_call_made_by_code_names_the_code_that_made_it() -> None:
    out, _ = pumped(load(WIRE / "anthropic-messages" / "anthropic-everything-at-once").body)
    nested = [x for x in out if isinstance(x, p.Operation) and x.id == "srvtoolu_03bash"]
    assert {x.parent_id for x in nested} == {"srvtoolu_02code"}
    assert nested[-1].state == "done"
    assert nested[-1].inputs == ("command: ls",)
    assert nested[-1].outputs == ("exit code 0", "gulls.csv\n")


# Text.


def test_text_is_exactly_what_the_vendor_sent_and_nothing_is_put_between_blocks() -> None:
    assert answer(text(0, "a", "b"), tool(1, "{}"), text(2, "c")).text == "abc"


def test_text_that_stands_in_the_block_start_is_said_once() -> None:
    more = {"type": "text_delta", "text": " lo"}
    assert message(said(block(0, more, type="text", text="hel"))).text == "hel lo"


def test_think_tags_at_the_head_are_reasoning_and_text_where_the_row_says_so() -> None:
    body = sse(start(), *text(0, "<thin", "king>why</thinking>", "so"), *end())
    split = message(fed(DIALECT, [body]))
    assert (split.reasoning, split.text) == ("why", "so")
    kept = message(fed(DIALECT, [body], Quirks(think_tags=False)))
    assert (kept.reasoning, kept.text) == ("", "<thinking>why</thinking>so")


def test_a_character_cut_between_deltas_is_whole_again() -> None:
    body = sse(start(), *text(0, "x"), *end())
    cut = body.replace(b'"text": "x"', b'"text": "\\ud83d"')
    more = sse(*block(0, {"type": "text_delta", "text": "Q"}, type="text", text=""))
    more = more.replace(b'"Q"', b'"\\ude00"')
    whole, _ = pumped(cut.replace(b"event: message_delta", more + b"event: message_delta"))
    assert message(whole).text == "\U0001f600"


# Reasoning.


def test_a_signature_stands_behind_its_text_wherever_it_came() -> None:
    early = block(
        0, {"type": "thinking_delta", "thinking": "b"}, type="thinking", thinking="a", signature="s"
    )
    late = block(
        0,
        {"type": "thinking_delta", "thinking": "b"},
        {"type": "signature_delta", "signature": "s"},
        type="thinking",
        thinking="a",
        signature="",
    )
    expected = [p.Reasoning("a"), p.Reasoning("b"), p.ReasoningSignature("s")]
    assert said(early) == said(late) == expected


def test_a_later_signature_replaces_an_earlier_one() -> None:
    twice = [{"type": "signature_delta", "signature": s} for s in ("one", "two")]
    out = said(block(0, *twice, type="thinking", thinking="t", signature=""))
    assert [x.signature for x in out if isinstance(x, p.ReasoningSignature)] == ["two"]


def test_an_empty_thinking_block_keeps_its_signature() -> None:
    out = said(block(0, {"type": "signature_delta", "signature": "s"}, type="thinking", thinking=""))
    assert out == [p.Reasoning(""), p.ReasoningSignature("s")]


def test_two_thinking_blocks_stay_two_each_with_its_signature() -> None:
    def thinking(index: int, words: str) -> list[dict[str, Any]]:
        return block(index, type="thinking", thinking=words, signature=f"s-{words}")

    m = message(said(thinking(0, "one"), thinking(1, "two")))
    found = [(f.text, f.signature) for f in m.fragments]  # type: ignore[union-attr]
    assert found == [("one", "s-one"), ("two", "s-two")]


def test_two_thinking_blocks_without_signature_stay_two() -> None:
    out = said(block(0, type="thinking", thinking="one"), block(1, type="thinking", thinking="two"))
    assert [f.text for f in message(out).fragments] == ["one", "two"]  # type: ignore[union-attr]


def test_redacted_parcels_are_kept_in_order_and_never_shown() -> None:
    out = said(block(0, type="redacted_thinking", data="A"), block(1, type="redacted_thinking", data="B"))
    assert out == [p.ReasoningRedacted("A"), p.ReasoningRedacted("B")]


# Tool calls.


@pytest.mark.parametrize("given", [{}, None, "", []])
def test_a_call_without_arguments_has_an_empty_object(given: Any) -> None:
    (call,) = message(fed(DIALECT, [sse(start(), *tool(0, input=given), *end("tool_use"))])).tool_calls
    assert (call.id, call.name, call.arguments) == ("t1", "f", "{}")


def test_streamed_arguments_are_told_piece_by_piece_and_empty_pieces_not_at_all() -> None:
    out = said(tool(0, "", '{"a"', ": 1}", ""))
    assert out == [p.ToolCall("t1", "f"), p.ToolCallArguments('{"a"'), p.ToolCallArguments(": 1}")]


def test_an_input_that_stands_in_the_block_is_told_with_the_call() -> None:
    assert said(tool(0, input={"a": 1})) == [p.ToolCall("t1", "f", '{"a":1}')]


def test_an_input_that_is_also_streamed_is_told_once() -> None:
    assert answer(tool(0, '{"a":', "2}", input={"a": 1})).tool_calls[0].arguments == '{"a":2}'


def test_a_call_without_id_gets_one_and_a_repeated_id_another() -> None:
    calls = answer(tool(0, "{}", id=None), tool(1, "{}"), tool(2, "{}")).tool_calls
    assert len({c.id for c in calls}) == 3
    assert all(c.id for c in calls)


def test_interleaved_pieces_go_to_the_call_their_index_names() -> None:
    def piece(index: int, words: str) -> dict[str, Any]:
        delta = {"type": "input_json_delta", "partial_json": words}
        return {"type": "content_block_delta", "index": index, "delta": delta}

    opened = [*tool(0, id="a")[:1], *tool(1, id="b")[:1]]
    m = answer(opened, piece(1, '{"n":'), piece(0, '{"n":'), piece(1, "1}"), piece(0, "0}"))
    assert [(c.id, c.arguments) for c in m.tool_calls] == [("a", '{"n":0}'), ("b", '{"n":1}')]


def test_a_call_cut_by_the_token_limit_keeps_its_raw_arguments() -> None:
    body = sse(start(), *tool(0, '{"a": "unfin'), *end("max_tokens"))
    m = message(fed(DIALECT, [body]))
    assert m.tool_calls[0].arguments == '{"a": "unfin'
    assert m.end is not None
    assert m.end.stop == "out-of-tokens"


# Usage.


def test_final_usage_replaces_the_first_counts_also_those_of_input() -> None:
    first = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
    final = {"input_tokens": 900, "cache_creation_input_tokens": 7, "output_tokens": 40}
    out, _ = pumped(sse(start(usage=first), *text(0, "x"), *end(usage=final)))
    m = last_metrics(out)
    assert (m.tokens_in, m.tokens_cache_read, m.tokens_cache_write, m.tokens_out) == (900, 5, 7, 40)
    assert m.source == "measured"


def test_counts_of_a_stream_without_its_final_ones_are_partial() -> None:
    out, _ = pumped(sse(start(), *text(0, "x")))
    assert last_metrics(out).source == "partial"


def test_a_zero_counts_and_null_changes_nothing() -> None:
    final = {"input_tokens": None, "cache_read_input_tokens": 0, "output_tokens": 0}
    m = last_metrics(pumped(sse(start(), *text(0, "x"), *end(usage=final)))[0])
    assert (m.tokens_in, m.tokens_cache_read, m.tokens_out) == (10, 0, 0)


def test_a_split_of_cache_writes_is_summed_where_the_sum_is_missing() -> None:
    split = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    m = last_metrics(pumped(sse(start(usage={"cache_creation": split}), *text(0, "x"), *end()))[0])
    assert m.tokens_cache_write == 7


# How it ends.


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", "ok"),
        ("stop_sequence", "ok"),
        ("compaction", "ok"),
        ("tool_use", "ok-tool_invocations"),
        ("max_tokens", "out-of-tokens"),
        ("model_context_window_exceeded", "out-of-tokens"),
        ("refusal", "filter-refusal"),
        ("a_new_word", "ok"),
    ],
)
def test_every_stop_reason_is_mapped_and_kept(word: str, stop: str) -> None:
    out, verdict = pumped(sse(start(), *text(0, "x"), *end(word)))
    assert (verdict.reason, verdict.stop, verdict.native_stop) == ("done-dialect", stop, word)
    assert ("unknown_stop_reason" in codes(out)) is (word == "a_new_word")


def test_a_refusal_tells_the_vendors_reason() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "against the policy"}
    _, verdict = pumped(sse(start(), *end("refusal", stop_details=details)))
    assert verdict.detail == "against the policy"
    _, verdict = pumped(sse(start(), *end("refusal", stop_details={"category": "bio"})))
    assert verdict.detail == "bio"


def test_message_stop_alone_is_an_end_and_a_stop_reason_alone_is_too() -> None:
    _, verdict = pumped(sse(start(), *text(0, "x"), {"type": "message_stop"}))
    assert (verdict.reason, verdict.stop) == ("done-dialect", "ok")
    _, verdict = pumped(sse(start(), *text(0, "x"), end("max_tokens")[0]))
    assert (verdict.reason, verdict.stop) == ("done-dialect", "out-of-tokens")


def test_a_stream_that_stops_without_either_is_truncated() -> None:
    _, verdict = pumped(sse(start(), *text(0, "x")))
    assert (verdict.reason, verdict.stop) == ("done-dispatch-closed", None)
