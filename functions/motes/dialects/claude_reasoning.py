"""How a wish to reason is said to a Claude model: `thinking`, `output_config.effort` and `max_tokens`.

The three belong together: a budget must be at least 1,024 and below `max_tokens`, an effort belongs to
adaptive thinking, and some models cannot be kept from reasoning. Must never give a combination the vendor
refuses, and never change what the caller asked for without a note. Source: "Extended thinking", "Adaptive
thinking" and "Effort" (platform.claude.com/docs, read 2026-11-29).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from motes.chat import REASONING, ChatRequest, Effort
from motes.dataclass import dataclass
from motes.dialects.claude_generations import Generation

MIN_BUDGET: Final = 1_024
_BUDGETS: Final[Mapping[Effort, int]] = {
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 20_480,
    "max": 23_000,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What else decides: the model, the limit asked for, a forced tool, and what the history holds.

    `replays`: it holds signed reasoning. `bare_loop`: it ends in the results of a turn that has none.
    """

    generation: Generation
    limit: int | None = None
    default_limit: int
    forced: bool = False
    replays: bool = False
    bare_loop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to send; `on` tells whether the model will reason."""

    max_tokens: int
    thinking: dict[str, Any] | None = None
    effort: str | None = None
    on: bool = False


def plan(request: ChatRequest, at: Situation, notes: list[str]) -> Plan:
    """The plan of one request; `notes` takes what was changed."""
    model = at.generation
    base = Plan(max_tokens=at.limit or min(at.default_limit, model.max_output))
    if model.thinking == "none":
        if request.wants_reasoning:
            notes.append("reasoning was not asked for: this model does not reason")
        return base
    if not request.gives(REASONING):
        return _unsaid(base, at, notes)
    if request.effort == "off":
        return _off(base, at, notes)
    if not request.wants_reasoning:
        return _unsaid(base, at, notes)
    return (
        _budgeted(request, base, at, notes)
        if model.thinking == "budget"
        else _adaptive(request, base, at, notes)
    )


def _off(base: Plan, at: Situation, notes: list[str]) -> Plan:
    if at.generation.off is None:
        notes.append("this model cannot be kept from reasoning: it is asked for the lowest effort")
        return replace(base, effort="low", on=True, thinking=_tolerant(at))
    return replace(base, thinking={"type": at.generation.off})


def _unsaid(base: Plan, at: Situation, notes: list[str]) -> Plan:
    """The caller said nothing; a forced tool, which reasoning excludes, counts more than a default."""
    model = at.generation
    if not model.default_on:
        return base
    if at.forced and model.forced_tools and model.off == "disabled":
        notes.append("reasoning, which this model does by default, was switched off: a tool is forced")
        return replace(base, thinking={"type": "disabled"})
    return replace(base, on=True, thinking=_tolerant(at))


def _adaptive(request: ChatRequest, base: Plan, at: Situation, notes: list[str]) -> Plan:
    hidden = request.reasoning is not None and request.reasoning.exclude is True
    thinking = {"type": "adaptive", "display": "omitted" if hidden else "summarized"}
    if at.generation.bound:
        thinking |= _BINDING
    return replace(base, thinking=thinking, effort=_effort(request, at.generation, notes), on=True)


# The newest models bind reasoning to the history before it; a caller that trims its history would get a 400.
_BINDING: Final[Mapping[str, Any]] = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def _tolerant(at: Situation) -> dict[str, Any] | None:
    """What a model that reasons by default needs to hear when earlier reasoning is sent back to it."""
    return {"type": "adaptive", **_BINDING} if at.generation.bound and at.replays else None


def _effort(request: ChatRequest, model: Generation, notes: list[str]) -> str | None:
    effort, budget = request.effort, request.reasoning_budget
    if effort is None and budget is not None:
        word = "low" if budget <= 4_096 else "medium" if budget <= 16_384 else "high"
        notes.append(f"this model takes no reasoning budget: {budget} tokens became effort {word}")
        return word
    if effort == "minimal":
        notes.append("effort minimal became low, the lowest there is")
        return "low"
    if effort == "xhigh" and not model.xhigh:
        notes.append("effort xhigh became high: this model has no xhigh")
        return "high"
    return effort


def _budgeted(request: ChatRequest, base: Plan, at: Situation, notes: list[str]) -> Plan:
    if at.bare_loop:
        notes.append(
            "reasoning was left out: the tool call in progress was made without its signed reasoning,"
            " which this model needs back"
        )
        return base
    budget, limit = _budget_and_limit(request, at, notes)
    return replace(base, max_tokens=limit, thinking={"type": "enabled", "budget_tokens": budget}, on=True)


def _budget_and_limit(request: ChatRequest, at: Situation, notes: list[str]) -> tuple[int, int]:
    """A budget of at least 1,024 below a limit; the caller's limit is only raised where it must be."""
    asked = request.reasoning_budget
    wanted = max(asked or _BUDGETS[request.effort or "medium"], MIN_BUDGET)
    if asked is not None and asked < MIN_BUDGET:
        notes.append(f"the reasoning budget was raised from {asked} to {MIN_BUDGET}, the least there is")
    if at.limit is None:
        limit = min(wanted + at.default_limit, at.generation.max_output)
        return min(wanted, limit - 1), limit
    if asked is None:
        # OpenAI's limit includes reasoning: half of it is left for the answer.
        wanted = max(min(wanted, at.limit // 2), MIN_BUDGET)
    if wanted < at.limit:
        return wanted, at.limit
    limit = max(min(wanted + at.limit, at.generation.max_output), at.limit)
    notes.append(
        f"max_tokens was raised from {at.limit} to {limit}: it includes {wanted} tokens of reasoning"
    )
    return min(wanted, limit - 1), limit
