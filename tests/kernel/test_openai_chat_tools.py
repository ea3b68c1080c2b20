"""Tools, the choice among them, and strict schemas."""

import json
from typing import Any

import pytest

from fakes.chat_requests import TOOL, build, sent, told
from motes.errors import InvalidRequest
from motes.quirks import Quirks


def test_tools_carry_a_schema_even_where_the_caller_gave_none() -> None:
    tools = [
        {"type": "function", "function": {"name": "f", "description": "d"}},
        {
            "type": "function",
            "function": {"name": "g", "parameters": {"properties": {"n": {"type": "integer"}}}},
        },
    ]
    first, second = sent(tools=tools)["tools"]
    assert first == {
        "type": "function",
        "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}},
    }
    assert second["function"]["parameters"]["type"] == "object"


def test_an_empty_list_of_tools_is_none_and_nothing_may_be_chosen_of_it() -> None:
    out = build(tools=[], tool_choice="required", parallel_tool_calls=True)
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & out.json.keys()
    assert "no tools" in told(out)
    assert build(tools=[], tool_choice="auto").warnings == ()


@pytest.mark.parametrize(
    ("asked", "wire"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("any", "required"),
        ({"type": "any"}, "required"),
        ({"type": "auto"}, "auto"),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "f"}}),
        ({"type": "function", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_every_form_of_choice_is_understood(asked: Any, wire: Any) -> None:
    assert sent(tools=[TOOL], tool_choice=asked)["tool_choice"] == wire


@pytest.mark.parametrize("asked", ["sometimes", {}, {"type": "x"}])
def test_a_choice_that_cannot_be_meant_is_refused(asked: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        build(tools=[TOOL], tool_choice=asked)
    assert caught.value.param == "tool_choice"


def test_a_choice_among_some_tools_sends_only_those() -> None:
    other = {"type": "function", "function": {"name": "g"}}
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}
    out = build(tools=[TOOL, other], tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert [t["function"]["name"] for t in out.json["tools"]] == ["g"]
    assert out.json["tool_choice"] == "required"
    assert "allowed" in told(out)


def test_a_forced_tool_is_degraded_as_the_row_says() -> None:
    out = build(Quirks(tool_choice="no-forced"), tools=[TOOL], tool_choice="required")
    assert out.json["tool_choice"] == "auto"
    assert out.warnings
    out = build("ollama", tools=[TOOL], tool_choice="required")
    assert "tool_choice" not in out.json
    assert out.warnings
    out = build("ollama", tools=[TOOL], tool_choice="none")
    assert not {"tools", "tool_choice"} & out.json.keys()
    assert out.warnings


def test_a_forced_tool_switches_thinking_off_where_both_cannot_be() -> None:
    out = build(
        "deepseek",
        "deepseek-v4-pro",
        tools=[TOOL],
        tool_choice="required",
        reasoning_effort="high",
        temperature=0.5,
    )
    assert out.json["tool_choice"] == "required"
    assert out.json["thinking"] == {"type": "disabled"}
    assert "reasoning_effort" not in out.json
    assert out.json["temperature"] == 0.5
    assert "switched off" in told(out)


def test_free_form_and_vendor_tools_go_where_they_are_known() -> None:
    custom = {"type": "custom", "custom": {"name": "run", "format": {"type": "text"}}}
    own = {"type": "browser_search", "depth": 2}
    assert sent("openai", "gpt-4.1", tools=[custom])["tools"] == [custom]
    out = build("groq", tools=[custom, own])
    assert out.json["tools"] == [own]
    assert "custom" in told(out)


def test_a_strict_schema_is_closed_at_every_depth() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "properties": {"type": "object", "properties": {"const": {"type": "integer", "enum": [1, 2]}}},
            "list": {
                "type": "array",
                "items": {"type": "object", "properties": {"x": {"$ref": "#/$defs/d"}}},
            },
            "either": {"anyOf": [{"type": "object", "properties": {}}, {"type": "string"}]},
        },
        "required": ["a"],
        "$defs": {"d": {"type": "object", "properties": {"y": {"type": ["string", "null"]}}}},
        "allOf": [{"properties": {"z": {"const": 1}}}],
    }
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}
    before = json.dumps(tool)
    out = build("openai", "gpt-4.1", tools=[tool])
    schema = out.json["tools"][0]["function"]["parameters"]
    assert json.dumps(tool) == before
    assert schema["required"] == ["a", "properties", "list", "either"]
    assert schema["properties"]["a"] == {"type": "string"}
    assert schema["properties"]["properties"] == {
        "type": ["object", "null"],
        "properties": {"const": {"type": ["integer", "null"], "enum": [1, 2, None]}},
        "required": ["const"],
        "additionalProperties": False,
    }
    inner = schema["properties"]["list"]["items"]
    assert inner["properties"]["x"] == {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]}
    assert schema["properties"]["either"]["anyOf"][0]["additionalProperties"] is False
    assert schema["properties"]["either"]["anyOf"][-1] == {"type": "null"}
    assert schema["$defs"]["d"]["properties"]["y"] == {"type": ["string", "null"]}
    assert schema["$defs"]["d"]["required"] == ["y"]
    assert schema["allOf"][0]["required"] == ["z"]
    assert "tools.f" in told(out)


def test_keywords_that_strict_mode_refuses_are_dropped_and_named_and_properties_of_such_names_stay() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "default": {"type": "string", "default": "x", "minLength": 2, "pattern": "^a"},
            "list": {
                "type": "array",
                "items": {"oneOf": [{"type": "string"}, {"type": "null"}]},
                "uniqueItems": True,
            },
            "ref": {"$ref": "#/$defs/d", "description": "beside a reference"},
        },
        "required": ["default", "list", "ref"],
        "$defs": {"d": {"type": "integer", "minimum": 1}},
    }
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}
    out = build("openai", "gpt-4.1", tools=[tool])
    schema = out.json["tools"][0]["function"]["parameters"]
    assert schema["properties"] == {
        "default": {"type": "string", "pattern": "^a"},
        "list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "ref": {"$ref": "#/$defs/d"},
    }
    assert schema["$defs"] == {"d": {"type": "integer", "minimum": 1}}
    assert "default, description, minLength, uniqueItems" in told(out)


def test_a_schema_that_is_not_strict_is_left_alone() -> None:
    loose = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}
    tool = {"type": "function", "function": {"name": "f", "parameters": loose, "strict": False}}
    out = build("openai", "gpt-4.1", tools=[tool])
    assert out.json["tools"] == [tool]
    assert out.warnings == ()


def test_strict_is_dropped_where_it_is_unknown() -> None:
    tool = {"type": "function", "function": {"name": "f", "strict": True}}
    out = build("togetherai", tools=[tool])
    assert "strict" not in out.json["tools"][0]["function"]
    assert "tools.f.strict" in told(out)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"tool_choice": "required"}, "tool_choice: dropped, there are no tools"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls: dropped, there are no tools"),
        (
            {"tool_choice": "required", "parallel_tool_calls": True},
            "tool_choice, parallel_tool_calls: dropped, there are no tools",
        ),
    ],
)
def test_only_what_was_given_is_told_to_be_dropped(asked: dict[str, Any], words: str) -> None:
    assert build(**asked).warnings == (words,)


def test_a_choice_that_changes_nothing_is_dropped_without_a_word() -> None:
    for choice in ("auto", "none"):
        assert build(tool_choice=choice).warnings == ()
