"""Tool calls of chat-completions upstreams, whatever is left out, repeated or late."""

import json
from typing import Any

import pytest

from fakes.chat_streams import CALLED, DONE, FINISHED, call, calls, chunk, codes, read, run, spoken, stop
from motes import particles as p


def test_two_calls_in_one_delta() -> None:
    entries = [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]
    m = read(chunk({"tool_calls": entries}), CALLED, DONE)
    assert calls(m) == [("a", "f", "{}"), ("b", "g", "{}")]
    assert m.end == p.End("done-dialect", "ok-tool_invocations", None, "tool_calls")


def test_arguments_of_an_earlier_call_carry_its_id() -> None:
    out = spoken(
        run(
            chunk(call(0, "f", "", id="a")),
            chunk(call(1, "g", "", id="b")),
            chunk(call(0, None, "{}")),
            DONE,
        )
    )
    assert out == [
        p.ToolCall("a", "f"),
        p.ToolCall("b", "g"),
        p.ToolCallArguments("{}", "a"),
        p.ToolCallArguments("{}", "b"),
    ]


def test_a_repeated_id_and_name_begin_no_new_call() -> None:
    out = spoken(run(chunk(call(0, "f", id="a")), chunk(call(0, "f", "{}", id="a")), CALLED, DONE))
    assert out == [p.ToolCall("a", "f"), p.ToolCallArguments("{}")]


def test_a_call_repeated_whole_is_told_once() -> None:
    whole = chunk(call(0, "f", '{"a":1}', id="a"))
    assert calls(read(whole, whole, CALLED, DONE)) == [("a", "f", '{"a":1}')]


def test_text_and_citations_between_arguments_part_nothing() -> None:
    note = {"annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example"}}]}
    m = read(
        chunk(call(0, "f", '{"a"', id="a")),
        chunk({"content": "hm"}),
        chunk(call(0, None, ":")),
        chunk(note),
        chunk(call(0, None, "1}")),
        CALLED,
        DONE,
    )
    assert calls(m) == [("a", "f", '{"a":1}')]
    assert (m.text, len(m.citations)) == ("hm", 1)


def test_a_new_id_and_name_under_a_used_index_is_a_new_call() -> None:
    m = read(
        chunk(call(0, "f", '{"a":', id="a")),
        chunk(call(0, None, "1}")),
        chunk(call(0, "g", "{}", id="b")),
        CALLED,
        DONE,
    )
    assert calls(m) == [("a", "f", '{"a":1}'), ("b", "g", "{}")]


def test_a_new_id_without_a_name_under_a_used_index_is_the_same_call() -> None:
    m = read(chunk(call(0, "f", "{", id="a")), chunk(call(0, None, "}", id="z")), CALLED, DONE)
    assert calls(m) == [("a", "f", "{}")]


def test_two_entries_of_one_index_in_one_delta_are_one_call() -> None:
    entries = [
        {"index": 0, "id": "a", "function": {"name": "f"}},
        {"index": 0, "function": {"arguments": "{}"}},
    ]
    assert calls(read(chunk({"tool_calls": entries}), CALLED, DONE)) == [("a", "f", "{}")]


def test_whole_calls_without_index_are_told_apart_by_id() -> None:
    one, two = call(None, "f", "{}", id="a"), call(None, "f", "{}", id="b")
    assert calls(read(chunk(one), chunk(two), CALLED, DONE)) == [("a", "f", "{}"), ("b", "f", "{}")]


def test_pieces_without_index_are_joined_by_id_or_belong_to_the_latest() -> None:
    m = read(
        chunk(call(None, "f", '{"a"', id="a")),
        chunk(call(None, None, ":1", id="a")),
        chunk(call(None, None, "}")),
        CALLED,
        DONE,
    )
    assert calls(m) == [("a", "f", '{"a":1}')]


def test_pieces_without_index_and_id_are_joined_by_place() -> None:
    first = {"tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g"}}]}
    second = {"tool_calls": [{"function": {"arguments": '{"f":1}'}}, {"function": {"arguments": '{"g":1}'}}]}
    assert [c[1:] for c in calls(read(chunk(first), chunk(second), CALLED, DONE))] == [
        ("f", '{"f":1}'),
        ("g", '{"g":1}'),
    ]


def test_an_index_that_comes_late_finds_its_call() -> None:
    m = read(chunk(call(None, "f", "{", id="a")), chunk(call(0, None, "}")), CALLED, DONE)
    assert calls(m) == [("a", "f", "{}")]


def test_calls_without_any_id_get_ids_of_their_own() -> None:
    events = [
        chunk(call(0, "f", '{"a":', id=None)),
        chunk(call(0, None, "1}", id=None)),
        chunk(call(1, "f", '{"a":2}', id="")),
    ]
    found = calls(read(*events, CALLED, DONE))
    assert [c[1:] for c in found] == [("f", '{"a":1}'), ("f", '{"a":2}')]
    assert len({c[0] for c in found}) == 2
    assert all(c[0] for c in found)


def test_whole_calls_without_id_under_one_index_are_two_calls() -> None:
    one, two = chunk(call(0, "f", '{"a":1}')), chunk(call(0, "f", '{"a":2}'))
    assert [c[2] for c in calls(read(one, two, CALLED, DONE))] == ['{"a":1}', '{"a":2}']


def test_one_id_for_two_calls_is_made_unique() -> None:
    found = calls(
        read(chunk(call(0, "f", "{}", id="call_0")), chunk(call(1, "g", "{}", id="call_0")), CALLED, DONE)
    )
    assert [c[1] for c in found] == ["f", "g"]
    assert len({c[0] for c in found}) == 2


def test_a_late_id_is_the_calls_id() -> None:
    m = read(
        chunk(call(0, "f", "")), chunk(call(0, None, '{"a":')), chunk(call(0, None, "1}", id="late")), DONE
    )
    assert calls(m) == [("late", "f", '{"a":1}')]


def test_a_late_name_is_waited_for() -> None:
    out = spoken(
        run(
            chunk(call(0, None, '{"a"', id="a")),
            chunk(call(0, None, ":1}")),
            chunk(call(0, "f")),
            CALLED,
            DONE,
        )
    )
    assert out == [p.ToolCall("a", "f", '{"a":1}')]


def test_a_name_that_never_comes_is_told_as_unknown() -> None:
    m = read(chunk(call(0, None, "{}", id="a")), CALLED, DONE)
    assert (calls(m), codes(m)) == ([("a", "unknown_function", "{}")], ["unnamed_call"])


def test_calls_keep_their_order_when_the_first_has_no_id_yet() -> None:
    m = read(
        chunk(call(0, "f", '{"a"')), chunk(call(1, "g", "{}", id="b")), chunk(call(0, None, ":1}")), DONE
    )
    assert [c[1:] for c in calls(m)] == [("f", '{"a":1}'), ("g", "{}")]


def test_arguments_as_an_object_are_their_compact_json() -> None:
    m = read(chunk(call(0, "f", {"cmd": "ls", "opts": {"all": True}}, id="a")), CALLED, DONE)
    assert calls(m) == [("a", "f", '{"cmd":"ls","opts":{"all":true}}')]


@pytest.mark.parametrize("nothing", [None, "", " "])
def test_a_call_without_arguments_has_an_empty_object(nothing: Any) -> None:
    found = calls(read(chunk(call(0, "f", nothing, id="a")), CALLED, DONE))
    assert [(c[0], c[1], json.loads(c[2])) for c in found] == [("a", "f", {})]


def test_a_call_cut_by_the_token_limit_stays_raw() -> None:
    m = read(chunk(call(0, "f", '{"a":"b', id="a")), chunk(finish="length"), DONE)
    assert (calls(m), stop(m)) == ([("a", "f", '{"a":"b')], "out-of-tokens")


def test_a_stop_that_hides_calls_is_a_call_for_tools() -> None:
    assert stop(read(chunk(call(0, "f", "{}", id="a")), FINISHED, DONE)) == "ok-tool_invocations"


def test_free_form_calls() -> None:
    entry = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "run", "input": "ls"}}
    more = {"index": 0, "custom": {"input": " -l"}}
    m = read(chunk({"tool_calls": [entry]}), chunk({"tool_calls": [more]}), CALLED, DONE)
    assert calls(m) == [("a", "run", "ls -l")]


def test_the_deprecated_function_call() -> None:
    m = read(
        chunk({"content": None, "function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"a"'}}),
        chunk({"function_call": {"arguments": ":1}"}}),
        chunk(finish="function_call"),
        DONE,
    )
    assert [c[1:] for c in calls(m)] == [("f", '{"a":1}')]
    assert stop(m) == "ok-tool_invocations"


def test_a_mirrored_or_empty_function_call_is_no_second_call() -> None:
    mirrored = call(0, "f", "{}", id="a") | {"function_call": {"name": "f", "arguments": "{}"}}
    assert len(calls(read(chunk(mirrored), CALLED, DONE))) == 1
    empty = {"content": "a", "function_call": {"name": "", "arguments": ""}}
    assert calls(read(chunk(empty), FINISHED, DONE)) == []


@pytest.mark.parametrize(
    "entries", [None, [], [None], [{}], [{"index": 0}], [{"index": 0, "function": None}], 7]
)
def test_entries_that_say_nothing_are_no_call(entries: Any) -> None:
    assert calls(read(chunk({"content": "a", "tool_calls": entries}), FINISHED, DONE)) == []


def test_a_signed_call_is_followed_by_its_signature() -> None:
    signed = {"google": {"thought_signature": "sig"}}
    out = spoken(
        run(
            chunk(call(0, "f", "{}", id="a", extra_content=signed)),
            chunk(call(1, "g", "{}", id="b")),
            CALLED,
            DONE,
        )
    )
    assert out[:2] == [p.ToolCall("a", "f", "{}"), p.VendorState("gemini", {"thoughtSignature": "sig"})]
    m = read(chunk(call(0, "f", "{}", id="a", extra_content=signed)), CALLED, DONE)
    assert m.tool_calls[0].state == {"gemini": {"thoughtSignature": "sig"}}


def test_calls_of_a_failed_turn_are_not_handed_over() -> None:
    m = read(chunk(call(0, "f", '{"a', id="a")), chunk(error={"code": 502, "message": "x"}), DONE)
    assert calls(m) == []


def test_pieces_of_calls_that_share_an_index_go_to_the_id_they_name() -> None:
    m = read(
        chunk(call(0, "f", "", id="a")),
        chunk(call(0, "g", "", id="b")),
        chunk(call(0, None, '{"x":1}', id="a")),
        chunk(call(0, None, '{"y":2}', id="b")),
        CALLED,
        DONE,
    )
    assert calls(m) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


@pytest.mark.parametrize("again", ['{"a":1}', '{"a": 1}', "}"])
def test_a_complete_object_cannot_go_on(again: str) -> None:
    m = read(chunk(call(0, "f", '{"a":1}', id="a")), chunk(call(0, None, again)), CALLED, DONE)
    assert calls(m) == [("a", "f", '{"a":1}')]


@pytest.mark.parametrize("cut", [0, 1, 5, 12])
def test_arguments_written_in_a_json_string_are_the_object_in_it(cut: int) -> None:
    written = json.dumps('{"a":"x"}')
    m = read(chunk(call(0, "f", written[:cut], id="a")), chunk(call(0, None, written[cut:])), CALLED, DONE)
    assert calls(m) == [("a", "f", '{"a":"x"}')]


def test_a_choice_whose_index_is_written_as_text_is_the_first() -> None:
    event = {"choices": [{"index": "0", "delta": {"content": "a"}, "finish_reason": "stop"}]}
    assert read(event, DONE).text == "a"


def test_an_end_marker_alone_ends_nothing() -> None:
    m = read(DONE)
    assert m.outcome == "failed"
    assert m.error is not None
    assert m.error.kind == "stream_truncated"


def test_opaque_reasoning_of_a_proxy_is_kept_and_not_shown() -> None:
    m = read(
        chunk({"reasoning_opaque": "b3BhcXVl", "reasoning_text": "hm"}),
        chunk({"content": "a"}),
        FINISHED,
        DONE,
    )
    assert m.reasoning == "hm"
    assert "b3BhcXVl" not in m.text
