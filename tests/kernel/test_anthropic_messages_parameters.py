"""A chat request as a Messages request: tools, formats, and what has no counterpart."""

from copy import deepcopy
from typing import Any

import pytest

from fakes.messages_request import asked, blocks, sent, user
from motes.errors import InvalidRequest
from motes.quirks import Quirks

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
FORCED = {"tools": [TOOL], "tool_choice": "required"}
BUDGET_MODEL = "claude-sonnet-4-5"
ADAPTIVE_MODEL = "claude-opus-4-8"


# Tools and the choice among them.


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        ({"type": "tool", "name": "f"}, {"type": "tool", "name": "f"}),
        ({"type": "any"}, {"type": "any"}),
        ({"type": "custom", "custom": {"name": "f"}}, {"type": "tool", "name": "f"}),
        ({"type": "nonsense"}, None),
        ("nonsense", None),
    ],
)
def test_the_choice_among_tools_is_said_in_the_apis_words(given: Any, choice: Any) -> None:
    made = asked(tools=[TOOL], tool_choice=given)
    assert made.json.get("tool_choice") == choice
    assert bool(made.warnings) is (choice is None)


def test_one_call_at_a_time_is_said_inversely() -> None:
    made = asked(tools=[TOOL], parallel_tool_calls=False).json["tool_choice"]
    assert made == {"type": "auto", "disable_parallel_tool_use": True}
    assert asked(tools=[TOOL], tool_choice="none", parallel_tool_calls=False).json["tool_choice"] == {
        "type": "none"
    }
    assert "tool_choice" not in asked(tools=[TOOL], parallel_tool_calls=True).json
    assert "tool_choice" not in asked(parallel_tool_calls=False).json


def test_a_forced_tool_is_let_go_where_the_model_reasons_and_where_it_may_never_be_forced() -> None:
    for made in (
        asked("claude-demo", reasoning_effort="high", **FORCED),
        asked(BUDGET_MODEL, reasoning_effort="high", **FORCED),
        asked("claude-opus-5-5", **FORCED),
        asked("claude-fable-5", **FORCED),
    ):
        assert made.json["tool_choice"] == {"type": "auto"}
        assert any("forced" in note for note in made.warnings)


def test_a_forced_tool_counts_more_than_reasoning_nobody_asked_for() -> None:
    made = asked("claude-opus-5", **FORCED)
    assert made.json["tool_choice"] == {"type": "any"}
    assert made.json["thinking"] == {"type": "disabled"}
    assert len(made.warnings) == 1


def test_a_forced_choice_without_tools_is_left_out_with_a_note() -> None:
    made = asked(tool_choice="required")
    assert "tool_choice" not in made.json
    assert len(made.warnings) == 1
    assert asked(tool_choice="auto").warnings == ()


def test_allowed_tools_are_the_only_ones_sent() -> None:
    other = {"type": "function", "function": {"name": "g"}}
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}
    made = asked(tools=[TOOL, other], tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert [tool["name"] for tool in made.json["tools"]] == ["g"]
    assert made.json["tool_choice"] == {"type": "any"}


@pytest.mark.parametrize(
    "parameters", [None, {}, {"properties": {}}, {"type": ["object", "null"], "properties": {}}]
)
def test_a_tools_schema_is_an_object_at_its_root(parameters: Any) -> None:
    made = asked(tools=[{"type": "function", "function": {"name": "f", "parameters": parameters}}])
    assert made.json["tools"] == [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]


def test_deprecated_functions_and_custom_tools_are_tools() -> None:
    assert asked(functions=[{"name": "f"}], function_call={"name": "f"}).json["tool_choice"] == {
        "type": "tool",
        "name": "f",
    }
    made = asked(tools=[{"type": "custom", "custom": {"name": "sh", "description": "d"}}])
    assert made.json["tools"][0]["input_schema"]["required"] == ["input"]
    assert len(made.warnings) == 1


def test_tools_of_the_vendor_go_as_they_are_and_bring_their_beta() -> None:
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    code = {"type": "code_execution_20250825", "name": "code_execution"}
    made = asked(tools=[search, code, TOOL])
    assert made.json["tools"][:2] == [search, code]
    assert made.headers == {"anthropic-beta": "code-execution-2025-08-25"}


def test_openais_web_search_option_is_the_vendors_search_tool() -> None:
    where = {"type": "approximate", "approximate": {"city": "Faro", "country": "PT"}}
    made = asked(web_search_options={"user_location": where})
    assert made.json["tools"] == [
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "user_location": {"type": "approximate", "city": "Faro", "country": "PT"},
        }
    ]


# Formats and schemas.


SCHEMA = {
    "type": "object",
    "required": ["minimum"],
    "properties": {
        "minimum": {"type": "integer", "minimum": 1},
        "additionalProperties": {
            "type": "array",
            "minItems": 3,
            "items": {"properties": {"x": {"maxLength": 2}}},
        },
        "either": {"oneOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}]},
    },
    "$defs": {"d": {"type": ["object", "null"], "additionalProperties": {"type": "string"}}},
}
CLOSED = {
    "type": "object",
    "required": ["minimum"],
    "properties": {
        "minimum": {"type": "integer"},
        "additionalProperties": {
            "type": "array",
            "items": {"properties": {"x": {}}, "additionalProperties": False},
        },
        "either": {"anyOf": [{"type": "object", "additionalProperties": False}, {"type": "null"}]},
    },
    "$defs": {"d": {"type": ["object", "null"], "additionalProperties": {"type": "string"}}},
    "additionalProperties": False,
}


def test_a_schema_of_the_answer_is_closed_everywhere_and_properties_keep_their_names() -> None:
    before = deepcopy(SCHEMA)
    made = asked(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}})
    assert made.json["output_config"] == {"format": {"type": "json_schema", "schema": CLOSED}}
    assert before == SCHEMA
    assert made.warnings == (
        "schema keywords a strict schema may not have were left out: maxLength, minItems, minimum",
    )


def test_a_strict_tool_is_closed_and_a_plain_one_is_left_as_it_is() -> None:
    def tool(strict: bool) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": strict}}

    strict, plain = (asked(tools=[tool(s)]).json["tools"][0] for s in (True, False))
    assert (strict["strict"], strict["input_schema"]) == (True, CLOSED)
    assert "strict" not in plain
    assert plain["input_schema"] == SCHEMA


def test_effort_and_schema_share_one_member() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    made = asked(ADAPTIVE_MODEL, response_format=wanted, reasoning_effort="low")
    assert made.json["output_config"].keys() == {"effort", "format"}


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (BUDGET_MODEL, {"type": "json_object"}),
        (BUDGET_MODEL, {"type": "json_schema", "json_schema": {"name": "n"}}),
        (
            "claude-3-opus-20240229",
            {"type": "json_schema", "json_schema": {"name": "n", "schema": {"title": "T"}}},
        ),
    ],
)
def test_json_that_no_schema_holds_is_asked_for_in_words(model: str, wanted: Any) -> None:
    made = asked(model, response_format=wanted)
    assert "output_config" not in made.json
    assert "JSON" in made.json["system"][0]["text"]
    assert len(made.warnings) == 1


def test_a_schema_nested_beyond_reason_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"type": "object", "properties": {"x": deep}}
    with pytest.raises(InvalidRequest):
        asked(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": deep}})


# The rest.


def test_stop_user_and_tier_have_other_names() -> None:
    made = asked(stop=["END", " \n", ""], user="u1", service_tier="default")
    assert made.json["stop_sequences"] == ["END"]
    assert made.json["metadata"] == {"user_id": "u1"}
    assert made.json["service_tier"] == "standard_only"
    assert len(made.warnings) == 1
    assert asked(stop="END").json["stop_sequences"] == ["END"]
    assert "stop_sequences" not in asked(stop=[" "]).json
    assert "service_tier" not in asked(service_tier="flex").json


def test_what_has_no_counterpart_is_left_out_with_one_note() -> None:
    given = {
        "seed": 0,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.5,
        "logit_bias": {"1": 2.0},
        "verbosity": "low",
        "store": True,
        "modalities": ["text", "audio"],
        "metadata": {"k": "v"},
        "prediction": {"type": "content", "content": "x"},
        "prompt_cache_key": "k",
    }
    made = asked(**given)
    assert made.json.keys() == {"model", "max_tokens", "stream", "messages"}
    (note,) = made.warnings
    assert all(name in note for name in given)


def test_values_that_say_nothing_need_no_note() -> None:
    neutral = {
        "n": 1,
        "logprobs": False,
        "presence_penalty": 0,
        "store": False,
        "modalities": ["text"],
        "motes": None,
    }
    assert asked(**neutral, stream_options={"include_usage": True}).warnings == ()


def test_the_apis_own_members_pass_and_unknown_ones_do_not() -> None:
    given = {
        "container": {"skills": [{"type": "anthropic", "skill_id": "pptx", "version": "latest"}]},
        "mcp_servers": [{"type": "url", "url": "https://mcp.example/", "name": "m"}],
        "context_management": {"edits": [{"type": "compact_20260112"}]},
        "speed": "fast",
        "unheard_of": 1,
    }
    made = asked(ADAPTIVE_MODEL, **given)
    assert made.json.items() >= {k: v for k, v in given.items() if k != "unheard_of"}.items()
    assert "unheard_of" not in made.json
    assert set(made.headers["anthropic-beta"].split(",")) == {
        "mcp-client-2025-11-20",
        "fast-mode-2026-02-01",
        "code-execution-2025-08-25",
        "skills-2025-10-02",
        "context-management-2025-06-27",
        "compact-2026-01-12",
    }


def test_a_row_may_drop_add_and_pass_on_members() -> None:
    quirks = Quirks(
        drop=frozenset({"thinking"}), extra_body={"x": 1, "stream": False}, passthrough=frozenset({"y"})
    )
    request = {"messages": [user("q")], "reasoning_effort": "high", "y": 2, "z": 3}
    made = sent(request, ADAPTIVE_MODEL, quirks)
    assert (made.json["x"], made.json["y"], made.json["stream"]) == (1, 2, True)
    assert not {"thinking", "z"} & made.json.keys()
    assert made.warnings == ("thinking was left out: this vendor takes none",)


def test_no_blank_text_and_no_two_turns_of_one_role_whatever_is_asked() -> None:
    made = sent({"messages": [user(""), {"role": "assistant", "content": ""}, user(None), user([])]})
    assert [message["role"] for message in made.json["messages"]] == ["user"]
    assert all(block["text"].strip() for block in blocks(made.json))
