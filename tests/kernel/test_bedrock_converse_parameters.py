"""Parameters, tools and reasoning as Converse, and the model behind it, takes them."""

import json
from typing import Any

import pytest

from fakes.converse import CLAUDE, NOVA, TOOL, USER, build, call, result, sent, told
from motes.dialects.base import Traits
from motes.dialects.bedrock_converse import DIALECT
from motes.dialects.bedrock_converse.families import bare, family_of
from motes.errors import InvalidRequest

OPUS, NOVA2 = "global.anthropic.claude-opus-5-5", "global.amazon.nova-2-lite-v1:0"
LLAMA, MISTRAL, GPT_OSS = (
    "us.meta.llama3-3-70b-instruct-v1:0",
    "mistral.mistral-large-2407-v1:0",
    "openai.gpt-oss-120b-1:0",
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}


def fields(model: str, **members: Any) -> dict[str, Any]:
    out: dict[str, Any] = sent(model, **members).get("additionalModelRequestFields", {})
    return out


def test_the_smallest_request_says_nothing_it_need_not() -> None:
    assert sent(NOVA) == {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    members = {
        "max_tokens": 100,
        "temperature": 0.5,
        "messages": [{"role": "system", "content": "SYS"}, USER],
    }
    assert sent(NOVA, **members) == {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "system": [{"text": "SYS"}],
        "inferenceConfig": {"maxTokens": 100, "temperature": 0.5},
    }


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("us.amazon.nova-pro-v1:0", "model/us.amazon.nova-pro-v1%3A0/converse-stream"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.x",
            "model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.meta.x/converse-stream",
        ),
        ("a/../b?c#d", "model/a%2F..%2Fb%3Fc%23d/converse-stream"),
    ],
)
def test_the_route_holds_the_whole_name_of_the_model(model: str, path: str) -> None:
    assert DIALECT.path(model) == path


def test_parameters_have_their_places() -> None:
    json = sent(
        NOVA,
        max_completion_tokens=9,
        temperature=0.2,
        top_p=0.9,
        stop=["A", "B"],
        top_k=5,
        service_tier="flex",
    )
    assert json["inferenceConfig"] == {
        "maxTokens": 9,
        "temperature": 0.2,
        "topP": 0.9,
        "stopSequences": ["A", "B"],
    }
    assert json["additionalModelRequestFields"] == {"inferenceConfig": {"topK": 5}}
    assert json["serviceTier"] == {"type": "flex"}
    assert fields(CLAUDE, top_k=5) == {"top_k": 5}


def test_what_has_no_place_is_left_out_with_a_word() -> None:
    out = build(
        NOVA, seed=1, presence_penalty=1, logit_bias={"1": 1}, store=True, modalities=["text", "audio"]
    )
    assert sent(NOVA) == out.json
    for name in ("seed", "presence_penalty", "logit_bias", "store", "modalities"):
        assert name in told(out)
    assert "top_k" in told(build(LLAMA, top_k=3))
    assert "no such tier" in told(build(NOVA, service_tier="scale"))


def test_what_would_be_refused_is_mended() -> None:
    out = build(NOVA, temperature=1.7, stop=[" ", "a", "b", "c", "d"])
    assert out.json["inferenceConfig"] == {"temperature": 1.0, "stopSequences": ["a", "b", "c", "d"]}
    assert "lowered to 1" in told(out)
    assert "blank stop" in told(out)
    json = sent("global.xai.grok-4.7", temperature=0.3, top_p=0.5, top_k=4)
    assert "inferenceConfig" not in json
    assert "additionalModelRequestFields" not in json
    assert sent(CLAUDE, temperature=0.3, top_p=0.5)["inferenceConfig"] == {"maxTokens": 8192, "topP": 0.5}


def test_labels_go_into_the_operators_log() -> None:
    out = build(NOVA, user="u-1", metadata={"team": "harbour", "bad": "ü", "n" * 300: "x"})
    assert out.json["requestMetadata"] == {"team": "harbour", "user": "u-1"}
    assert "metadata" in told(out)


def test_members_of_the_api_itself_go_as_they_are() -> None:
    guard = {"guardrailIdentifier": "abc", "guardrailVersion": "1", "trace": "enabled"}
    json = sent(
        NOVA,
        guardrailConfig=guard,
        performanceConfig={"latency": "optimized"},
        additionalModelRequestFields={"x": 1},
        unknown={"y": 2},
    )
    assert json["guardrailConfig"] == guard
    assert json["performanceConfig"] == {"latency": "optimized"}
    assert json["additionalModelRequestFields"] == {"x": 1}
    assert "unknown" not in json


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "high", {}),
        (CLAUDE, "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (CLAUDE, "off", {"thinking": {"type": "disabled"}}),
        (
            "us.anthropic.claude-opus-4-6-v1",
            "high",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
        ),
        ("global.anthropic.claude-sonnet-5-5", "off", {"thinking": {"type": "between_tools"}}),
        (OPUS, "off", {"output_config": {"effort": "low"}}),
        (NOVA, "high", {}),
        (NOVA2, "low", {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}),
        (NOVA2, "xhigh", {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}),
        (NOVA2, "off", {"reasoningConfig": {"type": "disabled"}}),
        (GPT_OSS, "medium", {"reasoning_effort": "medium"}),
        (GPT_OSS, "off", {"reasoning_effort": "low"}),
        (GPT_OSS, "max", {"reasoning_effort": "high"}),
        ("global.openai.gpt-6-luna", "off", {"reasoning": {"effort": "none"}}),
        ("global.openai.gpt-6-luna", "max", {"reasoning": {"effort": "xhigh"}}),
        ("global.openai.gpt-6.1-sol", "off", {"reasoning": {"effort": "low"}}),
        ("qwen.qwen3-next-80b-a3b", "high", {"reasoning_config": "high"}),
        ("qwen.qwen3-next-80b-a3b", "off", {"reasoning_config": "none"}),
        ("qwen.qwen3-coder-next", "high", {}),
        ("deepseek.v3.2", "low", {"reasoning_effort": "high"}),
        ("deepseek.v3.2", "off", {"reasoning_effort": "none"}),
        ("us.deepseek.r1-v1:0", "high", {}),
        ("zai.glm-4.7", "off", {"reasoning_effort": "none"}),
        ("global.zai.glm-5.3", "max", {"reasoning_effort": "max"}),
        ("global.xai.grok-4.7", "minimal", {"reasoning": {"effort": "low"}}),
    ],
)
def test_every_family_is_asked_to_reason_in_its_own_form(
    model: str, effort: str, expected: dict[str, Any]
) -> None:
    assert fields(model, reasoning_effort=effort) == expected


def test_nobody_is_asked_to_reason_who_was_not_meant_to() -> None:
    for model in (CLAUDE, NOVA2, GPT_OSS, "deepseek.v3.2"):
        assert fields(model) == {}
    assert (
        build(CLAUDE, Traits(reasoning=False), reasoning_effort="high").json.get(
            "additionalModelRequestFields"
        )
        is None
    )


def test_a_model_that_is_known_not_to_reason_is_not_asked_to() -> None:
    for model in (CLAUDE, GPT_OSS, NOVA2):
        out = build(model, Traits(reasoning=False), reasoning_effort="high")
        assert "additionalModelRequestFields" not in out.json


def test_a_budget_is_an_effort_where_the_model_counts_none() -> None:
    out = build(NOVA2, reasoning={"max_tokens": 5000})
    assert out.json["additionalModelRequestFields"]["reasoningConfig"]["maxReasoningEffort"] == "medium"
    assert "no reasoning budget" in told(out)
    assert (
        fields(CLAUDE, reasoning={"max_tokens": 5000}, max_tokens=9000)["thinking"]["budget_tokens"] == 5000
    )


def test_nova_at_high_effort_limits_itself() -> None:
    out = build(NOVA2, reasoning_effort="high", max_tokens=50, temperature=0.5, top_p=0.5, stop="A")
    assert out.json["inferenceConfig"] == {"stopSequences": ["A"]}
    assert "beside effort high" in told(out)
    assert sent(NOVA2, reasoning_effort="low", max_tokens=50)["inferenceConfig"] == {"maxTokens": 50}


def test_claude_that_reasons_takes_no_sampling_and_is_not_forced() -> None:
    out = build(CLAUDE, reasoning_effort="high", temperature=0.5, tools=[TOOL], tool_choice="required")
    assert list(out.json["inferenceConfig"]) == ["maxTokens"]
    assert out.json["toolConfig"]["toolChoice"] == {"auto": {}}
    assert "may not be forced" in told(out)


def test_claude_gets_its_signed_reasoning_back_in_a_loop_of_tools() -> None:
    signed = {"type": "reasoning.text", "text": "Hm.", "signature": "s", "format": "bedrock-converse-v1"}
    history = [USER, call("a", reasoning_details=[signed]), result("a")]
    assert (
        fields(CLAUDE, messages=history, reasoning_effort="low", tools=[TOOL])["thinking"]["type"]
        == "enabled"
    )
    bare_loop = build(CLAUDE, messages=[USER, call("a"), result("a")], reasoning_effort="low", tools=[TOOL])
    assert "additionalModelRequestFields" not in bare_loop.json
    assert "without its signed reasoning" in told(bare_loop)


def test_a_function_is_a_tool_with_a_schema_that_has_a_root() -> None:
    tool = {
        "type": "function",
        "function": {"name": "f", "description": "Does.", "parameters": {"properties": {"a": {}}}},
    }
    assert sent(tools=[tool])["toolConfig"] == {
        "tools": [
            {
                "toolSpec": {
                    "name": "f",
                    "description": "Does.",
                    "inputSchema": {"json": {"properties": {"a": {}}, "type": "object"}},
                }
            }
        ]
    }


def test_a_strict_tool_is_closed_where_the_model_can_be_held_to_it() -> None:
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": SCHEMA}}
    (held,) = sent(CLAUDE, tools=[tool])["toolConfig"]["tools"]
    assert held["toolSpec"]["strict"] is True
    assert held["toolSpec"]["inputSchema"]["json"] == {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    out = build(LLAMA, tools=[tool])
    assert "strict" not in out.json["toolConfig"]["tools"][0]["toolSpec"]
    assert "strict was left out" in told(out)


@pytest.mark.parametrize(
    ("model", "choice", "expected"),
    [
        (NOVA, "auto", {"auto": {}}),
        (NOVA, "required", {"any": {}}),
        (NOVA, {"type": "function", "function": {"name": "f"}}, {"tool": {"name": "f"}}),
        (MISTRAL, "required", {"any": {}}),
        (MISTRAL, {"type": "function", "function": {"name": "f"}}, {"any": {}}),
        (LLAMA, "required", None),
        (LLAMA, {"type": "function", "function": {"name": "f"}}, None),
        (CLAUDE, {"type": "function", "function": {"name": "f"}}, {"tool": {"name": "f"}}),
        ("global.anthropic.claude-fable-5", "required", {"auto": {}}),
        (NOVA, {"type": "weird"}, None),
    ],
)
def test_a_choice_is_what_the_model_can_be_given(model: str, choice: Any, expected: Any) -> None:
    out = build(model, tools=[TOOL], tool_choice=choice)
    assert out.json["toolConfig"].get("toolChoice") == expected
    if expected is None:
        assert out.warnings


def test_no_tools_are_sent_where_none_may_be_called() -> None:
    assert "toolConfig" not in sent(NOVA, tools=[TOOL], tool_choice="none")
    assert "toolConfig" not in sent(NOVA, tool_choice="required")


def test_tools_of_the_history_are_declared_also_where_none_may_be_called() -> None:
    history = [USER, call("a", name="g"), result("a"), USER]
    out = build(CLAUDE, messages=history, tools=[TOOL], tool_choice="none")
    assert [tool["toolSpec"]["name"] for tool in out.json["toolConfig"]["tools"]] == ["f", "g"]
    assert "toolChoice" not in out.json["toolConfig"]
    assert out.json["additionalModelRequestFields"] == {"tool_choice": {"type": "none"}}
    other = build(NOVA, messages=history, tool_choice="none")
    assert other.json["toolConfig"] == {
        "tools": [{"toolSpec": {"name": "g", "inputSchema": {"json": {"type": "object", "properties": {}}}}}]
    }
    assert "none cannot be said" in told(other)


def test_one_call_at_a_time_is_said_to_claude_alone() -> None:
    json = sent(
        CLAUDE,
        tools=[TOOL],
        parallel_tool_calls=False,
        tool_choice={"type": "function", "function": {"name": "f"}},
    )
    assert "toolChoice" not in json["toolConfig"]
    assert json["additionalModelRequestFields"] == {
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True}
    }
    assert "parallel_tool_calls" in told(build(NOVA, tools=[TOOL], parallel_tool_calls=False))


def test_allowed_tools_are_the_ones_that_are_sent() -> None:
    other = {"type": "function", "function": {"name": "g"}}
    allowed = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]},
    }
    config = sent(NOVA, tools=[TOOL, other], tool_choice=allowed)["toolConfig"]
    assert [tool["toolSpec"]["name"] for tool in config["tools"]] == ["g"]
    assert config["toolChoice"] == {"any": {}}


def test_a_free_form_tool_is_a_function_of_one_text() -> None:
    out = build(tools=[{"type": "custom", "custom": {"name": "sh", "description": "Runs."}}])
    spec = out.json["toolConfig"]["tools"][0]["toolSpec"]
    assert (spec["name"], spec["inputSchema"]["json"]["required"]) == ("sh", ["input"])
    assert "custom tool" in told(out)


def test_tools_of_the_service_go_as_they_are_and_others_not_at_all() -> None:
    own = {"type": "system", "systemTool": {"name": "nova_code_interpreter"}}
    out = build(NOVA2, tools=[own, {"type": "web_search_20250305", "name": "web_search"}])
    assert out.json["toolConfig"]["tools"] == [{"systemTool": {"name": "nova_code_interpreter"}}]
    assert "web_search_20250305" in told(out)
    assert sent(NOVA2, web_search_options={})["toolConfig"]["tools"] == [
        {"systemTool": {"name": "nova_grounding"}}
    ]
    assert "web search was left out" in told(build(CLAUDE, web_search_options={}))


def test_an_answer_by_a_schema_is_asked_for_natively_or_in_words() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    held = sent(CLAUDE, response_format=wanted)["outputConfig"]["textFormat"]
    assert held["type"] == "json_schema"
    assert held["structure"]["jsonSchema"]["name"] == "answer"
    assert json.loads(held["structure"]["jsonSchema"]["schema"])["additionalProperties"] is False
    out = build(LLAMA, response_format=wanted)
    assert "outputConfig" not in out.json
    assert "JSON Schema" in out.json["system"][0]["text"]
    assert "became an instruction" in told(out)
    titan = sent("amazon.titan-text-lite-v1", response_format={"type": "json_object"})
    assert "valid JSON" in titan["messages"][0]["content"][-1]["text"]


def test_models_that_do_not_go_on_from_a_begun_answer_get_a_user_turn() -> None:
    history = [USER, {"role": "assistant", "content": "The"}]
    assert sent(OPUS, messages=history)["messages"][-1]["role"] == "user"
    assert sent(NOVA, messages=history)["messages"][-1]["role"] == "assistant"


def test_a_schema_nested_beyond_reason_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"type": "array", "items": deep}
    with pytest.raises(InvalidRequest):
        sent(CLAUDE, response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": deep}})


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("us.amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"),
        ("us-gov.anthropic.claude-x", "anthropic.claude-x"),
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.meta.llama", "meta.llama"),
        ("arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-2-lite-v1:0", "amazon.nova-2-lite-v1:0"),
        ("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2", "a1b2"),
    ],
)
def test_the_family_is_told_by_the_name_within_the_name(model: str, name: str) -> None:
    assert bare(model) == name
    assert family_of(model) == family_of(name)
