"""How hard to think, in the words of a model's generation: tokens in 2.5, a level from 3 on; never both.

Must never turn thoughts on for a caller who did not ask for reasoning.

Source: ai.google.dev/gemini-api/docs/thinking and /openai (the table of efforts), read 2026-11-29.
"""

from typing import Any, Final

from motes.chat import ChatRequest, Effort
from motes.dialects.base import Traits
from motes.dialects.gemini_generate import models

_DYNAMIC: Final = -1
_BUDGETS: Final[dict[Effort, int]] = {
    "off": 0,
    "minimal": 1_024,
    "low": 1_024,
    "medium": 8_192,
    "high": 24_576,
    "xhigh": 32_768,
    "max": 32_768,
}
_LADDER: Final = ("MINIMAL", "LOW", "MEDIUM", "HIGH")
_LEVELS: Final[dict[Effort, str]] = {
    "off": "MINIMAL",
    "minimal": "MINIMAL",
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "xhigh": "HIGH",
    "max": "HIGH",
}


def thinking_config(request: ChatRequest, model: str, traits: Traits, warnings: list[str]) -> dict[str, Any]:
    """The thinkingConfig, empty where the caller leaves it to the model."""
    if not request.wants_reasoning and request.effort is None:
        return {}
    able = models.can_think(model) if traits.reasoning is None else traits.reasoning
    if not able:
        if request.wants_reasoning:
            warnings.append(f"reasoning: {model} does not reason; dropped")
        return {}
    config: dict[str, Any] = {}
    if models.thinks_in_levels(model):
        level = _level(request, model, warnings)
        config = {"thinkingLevel": level} if level else {}
    else:
        config = {"thinkingBudget": _budget(request, model, warnings)}
    if request.wants_reasoning and not (request.reasoning and request.reasoning.exclude):
        config["includeThoughts"] = True
    return config


def _budget(request: ChatRequest, model: str, warnings: list[str]) -> int:
    least, most, can_be_off = models.budget_range(model)
    effort = request.effort
    wanted = request.reasoning_budget
    if wanted is None:
        wanted = _DYNAMIC if effort is None else _BUDGETS[effort]
    if wanted == _DYNAMIC or (wanted == 0 and can_be_off):
        return wanted
    budget = min(max(wanted, least), most)
    if budget != wanted:
        warnings.append(f"reasoning: {model} thinks with {least} to {most} tokens; set to {budget}")
    return budget


def _level(request: ChatRequest, model: str, warnings: list[str]) -> str | None:
    """The nearest level the model has: the wanted one, else the next higher, else its highest."""
    effort = request.effort
    if effort is not None:
        wanted = _LEVELS[effort]
    elif request.reasoning_budget is not None:
        wanted = _level_of(request.reasoning_budget)
    else:
        return None
    known = models.levels(model)
    higher = [level for level in known if _LADDER.index(level) >= _LADDER.index(wanted)]
    level = higher[0] if higher else known[-1]
    if effort in ("off", "xhigh", "max") or level != wanted:
        asked = effort or f"{request.reasoning_budget} tokens"
        warnings.append(f"reasoning: {model} cannot be set to {asked!r}; its thinking level is {level}")
    elif effort is None:
        warnings.append(f"reasoning: {model} does not count thinking tokens; its thinking level is {level}")
    return level


def _level_of(budget: int) -> str:
    if budget <= _BUDGETS["low"]:
        return "LOW"
    return "MEDIUM" if budget <= _BUDGETS["medium"] else "HIGH"
