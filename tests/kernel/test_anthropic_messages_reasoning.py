"""A chat request as a Messages request: limits, reasoning, sampling, and reasoning that goes back."""

import json
from typing import Any

import pytest

from fakes.messages_request import asked, body_of, sent, user
from motes.dialects.base import Traits
from motes.dialects.claude_generations import generation_of
from motes.quirks import Quirks

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
FORCED = {"tools": [TOOL], "tool_choice": "required"}
BUDGET_MODEL = "claude-sonnet-4-5"
ADAPTIVE_MODEL = "claude-opus-4-8"


def call(call_id: str = "c1", arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(content: Any = None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return message | ({"tool_calls": list(calls)} if calls else {})


def result(call_id: str = "c1", content: Any = "r", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


# Models by name.


@pytest.mark.parametrize(
    ("model", "thinking", "sampling", "off"),
    [
        ("claude-3-opus-20240229", "none", True, "disabled"),
        ("claude-3-5-sonnet-20241022", "none", True, "disabled"),
        ("claude-3-7-sonnet-20250219", "budget", True, "disabled"),
        ("claude-sonnet-4-20250514", "budget", True, "disabled"),
        ("claude-opus-4-1@20250805", "budget", True, "disabled"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", "budget", True, "disabled"),
        ("claude-opus-4.6", "adaptive", True, "disabled"),
        ("claude-opus-4-7", "adaptive", False, "disabled"),
        ("claude-sonnet-5", "adaptive", False, "disabled"),
        ("claude-sonnet-5-5", "adaptive", False, "between_tools"),
        ("claude-opus-5-5", "adaptive", False, None),
        ("claude-fable-5-1", "adaptive", False, None),
        ("claude-mythos-5", "adaptive", False, None),
        ("claude-opus-7", "adaptive", False, None),
        ("claude-demo", "adaptive", True, "disabled"),
        ("some-clone", "adaptive", True, "disabled"),
    ],
)
def test_a_models_name_tells_what_it_takes(
    model: str, thinking: str, sampling: bool, off: str | None
) -> None:
    found = generation_of(model)
    assert (found.thinking, found.sampling, found.off) == (thinking, sampling, off)


# The limit and reasoning.


def test_the_limit_is_the_callers_or_the_rows_and_never_above_an_old_models() -> None:
    assert asked(max_completion_tokens=77).json["max_tokens"] == 77
    assert asked(max_tokens=78).json["max_tokens"] == 78
    assert sent({"messages": [user("x")]}, quirks=Quirks(default_max_tokens=99)).json["max_tokens"] == 99
    assert asked("claude-3-opus-20240229").json["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("effort", "word"),
    [
        ("minimal", "low"),
        ("low", "low"),
        ("medium", "medium"),
        ("high", "high"),
        ("xhigh", "xhigh"),
        ("max", "max"),
    ],
)
def test_effort_is_adaptive_thinking_with_an_effort(effort: str, word: str) -> None:
    made = asked(ADAPTIVE_MODEL, reasoning_effort=effort)
    assert made.json["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert made.json["output_config"] == {"effort": word}
    assert bool(made.warnings) is (effort != word)


def test_a_model_without_xhigh_gets_high_with_a_note() -> None:
    made = asked("claude-sonnet-4-6", reasoning_effort="xhigh")
    assert made.json["output_config"] == {"effort": "high"}
    assert len(made.warnings) == 1


def test_reasoning_that_is_not_wanted_to_be_seen_is_omitted() -> None:
    made = asked(ADAPTIVE_MODEL, reasoning={"effort": "high", "exclude": True})
    assert made.json["thinking"]["display"] == "omitted"


@pytest.mark.parametrize(("budget", "word"), [(2000, "low"), (10_000, "medium"), (30_000, "high")])
def test_a_budget_becomes_an_effort_where_budgets_are_refused(budget: int, word: str) -> None:
    made = asked(ADAPTIVE_MODEL, thinking={"type": "enabled", "budget_tokens": budget})
    assert made.json["thinking"]["type"] == "adaptive"
    assert made.json["output_config"]["effort"] == word
    assert len(made.warnings) == 1


def test_reasoning_without_an_effort_leaves_the_effort_to_the_model() -> None:
    made = asked(ADAPTIVE_MODEL, reasoning={"enabled": True})
    assert made.json["thinking"]["type"] == "adaptive"
    assert "output_config" not in made.json


@pytest.mark.parametrize("effort", ["minimal", "low", "medium", "high", "xhigh", "max"])
@pytest.mark.parametrize("limit", [None, 1, 1000, 1024, 1025, 2048, 5000, 40_000])
@pytest.mark.parametrize("model", [BUDGET_MODEL, "claude-opus-4-20250514", "claude-3-7-sonnet-20250219"])
def test_a_budget_is_always_at_least_1024_and_below_the_limit(
    model: str, limit: int | None, effort: str
) -> None:
    given = {} if limit is None else {"max_tokens": limit}
    made = asked(model, reasoning_effort=effort, **given)
    budget = made.json["thinking"]["budget_tokens"]
    assert made.json["thinking"]["type"] == "enabled"
    assert 1024 <= budget < made.json["max_tokens"] <= max(generation_of(model).max_output, limit or 0)
    assert bool(made.warnings) is (limit is not None and limit <= 1024)


@pytest.mark.parametrize(
    ("budget", "limit"), [(1, 500), (1024, 1024), (5000, 5000), (5000, 5001), (90_000, 100)]
)
def test_a_budget_the_caller_counts_is_kept_and_the_limit_raised_with_a_note(budget: int, limit: int) -> None:
    made = asked(BUDGET_MODEL, reasoning={"max_tokens": budget}, max_tokens=limit)
    thinking = made.json["thinking"]["budget_tokens"]
    assert thinking == max(1024, min(budget, made.json["max_tokens"] - 1))
    assert thinking < made.json["max_tokens"]
    assert bool(made.warnings) is (budget < 1024 or limit <= budget)


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        (BUDGET_MODEL, {"type": "disabled"}),
        (ADAPTIVE_MODEL, {"type": "disabled"}),
        ("claude-sonnet-5", {"type": "disabled"}),
        ("claude-sonnet-5-5", {"type": "between_tools"}),
        ("claude-3-haiku-20240307", None),
    ],
)
def test_reasoning_is_switched_off_in_the_models_own_way(model: str, thinking: Any) -> None:
    made = asked(model, reasoning_effort="none")
    assert made.json.get("thinking") == thinking
    assert "output_config" not in made.json
    assert made.warnings == ()


def test_a_model_that_cannot_be_kept_from_reasoning_is_asked_for_little_with_a_note() -> None:
    made = asked("claude-opus-5-5", reasoning_effort="off")
    assert made.json["output_config"] == {"effort": "low"}
    assert "thinking" not in made.json
    assert len(made.warnings) == 1


def test_a_model_that_does_not_reason_is_not_asked_to() -> None:
    for made in (
        asked("claude-3-5-sonnet-20241022", reasoning_effort="high"),
        sent(
            {"messages": [user("x")], "reasoning_effort": "high"},
            ADAPTIVE_MODEL,
            traits=Traits(reasoning=False),
        ),
    ):
        assert not {"thinking", "output_config"} & made.json.keys()
        assert len(made.warnings) == 1


def loop(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_details": details}
    return [user("q"), turn, {"role": "tool", "tool_call_id": "c1", "content": "r"}]


SIGNED = {"type": "reasoning.text", "text": "t", "signature": "S", "format": "anthropic-claude-v1"}


def test_a_tool_loop_whose_reasoning_was_lost_goes_on_without_where_the_model_would_refuse_it() -> None:
    bare = {"messages": loop([]), "reasoning_effort": "high"}
    made = sent(bare, BUDGET_MODEL)
    assert "thinking" not in made.json
    assert any("left out" in note for note in made.warnings)
    assert sent(bare, ADAPTIVE_MODEL).json["thinking"]["type"] == "adaptive"
    kept = sent({"messages": loop([SIGNED]), "reasoning_effort": "high"}, BUDGET_MODEL)
    assert kept.json["thinking"]["type"] == "enabled"


def test_an_answer_is_not_begun_for_a_model_that_reasons() -> None:
    begun = {"messages": [user("q"), {"role": "assistant", "content": "It is"}], "reasoning_effort": "low"}
    assert [m["role"] for m in sent(begun).json["messages"]] == ["user", "assistant", "user"]


def test_models_that_bind_reasoning_to_its_history_are_asked_to_be_tolerant() -> None:
    binding = {"prefix_mismatch_behavior": "drop_block"}
    made = sent({"messages": loop([SIGNED]), "reasoning_effort": "high"}, "claude-opus-5-5")
    assert made.json["thinking"]["block_binding"] == binding
    made = sent({"messages": loop([SIGNED])}, "claude-opus-5-5")
    assert made.json["thinking"] == {"type": "adaptive", "block_binding": binding}
    assert "thinking" not in sent({"messages": loop([])}, "claude-opus-5-5").json
    assert (
        "block_binding" not in sent({"messages": loop([SIGNED]), "reasoning_effort": "low"}).json["thinking"]
    )


# Sampling.


def test_sampling_is_left_out_while_a_model_reasons_and_where_it_is_refused() -> None:
    given = {"temperature": 0.2, "top_k": 5}
    assert asked(**given).json.items() >= given.items()
    for made in (
        asked(reasoning_effort="high", **given),
        asked("claude-demo", reasoning_effort="high", **given),
        asked("claude-opus-4-7", **given),
        asked("claude-sonnet-5", **given),
    ):
        assert not given.keys() & made.json.keys()
        assert any("temperature, top_k" in note for note in made.warnings)


def test_top_p_counts_more_than_temperature_and_temperature_ends_at_one() -> None:
    both = asked(temperature=0.5, top_p=0.9)
    assert both.json["top_p"] == 0.9
    assert "temperature" not in both.json
    hot = asked(temperature=1.7)
    assert hot.json["temperature"] == 1
    assert len(both.warnings) == len(hot.warnings) == 1


# Reasoning that goes back.


SIGNED = {"type": "reasoning.text", "text": "why", "signature": "S", "format": "anthropic-claude-v1"}
PARCEL = {"type": "reasoning.encrypted", "data": "D", "format": "anthropic-claude-v1"}


def test_signed_reasoning_goes_back_unchanged_in_order_before_the_text() -> None:
    turn = assistant("so", call(), reasoning_content="why", reasoning_details=[SIGNED, PARCEL])
    made = sent({"messages": [user("q"), turn, result()]})
    assert made.json["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "why", "signature": "S"},
        {"type": "redacted_thinking", "data": "D"},
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
    ]
    assert made.warnings == ()


@pytest.mark.parametrize(
    "detail",
    [
        SIGNED | {"format": "google-gemini-v1"},
        SIGNED | {"signature": None},
        SIGNED | {"signature": ""},
        PARCEL | {"data": 3},
        {"type": "reasoning.summary", "summary": "why"},
        {"type": []},
        {},
    ],
)
def test_reasoning_without_this_vendors_signature_stays_here(detail: Any) -> None:
    made = sent({"messages": [user("q"), assistant("so", reasoning_details=[detail]), user("x")]})
    assert kinds(made.json["messages"][1]) == ["text"]
    assert any("without a signature" in note for note in made.warnings)


def test_a_turn_of_nothing_but_reasoning_is_blank() -> None:
    made = sent({"messages": [user("q"), assistant("", reasoning_details=[SIGNED]), user("x")]})
    assert [m["role"] for m in made.json["messages"]] == ["user"]
    assert made.warnings == ("a blank assistant turn was left out",)


def test_plain_reasoning_text_is_not_sent() -> None:
    made = sent({"messages": [user("q"), assistant("so", reasoning_content="why"), user("x")]})
    assert "why" not in json.dumps(made.json)
    assert len(made.warnings) == 1


def test_a_model_that_does_not_reason_gets_no_reasoning_back() -> None:
    turn = assistant("so", reasoning_details=[SIGNED])
    body = body_of(user("q"), turn, user("x"), model="claude-3-5-sonnet-20241022")
    assert kinds(body["messages"][1]) == ["text"]
