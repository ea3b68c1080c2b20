"""A caller's messages as the input items of a Responses request."""

from typing import Any

import pytest

from fakes.responses_requests import USER, build, items, result, said, sent, told, turn, user
from motes.errors import InvalidRequest
from motes.quirks import Quirks

SYSTEM = {"role": "system", "content": "be brief"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://a/i.png"}}
ENCRYPTED = {"type": "reasoning.encrypted", "id": "rs_1", "data": "EC", "format": "openai-responses-v1"}
ITEM = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "EC"}


def phase(word: str, start: int, format: str = "openai-responses-v1") -> dict[str, Any]:
    return {"type": "reasoning.phase", "phase": word, "start": start, "format": format}


# System text.


def test_system_text_at_the_head_has_a_member_of_its_own() -> None:
    body = sent(messages=[SYSTEM, {"role": "developer", "content": "be kind"}, USER])
    assert (body["instructions"], body["input"]) == ("be brief\n\nbe kind", [user("hi")])


def test_a_later_system_message_stays_where_it_is() -> None:
    later = items(USER, {"role": "developer", "content": "now in verse"}, USER)[1]
    assert (later["role"], later["content"]) == (
        "developer",
        [{"type": "input_text", "text": "now in verse"}],
    )


def test_a_host_without_instructions_gets_system_text_as_its_first_item() -> None:
    body = sent("xai", messages=[SYSTEM, {"role": "developer", "content": "be kind"}, USER])
    assert "instructions" not in body
    assert [(item["role"], item["content"][0]["text"]) for item in body["input"]] == [
        ("system", "be brief"),
        ("system", "be kind"),
        ("user", "hi"),
    ]


def test_an_image_in_a_system_message_moves_to_a_user_message_with_all_behind_it() -> None:
    content = [{"type": "text", "text": "one"}, IMAGE, {"type": "text", "text": "two"}]
    out = build(messages=[{"role": "system", "content": content}, USER])
    assert out.json["instructions"] == "one"
    assert [part["type"] for part in out.json["input"][0]["content"]] == ["input_image", "input_text"]
    assert out.json["input"][1] == user("hi")
    assert "an image or file in a system message" in told(out)


def test_system_text_alone_is_a_message() -> None:
    body = sent(messages=[SYSTEM])
    assert "instructions" not in body
    assert body["input"][0]["role"] == "system"


# Parts.


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        ({"type": "text", "text": "x"}, {"type": "input_text", "text": "x"}),
        (IMAGE, {"type": "input_image", "image_url": "https://a/i.png", "detail": "auto"}),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ==", "detail": "high"}},
            {"type": "input_image", "image_url": "data:image/png;base64,QQ==", "detail": "high"},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}},
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, {"type": "input_file", "file_id": "file-1"}),
        (
            {"type": "file", "file": {"file_data": "https://a/b.pdf"}},
            {"type": "input_file", "file_url": "https://a/b.pdf"},
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,QQ==", "filename": "a.pdf"}},
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,QQ=="},
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,QQ=="}},
            {
                "type": "input_file",
                "filename": "document.pdf",
                "file_data": "data:application/pdf;base64,QQ==",
            },
        ),
    ],
)
def test_every_part_has_its_form(part: Any, wire: Any) -> None:
    assert items({"role": "user", "content": [part]})[0]["content"] == [wire]


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        build(messages=[{"role": "user", "content": [{"type": "file", "file": {}}]}])


def test_a_cache_mark_of_openais_own_goes_through_and_others_are_told() -> None:
    mark = {"mode": "explicit"}
    part = {
        "type": "text",
        "text": "x",
        "prompt_cache_breakpoint": mark,
        "cache_control": {"type": "ephemeral"},
    }
    out = build(messages=[{"role": "user", "content": [part]}])
    assert out.json["input"][0]["content"] == [
        {"type": "input_text", "text": "x", "prompt_cache_breakpoint": mark}
    ]
    assert "cache_control: dropped" in told(out)


# The assistant's turns.


def test_earlier_answers_are_output_text_and_refusals_are_refusals() -> None:
    assert items(USER, {"role": "assistant", "content": "yes"}, USER)[1] == said("yes")
    refused = items(USER, {"role": "assistant", "content": None, "refusal": "no"}, USER)[1]
    assert refused["content"] == [{"type": "refusal", "refusal": "no"}]


def test_calls_and_results_are_items_in_the_order_of_the_calls() -> None:
    called = turn("c1", "c2", content="t")
    kinds = [
        (item.get("type"), item.get("call_id"), item.get("output"))
        for item in items(USER, called, result("c2", "two"), result("c1", "one"), USER)
    ]
    assert kinds == [
        ("message", None, None),
        ("message", None, None),
        ("function_call", "c1", None),
        ("function_call", "c2", None),
        ("function_call_output", "c1", "one"),
        ("function_call_output", "c2", "two"),
        ("message", None, None),
    ]


def test_an_inner_call_without_a_result_gets_a_placeholder_and_the_last_one_does_not() -> None:
    out = build(messages=[USER, turn("c1"), USER, turn("c2")])
    outputs = [(i["call_id"], i["output"]) for i in out.json["input"] if i["type"] == "function_call_output"]
    assert outputs == [("c1", "[result omitted]")]
    assert "placeholder" in told(out)


def test_a_failed_result_says_so_and_one_with_an_image_has_parts() -> None:
    failed, seen = result("c1", "boom", is_error=True), result("c2", [{"type": "text", "text": "x"}, IMAGE])
    outputs = [
        i["output"]
        for i in items(USER, turn("c1", "c2"), failed, seen)
        if i["type"] == "function_call_output"
    ]
    assert outputs[0] == "[ERROR] boom"
    assert [part["type"] for part in outputs[1]] == ["input_text", "input_image"]


def test_arguments_that_are_empty_are_an_empty_object() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert items(USER, {"role": "assistant", "tool_calls": [call]})[1]["arguments"] == "{}"


def test_ids_are_unique_and_short_enough_and_results_follow_them() -> None:
    long = "resp_" + "x" * 80
    out = items(
        USER,
        turn("a"),
        result("a", "1"),
        USER,
        turn("a"),
        result("a", "2"),
        USER,
        turn(long),
        result(long, "3"),
    )
    pairs = [(i["type"], i["call_id"]) for i in out if "call_id" in i]
    made = [id for kind, id in pairs if kind == "function_call"]
    assert [id for kind, id in pairs if kind == "function_call_output"] == made
    assert len(set(made)) == 3
    assert all(0 < len(id) <= 64 for id in made)


def test_free_form_calls_keep_their_form_where_there_is_one() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    history = [USER, {"role": "assistant", "tool_calls": [call]}, result("c", "1")]
    assert items(*history)[1:] == [
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    ]
    as_function = items(*history, vendor=Quirks())[1]
    assert (as_function["type"], as_function["arguments"]) == ("function_call", '{"input":"select 1"}')


def test_images_of_the_assistant_follow_in_a_user_message() -> None:
    out = items(USER, {"role": "assistant", "content": [{"type": "text", "text": "here"}, IMAGE]}, USER)
    assert [item["role"] for item in out] == ["user", "assistant", "user", "user"]


def test_a_blank_assistant_turn_is_left_out_with_a_word() -> None:
    out = build(messages=[USER, {"role": "assistant", "content": ""}, USER])
    assert out.json["input"] == [user("hi"), user("hi")]
    assert "left out" in told(out)


# What the vendor wants back.


def test_encrypted_reasoning_goes_back_before_its_turn_to_the_host_that_made_it() -> None:
    history = [USER, turn("c", content="t", reasoning_details=[ENCRYPTED]), result("c")]
    assert items(*history)[1:3] == [ITEM, said("t")]
    for other in ("xai", "azure", "openrouter", "sakanaai"):
        out = build(other, messages=history)
        assert ITEM not in out.json["input"]
        assert "not this vendor's own" in told(out)
    own = ENCRYPTED | {"format": "xai-responses-v1"}
    assert ITEM in items(USER, turn("c", reasoning_details=[own]), result("c"), vendor="xai")


@pytest.mark.parametrize(
    "detail",
    [
        {**ENCRYPTED, "id": None},
        {**ENCRYPTED, "data": 3},
        {**ENCRYPTED, "type": "reasoning.text", "text": "hm"},
        {**ENCRYPTED, "format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "id": "rs_1", "data": "EC"},
        {},
    ],
)
def test_a_detail_that_is_not_whole_or_not_its_own_stays_here(detail: Any) -> None:
    kinds = [i["type"] for i in items(USER, turn("c", content="t", reasoning_details=[detail]), result("c"))]
    assert kinds == ["message", "message", "function_call", "function_call_output"]


def test_reasoning_with_nothing_behind_it_does_not_go_back() -> None:
    blank = {"role": "assistant", "content": "", "reasoning_details": [ENCRYPTED]}
    assert items(USER, blank, USER) == [user("hi"), user("hi")]


def test_a_phase_is_said_again() -> None:
    spoken = {"role": "assistant", "content": "done", "reasoning_details": [phase("final_answer", 0)]}
    assert items(USER, spoken, USER)[1] == said("done", phase="final_answer")
    assert items(USER, spoken, USER, vendor="azure")[1] == said("done")


def test_text_of_two_phases_is_two_messages() -> None:
    details = [phase("commentary", 0), phase("final_answer", 6)]
    spoken = {"role": "assistant", "content": "Hm... Yes.", "reasoning_details": details}
    assert items(USER, spoken, USER)[1:3] == [
        said("Hm... ", phase="commentary"),
        said("Yes.", phase="final_answer"),
    ]


@pytest.mark.parametrize("start", [99, -3, None, "x", True, 2.5])
def test_a_phase_in_an_impossible_place_loses_no_text(start: Any) -> None:
    details = [phase("commentary", start), phase("final_answer", start)]
    spoken = {"role": "assistant", "content": "Yes.", "reasoning_details": details}
    texts = [part["text"] for item in items(USER, spoken, USER)[1:-1] for part in item["content"]]
    assert "".join(texts) == "Yes."
