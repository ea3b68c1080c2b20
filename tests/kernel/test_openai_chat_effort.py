"""How hard to reason, in each vendor's own words."""

from typing import Any

import pytest

from fakes.chat_requests import COMPATIBLE, build, sent, told
from motes.quirks import ModelRule, Quirks
from motes.vendors.chat_quirks import COHERE
from motes.vendors.table import VENDORS


@pytest.mark.parametrize(
    ("vendor", "model", "effort", "wire"),
    [
        ("openai", "gpt-5.6-sol", "off", {"reasoning_effort": "none"}),
        ("openai", "gpt-5.6-sol", "max", {"reasoning_effort": "xhigh"}),
        ("openai", "gpt-5", "minimal", {"reasoning_effort": "minimal"}),
        ("openai", "gpt-5", "off", {"reasoning_effort": "minimal"}),
        ("openai", "gpt-5-pro", "low", {"reasoning_effort": "high"}),
        ("openai", "o3", "xhigh", {"reasoning_effort": "high"}),
        ("openai", "gpt-4.1", "high", {}),
        (
            "deepseek",
            "deepseek-v4-pro",
            "medium",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ),
        ("deepseek", "deepseek-v4-pro", "max", {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
        ("deepseek", "deepseek-v4-pro", "off", {"thinking": {"type": "disabled"}}),
        ("groq", "qwen/qwen3-32b", "off", {"reasoning_effort": "none"}),
        ("groq", "qwen/qwen3-32b", "high", {"reasoning_effort": "default"}),
        ("groq", "openai/gpt-oss-120b", "off", {"reasoning_effort": "low"}),
        ("mistral", "mistral-medium-latest", "low", {"reasoning_effort": "high"}),
        ("mistral", "mistral-medium-latest", "off", {"reasoning_effort": "none"}),
        ("mistral", "magistral-small-latest", "high", {"prompt_mode": "reasoning"}),
        ("mistral", "magistral-small-latest", "off", {"prompt_mode": None}),
        ("mistral", "mistral-large-latest", "high", {}),
        ("xai", "grok-4.3", "off", {"reasoning_effort": "none"}),
        ("xai", "grok-4.7", "minimal", {"reasoning_effort": "low"}),
        ("togetherai", "x", "off", {"reasoning": {"enabled": False}}),
        ("togetherai", "x", "max", {"reasoning_effort": "high"}),
        ("fireworks", "x", "off", {"reasoning_effort": "none"}),
        ("ollama", "x", "high", {"reasoning_effort": "high"}),
        ("openrouter", "a/b", "max", {"reasoning": {"effort": "max"}}),
        ("openrouter", "a/b", "off", {"reasoning": {"enabled": False}}),
        ("openrouter", "google/x", "max", {"reasoning": {"effort": "high"}}),
        ("alibaba", "qwen3.8-max", "low", {"enable_thinking": True, "reasoning_effort": "low"}),
        ("alibaba", "qwen3.8-max", "high", {"enable_thinking": True}),
        ("alibaba", "qwen-plus", "off", {"enable_thinking": False}),
        ("alibaba", "qwq-plus", "off", {}),
        ("baidu", "deepseek-v3.2", "high", {"thinking": {"type": "enabled"}}),
        ("baidu", "ernie-5.0-thinking", "off", {"enable_thinking": False}),
        ("baidu", "ernie-speed", "high", {}),
        ("cerebras", "gpt-oss-120b", "off", {"reasoning_effort": "low"}),
        ("cerebras", "zai-glm-5.3", "medium", {"reasoning_effort": "high"}),
        ("cerebras", "qwen-3-32b", "off", {"reasoning_effort": "none"}),
        ("codebuddy", "glm-5.2", "high", {"reasoning_effort": "high", "reasoning_summary": "auto"}),
        ("codebuddy", "glm-5.2", "off", {}),
        (COHERE, "command-a-reasoning", "low", {"reasoning_effort": "high"}),
        ("deepinfra", "a/b", "off", {"reasoning_effort": "none"}),
        ("hyperbolic", "a/b", "high", {}),
        ("lmstudio", "x", "max", {"reasoning_effort": "high"}),
        ("minimax", "MiniMax-M3", "low", {"thinking": {"type": "adaptive"}}),
        ("minimax", "MiniMax-M3", "off", {"thinking": {"type": "disabled"}}),
        ("minimax", "MiniMax-M2.7", "off", {}),
        ("modular", "zai/GLM-5.2", "low", {"reasoning": {"effort": "high"}}),
        ("modular", "x", "off", {"reasoning": {"enabled": False}}),
        ("moonshot", "kimi-k2.6", "off", {"thinking": {"type": "disabled"}}),
        ("moonshot", "kimi-k3", "xhigh", {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
        ("moonshot", "kimi-k2.7-code", "off", {}),
        ("moonshot", "moonshot-v1-8k", "high", {}),
        ("novita", "x", "off", {"enable_thinking": False}),
        ("nvidianim", "openai/gpt-oss-20b", "off", {"reasoning_effort": "low"}),
        ("nvidianim", "deepseek-ai/deepseek-v3.2", "off", {"chat_template_kwargs": {"thinking": False}}),
        ("nvidianim", "qwen/qwen3-32b", "low", {"chat_template_kwargs": {"enable_thinking": True}}),
        ("perplexity", "sonar-deep-research", "max", {"reasoning_effort": "high"}),
        ("perplexity", "sonar-pro", "high", {}),
        ("sambanova", "DeepSeek-V3.2", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("stepfun", "step-5-preview", "off", {"reasoning_effort": "low"}),
        ("tencent-hunyuan", "hunyuan-t1", "off", {"enable_thinking": False}),
        ("tencent-tokenhub", "hy4", "high", {"thinking": {"type": "enabled"}}),
        ("tencent-tokenhub", "minimax-m3", "high", {"thinking": {"type": "adaptive"}}),
        ("vllm", "x", "minimal", {"reasoning_effort": "minimal"}),
        ("volcengine", "doubao-seed", "max", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("volcengine", "doubao-seed", "off", {"thinking": {"type": "disabled"}}),
        ("zai", "glm-4.7", "high", {"thinking": {"type": "enabled"}}),
        ("zai", "glm-5.2", "xhigh", {"thinking": {"type": "enabled"}, "reasoning_effort": "xhigh"}),
        ("zai", "glm-5.3", "off", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}),
        ("zai", "glm-4.7", "off", {"thinking": {"type": "disabled"}}),
        (COMPATIBLE, "x", "xhigh", {"reasoning_effort": "xhigh"}),
        (COMPATIBLE, "x", "off", {"reasoning_effort": "none"}),
        (Quirks(reasoning_control="thinking-type"), "x", "low", {"thinking": {"type": "enabled"}}),
        (Quirks(reasoning_control="enable-flag"), "x", "off", {"enable_thinking": False}),
        (Quirks(reasoning_control="none"), "x", "high", {}),
    ],
)
def test_effort_is_said_in_the_vendors_words(
    vendor: Any, model: str, effort: str, wire: dict[str, Any]
) -> None:
    out = build(vendor, model, reasoning_effort=effort)
    members = {
        "chat_template_kwargs",
        "enable_thinking",
        "prompt_mode",
        "reasoning",
        "reasoning_effort",
        "reasoning_summary",
        "thinking",
    }
    assert {name: value for name, value in out.json.items() if name in members} == wire


def test_what_has_no_grades_is_switched_with_a_word_for_the_grade() -> None:
    assert "no grades" in told(build("novita", reasoning_effort="low"))
    assert "grades" not in told(build("novita", reasoning={"enabled": True}))
    assert "reasoning effort" in told(build("minimax", "MiniMax-M2.7", reasoning_effort="off"))


def test_a_budget_goes_where_there_is_a_place_for_one() -> None:
    budget = {"reasoning": {"max_tokens": 2000}}
    assert sent("siliconflow", **budget)["thinking_budget"] == 2000
    assert sent("tencent-tokenhub", **budget)["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert sent("zai", "glm-4.7", **budget)["thinking"] == {"type": "enabled"}


def test_what_the_caller_says_beside_a_switch_is_kept_where_it_is_known() -> None:
    kept = sent("zai", "glm-4.7", thinking={"type": "enabled", "clear_thinking": True, "made_up": 1})
    assert kept["thinking"] == {"type": "enabled", "clear_thinking": True}
    asked = {"chat_template_kwargs": {"custom": 1}, "reasoning_effort": "off"}
    assert sent("sambanova", **asked)["chat_template_kwargs"] == {"enable_thinking": False, "custom": 1}


@pytest.mark.parametrize(
    ("vendor", "model", "effort"),
    [
        ("openai", "gpt-5", "max"),
        ("groq", "qwen/qwen3-32b", "low"),
        ("openai", "gpt-4.1", "low"),
        ("xai", "grok-4.7", "off"),
    ],
)
def test_an_effort_that_is_not_sent_as_it_was_asked_is_told(vendor: str, model: str, effort: str) -> None:
    assert "reasoning effort" in told(build(vendor, model, reasoning_effort=effort))


def test_no_effort_asked_is_no_effort_sent() -> None:
    for vendor in VENDORS.keys() - {"codebuddy", "codebuddy-cn"}:
        assert not {"reasoning", "reasoning_effort", "thinking"} & sent(vendor, "deepseek-x").keys()


def test_a_trait_says_that_a_model_reasons_or_not() -> None:
    assert sent("openai", "new", True, reasoning_effort="high")["reasoning_effort"] == "high"
    out = build(COMPATIBLE, "m", False, reasoning_effort="high")
    assert "reasoning_effort" not in out.json
    assert "reasoning effort" in told(out)


def test_a_budget_is_kept_where_it_is_known_and_else_becomes_an_effort() -> None:
    budget = {"type": "enabled", "budget_tokens": 5000}
    assert sent("openrouter", thinking=budget)["reasoning"] == {"max_tokens": 5000}
    flagged = sent(Quirks(reasoning_control="enable-flag"), thinking=budget)
    assert (flagged["enable_thinking"], flagged["thinking_budget"]) == (True, 5000)
    out = build(thinking=budget)
    assert out.json["reasoning_effort"] == "medium"
    assert "budget" in told(out)


def test_reasoning_asked_for_without_an_effort_is_switched_on() -> None:
    on = {"enabled": True}
    assert sent("openrouter", reasoning=on)["reasoning"] == {"enabled": True}
    assert sent("openai", "gpt-5.1", reasoning=on)["reasoning_effort"] == "medium"


def test_options_of_the_unified_object_reach_openrouter_and_are_told_elsewhere() -> None:
    asked = {"effort": "low", "exclude": True, "summary": "auto"}
    assert sent("openrouter", reasoning=asked)["reasoning"] == asked
    out = build("groq", "openai/gpt-oss-20b", reasoning=asked)
    assert out.json["reasoning_effort"] == "low"
    assert "exclude" in told(out)
    assert "summary" in told(out)


def test_a_word_that_means_off_is_what_was_asked_for() -> None:
    out = build("mistral", "magistral-medium", reasoning_effort="off")
    assert (out.json["prompt_mode"], out.warnings) == (None, ())
    quirks = Quirks(model_rules=(ModelRule(prefix="m", efforts={"low": "none"}),))
    assert "reasoning is off" in told(build(quirks, "m", True, reasoning_effort="low"))
