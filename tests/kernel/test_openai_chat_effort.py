"""How hard to reason, in each vendor's own words."""

from typing import Any

import pytest

from fakes.chat_requests import COMPATIBLE, build, sent, told
from motes.quirks import Quirks
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
    members = ("reasoning", "reasoning_effort", "thinking", "enable_thinking", "prompt_mode")
    assert {name: out.json[name] for name in members if name in out.json} == wire


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
    for vendor in VENDORS:
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
