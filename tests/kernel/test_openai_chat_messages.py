"""The history of a request in the form a vendor takes: nothing lost, every call paired."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.chat_requests import TOOL, USER, build, messages, result, sent, told, turn
from motes.dialects.base import Traits
from motes.dialects.openai_chat import DIALECT
from motes.errors import InvalidRequest
from motes.intake import parse_request
from motes.quirks import Quirks


def test_developer_text_is_system_text_where_the_role_is_unknown() -> None:
    raw = [{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}, USER]
    assert messages(*raw)[0] == {"role": "system", "content": "Be brief."}
    assert messages(*raw, vendor="openai")[0] == {"role": "developer", "content": "Be brief."}


def test_system_text_is_joined_at_the_head_where_it_must_be() -> None:
    raw = [{"role": "system", "content": "a"}, USER, {"role": "developer", "content": "b"}]
    out = build(Quirks(system_first=True), messages=raw)
    assert out.json["messages"] == [{"role": "system", "content": "a\n\nb"}, USER]
    assert "system messages" in told(out)
    assert build(Quirks(system_first=True), messages=raw[:2]).warnings == ()


def test_parts_of_every_kind_are_kept() -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "https://i.example/a.png", "detail": "high"}},
        {"type": "image_url", "image_url": "data:image/png;base64,QUJD"},
        {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,QUJD", "filename": "a.pdf"}},
    ]
    (out,) = messages({"role": "user", "content": parts, "name": "ann"})
    assert out["name"] == "ann"
    assert out["content"][0] == parts[0]
    assert out["content"][2]["image_url"] == {"url": "data:image/png;base64,QUJD"}
    assert [part["type"] for part in out["content"]] == [part["type"] for part in parts]
    assert out["content"][1:2] + out["content"][3:] == parts[1:2] + parts[3:]


def test_a_list_of_one_text_is_a_text() -> None:
    assert messages({"role": "user", "content": [{"type": "text", "text": "a"}]}) == [
        {"role": "user", "content": "a"}
    ]


def test_cache_marks_go_only_to_vendors_that_know_them_and_no_more_than_four() -> None:
    mark = {"type": "ephemeral"}
    raw = [
        {"role": "user", "content": [{"type": "text", "text": str(n), "cache_control": mark}]}
        for n in range(6)
    ]
    out = build("openrouter", messages=raw)
    marked = [m["content"][0]["text"] for m in out.json["messages"] if "cache_control" in m["content"][0]]
    assert marked == ["2", "3", "4", "5"]
    assert "last 4 marks" in told(out)
    plain = build(messages=raw)
    assert "cache_control" not in json.dumps(plain.json)
    assert "cache_control" in told(plain)


def test_an_earlier_refusal_is_what_the_assistant_said() -> None:
    assert messages(USER, {"role": "assistant", "refusal": "No."}, USER)[1]["content"] == "No."
    part = [{"type": "refusal", "refusal": "No."}]
    assert messages(USER, {"role": "assistant", "content": part}, USER)[1]["content"] == "No."


def test_text_and_calls_of_one_turn_stay_together() -> None:
    out = messages(USER, turn("a", content="t"), result("a"), USER)
    assert out[1]["content"] == "t"
    assert out[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize("empty", [None, ""])
def test_a_turn_of_calls_without_text_has_null_content(empty: Any) -> None:
    assert messages(USER, turn("a", content=empty), result("a"))[1]["content"] is None


@pytest.mark.parametrize(
    ("given_", "wire"), [({"x": 1}, '{"x":1}'), ("", "{}"), (None, "{}"), ('{"x": 1}', '{"x": 1}')]
)
def test_arguments_are_always_the_text_of_an_object(given_: Any, wire: str) -> None:
    raw = turn("a")
    raw["tool_calls"][0]["function"]["arguments"] = given_
    assert messages(USER, raw, result("a"))[1]["tool_calls"][0]["function"]["arguments"] == wire


def test_an_orphan_result_is_dropped_and_an_unanswered_call_gets_a_placeholder() -> None:
    out = build(messages=[result("gone"), USER, turn("a", "b", content="t"), result("a"), USER])
    roles = [(m["role"], m.get("tool_call_id")) for m in out.json["messages"]]
    assert roles == [("user", None), ("assistant", None), ("tool", "a"), ("tool", "b"), ("user", None)]
    assert len(out.warnings) == 2


def test_results_keep_the_callers_order_unless_the_vendor_wants_the_calls_order() -> None:
    raw = [USER, turn("a", "b"), result("b"), result("a"), USER]
    assert [m["tool_call_id"] for m in messages(*raw)[2:4]] == ["b", "a"]
    assert [m["tool_call_id"] for m in messages(*raw, vendor="xai")[2:4]] == ["a", "b"]


def test_a_failed_result_says_so() -> None:
    assert messages(USER, turn("a"), result("a", "no", is_error=True))[2]["content"] == "[ERROR] no"


def test_an_image_in_a_result_follows_in_a_user_turn() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    out = build(
        messages=[
            USER,
            turn("a", "b"),
            result("a", [{"type": "text", "text": "see"}, image]),
            result("b"),
            USER,
        ]
    )
    found = out.json["messages"]
    assert [m["role"] for m in found] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert (found[2]["content"], found[4]["content"]) == ("see", [image])
    assert "follows in a user message" in told(out)


def test_the_deprecated_function_form_is_brought_up_to_date() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    out = sent(
        messages=[USER, legacy, {"role": "function", "name": "f", "content": "r"}, USER],
        functions=[{"name": "f"}],
        function_call={"name": "f"},
    )
    assert out["messages"][2]["tool_call_id"] == out["messages"][1]["tool_calls"][0]["id"]
    assert out["tools"][0]["function"]["name"] == "f"
    assert out["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert not {"functions", "function_call"} & out.keys()


def test_free_form_calls_of_the_history_become_functions_where_there_are_none() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "run", "input": "ls"}}
    raw = [USER, {"role": "assistant", "content": None, "tool_calls": [custom]}, result("a")]
    assert messages(*raw, vendor="openai")[1]["tool_calls"] == [custom]
    assert messages(*raw)[1]["tool_calls"][0]["function"] == {"name": "run", "arguments": '{"input":"ls"}'}


def test_neighbours_of_one_role_are_merged_where_turns_must_alternate() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    raw = [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "c"},
        turn("x", content="d"),
        result("x"),
        {"role": "user", "content": [image]},
        {"role": "user", "content": "e"},
    ]
    out = messages(*raw, vendor=Quirks(merge_same_role=True))
    assert [m["role"] for m in out] == ["user", "assistant", "tool", "user"]
    assert (out[0]["content"], out[1]["content"]) == ("a\n\nb", "c\n\nd")
    assert out[1]["tool_calls"][0]["id"] == "x"
    assert out[3]["content"] == [image, {"type": "text", "text": "e"}]


def test_an_assistant_turn_parts_a_result_from_the_next_user_turn_where_it_must() -> None:
    out = build("mistral", messages=[USER, turn("abcdefghi"), result("abcdefghi"), USER])
    assert [m["role"] for m in out.json["messages"]] == ["user", "assistant", "tool", "assistant", "user"]
    assert "assistant turn" in told(out)


def test_call_ids_of_nine_letters_are_made_alike_for_calls_and_results() -> None:
    long = ["call_AAAAAAAA-one-ZZZZZZZZZ", "call_AAAAAAAA-two-ZZZZZZZZZ", "fit9Chars"]
    raw = [USER, turn(*long), *(result(i, i) for i in long)]
    out = messages(*raw, vendor="mistral")
    ids = [call["id"] for call in out[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert all(len(i) == 9 and i.isalnum() for i in ids)
    assert ids[2] == "fit9Chars"
    assert {m["tool_call_id"]: m["content"] for m in out[2:]} == dict(zip(ids, long, strict=True))
    assert messages(*raw, vendor="mistral") == out


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6, unique=True))
def test_any_ids_stay_apart_and_paired(ids: list[str]) -> None:
    out = messages(USER, turn(*ids), *(result(i, i) for i in ids), vendor="mistral")
    by_id = {call["id"] for call in out[1]["tool_calls"]}
    assert len(by_id) == len(ids)
    assert by_id == {m["tool_call_id"] for m in out[2:]}


def test_half_a_character_is_mended_and_told() -> None:
    raw = b'{"messages":[{"role":"user","content":"a\\ud83d b"}],"user":"\\udc00"}'
    out = DIALECT.body(parse_request(raw), "m", Quirks(), Traits())
    assert out.json["messages"][0]["content"] == "a\ufffd b"
    json.dumps(out.json, ensure_ascii=False).encode()
    assert "half a character" in told(out)


def test_a_request_nested_too_deeply_is_refused_and_no_crash() -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"properties": {"a": deep}}
    tool = {"type": "function", "function": {"name": "f", "parameters": deep, "strict": True}}
    with pytest.raises(InvalidRequest):
        build(tools=[tool])
    del tool["function"]["strict"]  # type: ignore[attr-defined]
    with pytest.raises(InvalidRequest):
        build(tools=[tool])


# Reasoning of earlier turns.


def test_reasoning_goes_back_on_turns_with_calls_where_the_vendor_needs_it() -> None:
    raw = [
        USER,
        turn("a", reasoning_content="why"),
        result("a"),
        {"role": "assistant", "content": "so"},
        USER,
        turn("b"),
        result("b"),
    ]
    out = messages(*raw, vendor="deepseek", tools=[TOOL])
    thoughts = [m.get("reasoning_content") for m in out if m["role"] == "assistant"]
    assert thoughts == ["why", "", ""]


def test_reasoning_always_or_never_goes_back_by_row() -> None:
    raw = [USER, {"role": "assistant", "content": "so", "reasoning": "why"}, USER]
    assert messages(*raw, vendor=Quirks(replay_reasoning="always"))[1]["reasoning_content"] == "why"
    out = build(messages=raw)
    assert out.json["messages"][1] == {"role": "assistant", "content": "so"}
    assert "reasoning of earlier turns" in told(out)


def test_details_go_back_untouched_and_in_order() -> None:
    details = [
        {
            "type": "reasoning.text",
            "text": "a",
            "signature": "s",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "d", "id": "x", "index": 1},
    ]
    raw = [USER, {"role": "assistant", "content": "so", "reasoning_details": details}, USER]
    assert messages(*raw, vendor="openrouter")[1]["reasoning_details"] == details
    plain = [USER, {"role": "assistant", "content": "so", "reasoning_content": "why"}, USER]
    assert messages(*plain, vendor="openrouter")[1]["reasoning"] == "why"


def test_annotations_of_an_answer_come_back_without_a_word() -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "http://a", "title": "A"}}
    raw = [USER, turn(content="said", annotations=[cited]), USER]
    out = build(messages=raw)
    assert (out.json["messages"][1], out.warnings) == ({"role": "assistant", "content": "said"}, ())
    passed = build(Quirks(passthrough=frozenset({"annotations"})), messages=raw)
    assert passed.json["messages"][1]["annotations"] == [cited]
    assert "annotations" in told(build(messages=[USER | {"annotations": [cited]}]))
