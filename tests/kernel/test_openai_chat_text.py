"""What a chat-completions upstream says: text, reasoning, refusals, in every form and each once."""

from typing import Any

import pytest

from fakes.chat_streams import (
    DONE,
    FINISHED,
    body,
    call,
    calls,
    chunk,
    codes,
    completion,
    read,
    run,
    spoken,
    stop,
)
from motes import particles as p
from motes.quirks import Quirks
from motes.vendors.table import VENDORS

# Text.


def test_text_as_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "a"}, "b", {"text": "c"}, {"type": "output_text", "text": "d"}, 7, None]
    assert read(chunk({"content": parts}), FINISHED, DONE).text == "abcd"


def test_text_as_an_object_is_its_json() -> None:
    assert body(completion({"content": {"age": 3, "name": "Ö"}})).text == '{"age":3,"name":"Ö"}'


def test_an_unknown_part_is_told_and_not_shown() -> None:
    m = read(chunk({"content": [{"type": "hologram", "text": "x"}]}), FINISHED, DONE)
    assert (m.text, codes(m)) == ("", ["unknown_part"])


@pytest.mark.parametrize("odd", [0, True, 3.5])
def test_content_of_another_type_says_nothing(odd: Any) -> None:
    assert read(chunk({"content": odd}), FINISHED, DONE).text == ""


def test_cumulative_deltas_are_said_once() -> None:
    events = [chunk({"content": text}) for text in ("The", "The hill", "The hill", "The hill is")]
    thoughts = [chunk({"reasoning_content": text}) for text in ("a", "ab", "ab")]
    m = read(*thoughts, *events, FINISHED, DONE, quirks=Quirks(delta_mode="cumulative"))
    assert (m.reasoning, m.text) == ("ab", "The hill is")


@pytest.mark.parametrize("pieces", [["The", "The answer", "The answer is"], ["The", " answer", " is"]])
def test_minimax_is_heard_once_whether_it_repeats_itself_or_not(pieces: list[str]) -> None:
    thoughts = [chunk({"reasoning_details": [{"type": "reasoning.text", "text": text}]}) for text in pieces]
    texts = [chunk({"content": text}) for text in pieces]
    whole = completion({"content": "The answer is", "reasoning_content": "The answer is"})
    m = read(*thoughts, *texts, whole, DONE, quirks=VENDORS["minimax"].quirks)
    assert (m.reasoning, m.text) == ("The answer is", "The answer is")


def test_members_that_are_there_and_empty_say_nothing() -> None:
    legacy = {"function_call": {"name": "", "arguments": ""}, "tool_calls": [], "extra_fields": None}
    empty = {"content": "", "reasoning_content": "", "refusal": "", **legacy}
    said = [{"role": "assistant"}, {"reasoning_content": "hm"}, {"content": "hi"}, call(0, "f", "{}", id="t")]
    events = [chunk(empty | delta, "") for delta in said]
    m = read(*events, chunk(empty, "tool_calls"), DONE, quirks=VENDORS["codebuddy"].quirks)
    assert (m.text, m.reasoning, codes(m)) == ("hi", "hm", [])
    assert [made.name for made in m.tool_calls] == ["f"]


def test_a_cumulative_vendor_that_goes_another_way_loses_nothing() -> None:
    events = [chunk({"content": text}) for text in ("ab", "x", "abx")]
    assert read(*events, FINISHED, DONE, quirks=Quirks(delta_mode="cumulative")).text == "abx"


def closing(**members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": members, "finish_reason": "stop"}]}


def test_a_closing_message_that_repeats_everything_adds_nothing() -> None:
    m = read(
        chunk({"reasoning_content": "hm"}),
        chunk({"content": "Green"}),
        chunk({"content": " light."}),
        closing(content="Green light.", reasoning_content="hm"),
        DONE,
    )
    assert (m.reasoning, m.text) == ("hm", "Green light.")


def test_a_closing_message_that_knows_more_adds_the_rest_only() -> None:
    assert read(chunk({"content": "Green"}), closing(content="Green light."), DONE).text == "Green light."


def test_a_closing_message_that_differs_adds_nothing() -> None:
    assert read(chunk({"content": "Green"}), closing(content="Red light."), DONE).text == "Green"


def test_a_closing_message_repeats_no_call_but_may_bring_the_first() -> None:
    whole = [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]
    m = read(chunk(call(0, "f", "{}", id="a")), closing(tool_calls=whole), DONE)
    assert calls(m) == [("a", "f", "{}")]
    assert calls(read(chunk({"content": "x"}), closing(tool_calls=whole), DONE)) == [("a", "f", "{}")]


def test_a_stream_of_messages_in_place_of_deltas_is_read_as_one_of_deltas() -> None:
    events = [{"choices": [{"index": 0, "message": {"content": c}}]} for c in ("He", "llo", " you")]
    assert read(*events, FINISHED, DONE).text == "Hello you"


def test_a_cumulative_message_beside_every_delta_is_not_read() -> None:
    def both(delta: str, so_far: str, finish: Any = None) -> dict[str, Any]:
        choice = {
            "index": 0,
            "delta": {"content": delta},
            "message": {"content": so_far},
            "finish_reason": finish,
        }
        return {"choices": [choice]}

    assert read(both("a", "a"), both("b", "ab"), both("", "ab", "stop")).text == "ab"


# Reasoning.


@pytest.mark.parametrize(
    "field", ["reasoning_content", "reasoning", "reasoning_text", "thinking", "cot_summary"]
)
def test_reasoning_is_found_under_every_name(field: str) -> None:
    m = read(chunk({field: "why"}), chunk({"content": "so", field: ""}), FINISHED, DONE)
    assert (m.reasoning, m.text) == ("why", "so")


def test_mirrored_reasoning_is_said_once() -> None:
    details = [{"type": "reasoning.text", "text": "why"}]
    mirrored = {"reasoning": "why", "reasoning_content": "why", "reasoning_details": details}
    assert read(chunk(mirrored), chunk({"content": "so"}), FINISHED, DONE).reasoning == "why"


def test_reasoning_comes_before_the_text_of_the_same_delta() -> None:
    out = spoken(run(chunk({"content": "so", "reasoning": "why"}), FINISHED, DONE))
    assert out == [p.Reasoning("why"), p.Text("so")]


def test_details_alone_are_read_with_signatures_and_parcels() -> None:
    details = [
        {"type": "reasoning.summary", "summary": "one", "index": 0},
        {"type": "reasoning.text", "text": "two", "signature": "s2", "index": 1},
        {"type": "reasoning.encrypted", "data": "e3", "index": 2, "format": "f"},
        {"type": "reasoning.text", "text": None, "index": 3},
        "odd",
    ]
    out = spoken(run(chunk({"reasoning_details": details}), chunk({"content": "so"}), FINISHED, DONE))
    assert out[:5] == [
        p.Reasoning("onetwo"),
        p.ReasoningSignature("s2"),
        p.ReasoningRedacted("e3"),
        p.Text("so"),
        p.VendorState("openrouter", {"reasoning_details": details[:4]}),
    ]


def test_opaque_details_are_kept_whole_for_the_way_back_with_their_pieces_joined() -> None:
    def detail(**members: Any) -> dict[str, Any]:
        return chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, **members}]})

    m = read(detail(text="a", format="f"), detail(text="b"), detail(signature="s"), FINISHED, DONE)
    entry = {"type": "reasoning.text", "index": 0, "text": "ab", "format": "f", "signature": "s"}
    assert m.vendor_state == {"openrouter": {"reasoning_details": [entry]}}
    assert m.reasoning == "ab"


def test_thinking_blocks_of_a_proxy_are_read_beside_their_mirror() -> None:
    blocks = [{"type": "thinking", "thinking": "why", "signature": "s"}]
    out = spoken(run(chunk({"reasoning_content": "why", "thinking_blocks": blocks}), FINISHED, DONE))
    assert out == [p.Reasoning("why"), p.ReasoningSignature("s")]


def test_thinking_parts_in_the_content() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "a"}, "b"], "signature": "s"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "c"}]},
        {"type": "thinking", "thinking": "d"},
        {"type": "text", "text": "so"},
    ]
    m = read(chunk({"content": parts}), FINISHED, DONE)
    assert (m.reasoning, m.text) == ("abcd", "so")
    assert [f.signature for f in m.fragments if hasattr(f, "signature")] == ["s", None]


@pytest.mark.parametrize(
    ("texts", "reasoning", "text"),
    [
        (["<think>ab", "c</thi", "nk>def"], "abc", "def"),
        (["<thi", "nk>abc</think>def"], "abc", "def"),
        (["", "<think>a</think>b"], "a", "b"),
        (["\n", "<think>a</think>b"], "a", "b"),
        (["a <think>b</think>"], "", "a <think>b</think>"),
        (["<think>a"], "a", ""),
    ],
)
def test_think_tags_are_reasoning_wherever_they_are_cut(texts: list[str], reasoning: str, text: str) -> None:
    m = read(*(chunk({"content": t}) for t in texts), FINISHED, DONE)
    assert (m.reasoning, m.text) == (reasoning, text)


def test_think_tags_are_text_where_reasoning_comes_apart_or_the_row_says_so() -> None:
    tagged = chunk({"content": "<think>a</think>b"})
    assert read(chunk({"reasoning": "r"}), tagged, FINISHED, DONE).text == "<think>a</think>b"
    assert read(tagged, FINISHED, DONE, quirks=Quirks(think_tags=False)).text == "<think>a</think>b"


# Refusals.


def test_a_refusal_is_said_and_ends_as_one() -> None:
    out = run(chunk({"refusal": "I "}), chunk({"refusal": "cannot"}), FINISHED, DONE)
    assert spoken(out) == [p.Refusal("I "), p.Refusal("cannot")]
    assert out[-1] == p.End("done-dialect", "filter-refusal", None, "stop")


def test_a_refusal_part_and_a_refusal_before_a_bare_done() -> None:
    m = read(chunk({"content": [{"type": "refusal", "refusal": "no"}]}), DONE)
    assert (m.refusal, stop(m)) == ("no", "filter-refusal")


def test_a_filtered_refusal_stays_filtered() -> None:
    assert stop(read(chunk({"refusal": "no"}, "content_filter"), DONE)) == "filter-content"
