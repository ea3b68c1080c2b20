"""An OpenAI chat request becomes what Ollama's native chat takes, and every loss is told."""

import json
from typing import Any

import pytest

from fakes.houses import USER, House, result, told, turn
from motes.dialects.ollama_chat import DIALECT
from motes.errors import InvalidRequest
from motes.quirks import Quirks
from motes.vendors.catalogue import speaking
from motes.vendors.table import VENDORS

HOUSE = House(DIALECT)
build, sent, messages = HOUSE.build, HOUSE.sent, HOUSE.messages
ROW = speaking(VENDORS["ollama"], "ollama-chat").quirks
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
PNG = "data:image/png;base64,iVBORw0KGgo="


def parts(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def file(data: str | None, name: str | None = None, id: str | None = None) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data, "filename": name, "file_id": id}}


def test_the_smallest_request_is_a_stream_and_says_nothing_about_reasoning() -> None:
    out = build()
    assert out.json == {"model": "m", "messages": [USER], "stream": True}
    assert out.warnings == ()
    assert DIALECT.path("m") == "api/chat"
    assert sent(stream=False)["stream"] is True


def test_limits_and_samplers_are_options() -> None:
    members = {"temperature": 0.5, "top_p": 0.9, "top_k": 40, "seed": 7, "presence_penalty": 0.1}
    out = build(max_tokens=9, stop=["a", "", "b"], frequency_penalty=0.2, **members)
    assert out.json["options"] == {"num_predict": 9, "stop": ["a", "b"], "frequency_penalty": 0.2, **members}
    assert told(out) == "stop: an empty sequence was dropped"
    assert sent(max_completion_tokens=5, stop="x")["options"] == {"num_predict": 5, "stop": ["x"]}


def test_ollamas_own_words_are_taken_and_count_most() -> None:
    out = build(
        num_ctx=8192, repetition_penalty=1.1, options={"temperature": 0.1, "min_p": 0.05}, temperature=1
    )
    assert out.json["options"] == {"num_ctx": 8192, "repeat_penalty": 1.1, "temperature": 0.1, "min_p": 0.05}
    more = build(keep_alive=0, truncate=False, shift=True, format={"type": "object"}, think="max")
    assert more.json | {"messages": [], "model": ""} == {
        "model": "", "messages": [], "stream": True, "keep_alive": 0, "truncate": False, "shift": True,
        "format": {"type": "object"}, "think": "max",
    }  # fmt: skip
    assert out.warnings == more.warnings == ()


def test_what_there_is_no_word_for_is_told() -> None:
    out = build(
        user="u", logit_bias={"1": 1}, metadata={"a": "b"}, modalities=["text", "audio"], weird=1, empty=[]
    )
    assert out.json == {"model": "m", "messages": [USER], "stream": True}
    assert [w.partition(":")[0] for w in out.warnings] == [
        "logit_bias",
        "user",
        "metadata",
        "modalities",
        "weird",
    ]
    assert "reasoning.exclude" in told(build(reasoning={"exclude": True}))


@pytest.mark.parametrize(
    ("model", "asked", "think", "word"),
    [
        ("gpt-oss:20b", {"reasoning_effort": "high"}, "high", ""),
        ("gpt-oss:20b", {"reasoning_effort": "max"}, "high", "'max': sent as 'high'"),
        ("gpt-oss:20b", {"reasoning_effort": "none"}, False, ""),
        ("gpt-oss:20b", {"reasoning": {"enabled": True}}, True, ""),
        ("library/gpt-oss:120b-cloud", {"reasoning_effort": "low"}, "low", ""),
        ("qwen3:8b", {"reasoning_effort": "high"}, True, "'high': sent as 'on'"),
        ("qwen3:8b", {"reasoning_effort": "none"}, False, ""),
        ("qwen3:8b", {"thinking": {"type": "enabled", "budget_tokens": 99}}, True, "budget: dropped"),
        ("qwen3:8b", {"thinking": {"type": "disabled"}}, False, ""),
        ("qwen3:8b", {}, None, ""),
    ],
)
def test_effort_is_a_level_where_there_are_levels_and_a_switch_elsewhere(
    model: str, asked: Any, think: Any, word: str
) -> None:
    out = build(model, ROW, **asked)
    assert out.json.get("think") == think
    assert (word in told(out)) if word else out.warnings == ()


def test_a_model_that_is_known_not_to_reason_is_not_asked_to() -> None:
    out = build(reasons=False, reasoning_effort="low")
    assert "think" not in out.json
    assert "does not reason" in told(out)


def test_json_is_a_format_and_a_schema_is_one_itself() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}
    assert sent(response_format={"type": "json_object"})["format"] == "json"
    assert sent(response_format=form)["format"] == SCHEMA
    assert "format" not in sent(response_format={"type": "text"})
    assert sent(response_format={"type": "json_schema", "json_schema": {"name": "r"}})["format"] == "json"


def test_a_cloud_model_is_told_the_schema_in_words_too() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}
    system = {"role": "system", "content": "Be brief."}
    out = build("gpt-oss:120b-cloud", messages=[system, USER], response_format=form)
    assert out.json["messages"][0]["content"].startswith("Be brief.\n\nAnswer with one JSON value")
    assert json.dumps(SCHEMA, separators=(",", ":")) in out.json["messages"][0]["content"]
    assert "cloud models" in told(out)
    bare = build("x:cloud", response_format=form).json["messages"]
    assert [m["role"] for m in bare] == ["system", "user"]


def test_tools_are_sent_and_none_can_be_forced() -> None:
    out = build(tools=[TOOL], tool_choice="required", parallel_tool_calls=False)
    assert out.json["tools"] == [TOOL]
    assert "tool_choice" not in out.json
    assert "cannot be forced" in told(out)
    assert "parallel_tool_calls" in told(out)
    assert "tools" not in sent(tools=[TOOL], tool_choice="none")
    assert sent(tools=[TOOL], tool_choice="auto")["tools"] == [TOOL]


def test_images_are_bare_base64_beside_the_text() -> None:
    out = messages(parts({"type": "text", "text": "a"}, image(PNG), {"type": "text", "text": "b"}, file(PNG)))
    assert out == [{"role": "user", "content": "a\nb", "images": ["iVBORw0KGgo=", "iVBORw0KGgo="]}]
    assert messages(parts(image("data:image/png,%89PNG")))[0]["images"] == ["iVBORw=="]


@pytest.mark.parametrize(
    ("part", "word"),
    [
        (image("https://x.example/a.png"), "data URL"),
        (image("a.png"), "data URL"),
        (image("data:image/png;base64,"), "nothing after its comma"),
        (file(None, id="f1"), "data URL"),
        (file("data:application/pdf;base64,JVBERi0="), "application/pdf"),
        (file("data:text/plain;base64,!"), "not valid base64"),
        ({"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}, "no sound"),
    ],
)
def test_what_ollama_cannot_be_told_is_refused_with_the_reason(part: Any, word: str) -> None:
    with pytest.raises(InvalidRequest, match=word) as refused:
        build(messages=[parts(part)])
    assert refused.value.param == "messages"


def test_a_text_file_is_part_of_the_text() -> None:
    out = messages(parts({"type": "text", "text": "Read:"}, file("data:text/csv;base64,YSxi", "a b.csv")))
    assert out[0]["content"] == "Read:\n```a b.csv\na,b\n```"


def test_calls_have_objects_for_arguments_and_results_name_their_tool() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}},
        {"id": "c", "type": "custom", "custom": {"name": "h", "input": "free"}},
    ]
    asked = {"role": "assistant", "content": "t", "reasoning_content": "hm", "tool_calls": calls}
    out = messages(USER, asked, result("a"), result("b", is_error=True), result("c"), USER)
    assert out[1] == {
        "role": "assistant", "content": "t", "thinking": "hm",
        "tool_calls": [
            {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
            {"id": "b", "function": {"name": "g", "arguments": {}}},
            {"id": "c", "function": {"name": "h", "arguments": {"input": "free"}}},
        ],
    }  # fmt: skip
    assert out[2] == {"role": "tool", "content": "r", "tool_name": "f", "tool_call_id": "a"}
    assert out[3] == {"role": "tool", "content": "[ERROR] r", "tool_name": "g", "tool_call_id": "b"}
    assert out[4]["tool_name"] == "h"


def test_arguments_that_are_no_object_are_told() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "[1]"}}
    out = build(messages=[USER, {"role": "assistant", "tool_calls": [call]}, result("a")])
    assert out.json["messages"][1]["tool_calls"][0]["function"]["arguments"] == {}
    assert "no JSON object" in told(out)


def test_an_inner_call_without_a_result_is_answered_and_the_last_one_is_not() -> None:
    out = messages(USER, turn("c1", "c2", content="t"), result("c1"), {"role": "user", "content": "b"})
    assert [m["role"] for m in out] == ["user", "assistant", "tool", "tool", "user"]
    assert out[3]["content"] == "[result omitted]"
    assert [m["role"] for m in messages(USER, turn("c1"))] == ["user", "assistant"]


def test_developer_is_system_and_refusals_are_text() -> None:
    refused = {"role": "assistant", "content": None, "refusal": "no"}
    out = messages({"role": "developer", "content": [{"type": "text", "text": "a"}]}, refused, USER)
    assert out == [{"role": "system", "content": "a"}, {"role": "assistant", "content": "no"}, USER]


def test_an_earlier_answer_keeps_its_text_and_loses_its_media_with_a_word() -> None:
    named = {"role": "assistant", "content": [{"type": "text", "text": "a"}, image(PNG)], "name": "n"}
    marked = parts({"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}})
    out = build(messages=[USER, named, marked])
    assert out.json["messages"][1:] == [
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
    ]
    assert all(word in told(out) for word in ("names", "images and sound", "cache_control"))


def test_a_row_may_refuse_and_add_members() -> None:
    out = build(quirks=Quirks(drop=frozenset({"format"}), extra_body={"keep_alive": "1h"}),
                response_format={"type": "json_object"})  # fmt: skip
    assert out.json == {"model": "m", "messages": [USER], "stream": True, "keep_alive": "1h"}
    assert "format: dropped" in told(out)
