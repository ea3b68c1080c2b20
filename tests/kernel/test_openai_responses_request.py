"""The parameters of a Responses request, and what the rows of its vendors make of them."""

from typing import Any

import pytest

from fakes.responses_requests import TOOL, USER, build, sent, told
from motes.errors import InvalidRequest
from motes.quirks import Quirks

SEARCH = {
    "web_search_options": {
        "search_context_size": "low",
        "user_location": {"type": "approximate", "approximate": {"country": "PT"}},
    }
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}},
    "required": ["a"],
    "additionalProperties": False,
}


def form(**members: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "out", "schema": SCHEMA, **members}}


# The whole.


def test_the_least_request_is_streamed_not_stored_and_wants_its_reasoning_back() -> None:
    assert sent() == {
        "model": "gpt-6-sol",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "stream": True,
    }


@pytest.mark.parametrize(
    ("vendor", "model", "expected"),
    [
        ("sakanaai", "fugu", {"instructions": "SYS", "store": False, "temperature": 0.5}),
        ("xai", "grok-4.7", {"reasoning": {"summary": "detailed"}, "store": False, "temperature": 0.5}),
        ("openai", "gpt-4.1", {"instructions": "SYS", "store": False, "temperature": 0.5}),
        ("openai", "gpt-6-sol", {"instructions": "SYS", "store": False}),
        ("azure", "gpt-6-sol", {"instructions": "SYS", "store": False}),
        ("openrouter", "openai/gpt-6-sol", {"instructions": "SYS", "temperature": 0.5}),
    ],
)
def test_a_plain_request_as_each_vendor_takes_it(vendor: str, model: str, expected: dict[str, Any]) -> None:
    system = {"role": "system", "content": "SYS"}
    body = sent(vendor, model, messages=[system, USER], max_tokens=100, temperature=0.5)
    include = [] if model == "gpt-4.1" else ["reasoning.encrypted_content"]
    assert body.pop("input")
    assert body.pop("include", []) == include
    assert body == {"model": model, "max_output_tokens": 100, "stream": True, **expected}


def test_what_goes_as_it_is_goes_and_what_has_no_word_is_told() -> None:
    plain = {
        "user": "u",
        "metadata": {"k": "v"},
        "service_tier": "flex",
        "prompt_cache_key": "p",
        "safety_identifier": "s",
    }
    rest = {
        "stop": ["x"],
        "seed": 1,
        "presence_penalty": 1,
        "frequency_penalty": 1,
        "logit_bias": {"1": 1},
        "top_k": 4,
    }
    out = build(**plain, **rest, prediction={"type": "content", "content": "x"}, modalities=["text", "audio"])
    assert {name: out.json[name] for name in plain} == plain
    assert not rest.keys() & out.json.keys()
    assert all(name in told(out) for name in (*rest, "prediction", "modalities"))


def test_the_limit_has_one_name_and_a_least_value() -> None:
    assert sent(max_tokens=50)["max_output_tokens"] == 50
    assert sent(max_completion_tokens=60)["max_output_tokens"] == 60
    out = build(max_tokens=3)
    assert out.json["max_output_tokens"] == 16
    assert "raised to 16" in told(out)


def test_sampling_is_dropped_while_the_model_reasons_and_kept_otherwise() -> None:
    hot = {"temperature": 1.0, "top_p": 0.5}
    assert not hot.keys() & sent(**hot).keys()
    assert hot.items() <= sent(model="gpt-5.4", **hot).items()
    assert hot.items() <= sent(reasoning_effort="none", **hot).items()
    assert hot.items() <= sent(model="gpt-4.1", **hot).items()
    assert "temperature" not in sent(model="my-deployment", reasons=True, **hot)


def test_extensions_go_to_the_vendors_that_know_them() -> None:
    extras = {"truncation": "auto", "max_tool_calls": 3, "prompt_cache_options": {"mode": "explicit"}}
    assert extras.items() <= sent(**extras).items()
    out = build("xai", "grok-4.7", **extras, max_turns=2)
    assert not extras.keys() & out.json.keys()
    assert (out.json["max_turns"], "truncation: dropped" in told(out)) == (2, True)


def test_a_run_in_background_is_stored_and_then_reasoning_need_not_come_back() -> None:
    body = sent(background=True)
    assert (body["background"], body["store"], "include" in body) == (True, True, False)


def test_what_the_caller_wants_included_is_added_to_ours() -> None:
    body = sent(include=["message.output_text.logprobs", "reasoning.encrypted_content"])
    assert body["include"] == ["reasoning.encrypted_content", "message.output_text.logprobs"]


def test_nothing_is_stored_where_nothing_can_be() -> None:
    out = build("openrouter", "openai/gpt-6-sol", store=True)
    assert "store" not in out.json
    assert "store: dropped" in told(out)


def test_padding_of_the_stream_may_be_switched_off() -> None:
    assert sent(stream_options={"include_obfuscation": False})["stream_options"] == {
        "include_obfuscation": False
    }


# Reasoning.


@pytest.mark.parametrize(
    ("vendor", "model", "effort", "wire"),
    [
        ("openai", "gpt-6-sol", "max", "max"),
        ("openai", "gpt-5.6-terra", "max", "max"),
        ("openai", "gpt-5.5", "max", "xhigh"),
        ("openai", "gpt-5", "minimal", "minimal"),
        ("openai", "gpt-5", "xhigh", "high"),
        ("openai", "gpt-5-pro", "low", "high"),
        ("openai", "gpt-6-astra", "none", "low"),
        ("openai", "gpt-5.1", "none", "none"),
        ("openai", "o3", "max", "high"),
        ("openai", "o3-deep-research", "high", "medium"),
        ("azure", "gpt-6-sol", "max", "max"),
        ("xai", "grok-4.7", "max", "xhigh"),
        ("xai", "grok-4.3", "minimal", "low"),
        ("sakanaai", "fugu", "max", "xhigh"),
        ("sakanaai", "fugu", "low", "high"),
    ],
)
def test_an_effort_is_one_that_the_model_takes(vendor: str, model: str, effort: str, wire: str) -> None:
    out = build(vendor, model, reasoning_effort=effort)
    assert out.json["reasoning"]["effort"] == wire
    assert (effort != wire) == ("sent as" in told(out))


def test_an_effort_for_a_model_that_does_not_reason_is_dropped() -> None:
    out = build(model="gpt-4.1", reasoning_effort="high")
    assert "reasoning" not in out.json
    assert "include" not in out.json
    assert "does not reason" in told(out)


def test_a_deployment_of_any_name_may_reason_unless_its_family_never_does() -> None:
    body = sent("azure", "our-assistant", reasoning_effort="high")
    assert (body["reasoning"]["effort"], body["include"]) == ("high", ["reasoning.encrypted_content"])
    for never in ("gpt-4.1-mini", "gpt-4o", "gpt-4"):
        assert not {"reasoning", "include"} & sent("azure", never, reasoning_effort="high").keys()


def test_a_summary_is_asked_for_where_reasoning_is_to_be_seen() -> None:
    assert sent(reasoning_effort="low")["reasoning"] == {"effort": "low", "summary": "detailed"}
    assert sent(reasoning={"enabled": True})["reasoning"] == {"effort": "medium", "summary": "detailed"}
    assert sent(reasoning={"effort": "low", "exclude": True})["reasoning"] == {"effort": "low"}
    assert sent(reasoning={"effort": "low", "summary": "concise"})["reasoning"]["summary"] == "concise"
    assert sent(reasoning_effort="none")["reasoning"] == {"effort": "none"}
    assert sent(model="o1-pro", reasoning_effort="low")["reasoning"] == {"effort": "low"}
    assert sent("sakanaai", "fugu", reasoning_effort="high")["reasoning"] == {"effort": "high"}
    assert "reasoning" not in sent()


def test_reasoning_that_is_off_need_not_come_back() -> None:
    assert "include" not in sent(reasoning_effort="none")


def test_a_budget_becomes_an_effort() -> None:
    out = build(reasoning={"max_tokens": 3000})
    assert out.json["reasoning"]["effort"] == "low"
    assert "efforts only" in told(out)


def test_options_of_openais_own_go_to_openai() -> None:
    asked = {"effort": "high", "mode": "pro", "context": "all_turns"}
    assert asked.items() <= sent(reasoning=asked)["reasoning"].items()
    out = build("xai", "grok-4.7", reasoning=asked)
    assert out.json["reasoning"] == {"effort": "high", "summary": "detailed"}
    assert "reasoning.mode: dropped" in told(out)


# Form.


def test_a_schema_is_flat_and_closed_where_it_is_strict() -> None:
    assert sent(response_format=form())["text"] == {
        "format": {"type": "json_schema", "name": "out", "schema": SCHEMA}
    }
    strict = sent(response_format=form(strict=True, description="d"), verbosity="low")["text"]
    assert strict == {
        "format": {
            "type": "json_schema",
            "name": "out",
            "schema": CLOSED,
            "description": "d",
            "strict": True,
        },
        "verbosity": "low",
    }


def test_json_without_a_schema_and_plain_text() -> None:
    assert sent(response_format={"type": "json_object"})["text"] == {"format": {"type": "json_object"}}
    assert "text" not in sent(response_format={"type": "text"})


def test_a_host_may_want_the_form_in_the_words_of_chat_completions() -> None:
    body = sent(Quirks(output_format="response_format"), "m", response_format=form())
    assert body["response_format"] == form()
    assert "text" not in body


# Tools.


def test_functions_are_flat_and_always_say_whether_they_are_strict() -> None:
    tools = [
        {
            "type": "function",
            "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
        },
        {"type": "function", "function": {"name": "g"}},
    ]
    assert sent(tools=tools)["tools"] == [
        {"type": "function", "name": "f", "description": "d", "parameters": CLOSED, "strict": True},
        {
            "type": "function",
            "name": "g",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    ]


def test_free_form_and_hosted_tools_go_flat_or_as_they_are() -> None:
    custom = {"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}
    code = {"type": "code_interpreter", "container": {"type": "auto"}}
    body = sent(tools=[custom, code])
    assert body["tools"] == [{"type": "custom", "name": "sql", "format": {"type": "text"}}, code]
    assert body["include"] == ["reasoning.encrypted_content", "code_interpreter_call.outputs"]
    assert "custom" in told(build("xai", "grok-4.7", tools=[custom]))


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("any", "required"),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        ({"type": "function", "name": "f"}, {"type": "function", "name": "f"}),
        ({"type": "custom", "custom": {"name": "f"}}, {"type": "custom", "name": "f"}),
        ({"type": "any"}, "required"),
        ({"type": "image_generation"}, {"type": "image_generation"}),
    ],
)
def test_every_choice_has_its_form(choice: Any, wire: Any) -> None:
    assert sent(tools=[TOOL], tool_choice=choice)["tool_choice"] == wire


def test_a_choice_among_some_tools_leaves_the_others_out() -> None:
    other = {"type": "function", "function": {"name": "g"}}
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}
    out = build(tools=[TOOL, other], tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert ([t["name"] for t in out.json["tools"]], out.json["tool_choice"]) == (["g"], "required")


def test_a_choice_without_tools_is_dropped_and_a_senseless_one_refused() -> None:
    out = build(tool_choice="required", parallel_tool_calls=True)
    assert not {"tool_choice", "parallel_tool_calls"} & out.json.keys()
    for senseless in ("perhaps", {"type": "function"}):
        with pytest.raises(InvalidRequest):
            build(tools=[TOOL], tool_choice=senseless)


def test_the_old_form_of_functions_is_understood() -> None:
    body = sent(functions=[{"name": "f"}], function_call={"name": "f"})
    assert (body["tools"][0]["name"], body["tool_choice"]) == ("f", {"type": "function", "name": "f"})


def test_web_search_is_a_tool_with_sources() -> None:
    body = sent(**SEARCH)
    place = {"type": "approximate", "country": "PT"}
    assert body["tools"] == [{"type": "web_search", "search_context_size": "low", "user_location": place}]
    assert "web_search_call.action.sources" in body["include"]
    for vendor, model in (("openai", "o3-deep-research"), ("azure", "gpt-6-sol")):
        assert sent(vendor, model, **SEARCH)["tools"][0]["type"] == "web_search_preview"


@pytest.mark.parametrize(
    ("vendor", "members"),
    [
        ("openai", {"model": "gpt-5", "reasoning_effort": "minimal"}),
        ("openai", {"tools": [TOOL], "tool_choice": "required"}),
        ("openrouter", {}),
    ],
)
def test_where_there_is_no_search_it_is_dropped_with_a_word(vendor: str, members: dict[str, Any]) -> None:
    out = build(vendor, **members, **SEARCH)
    assert [t for t in out.json.get("tools", []) if t["type"] != "function"] == []
    assert "web_search_options: dropped" in told(out)


def test_a_search_that_the_caller_names_himself_is_the_only_one() -> None:
    assert sent(tools=[{"type": "web_search"}], **SEARCH)["tools"] == [{"type": "web_search"}]
