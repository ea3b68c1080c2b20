"""Whether, and how long, a model is to reason: Cohere's `thinking`.

On or off, and a budget of tokens. Must never be sent to a model that does not reason: it refuses the request.
Source: "Reasoning capabilities" (docs.cohere.com, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

from motes.chat import ChatRequest, Effort
from motes.dialects.base import Traits
from motes.model_rules import fits
from motes.quirks import Quirks

# Room that the vendor wants left for the answer.
_ROOM: Final = 1000
# What a lower effort is worth, in tokens; from `high` on a model reasons for as long as it likes.
_BUDGETS: Final[Mapping[Effort, int]] = {"minimal": 1024, "low": 4096, "medium": 16384}


def thinking_of(
    request: ChatRequest, model: str, quirks: Quirks, traits: Traits, notes: list[str]
) -> dict[str, Any]:
    """The member `thinking`, where the caller said anything about reasoning."""
    asked = request.wants_reasoning or bool(_native_budget(request))
    if not asked and request.effort != "off":
        return {}
    if not _reasons(model, quirks, traits):
        if asked:
            notes.append("reasoning: dropped, this model does not reason")
        return {}
    if request.effort == "off":
        return {"thinking": {"type": "disabled"}}
    budget = _budget(request, notes)
    return {"thinking": {"type": "enabled"} | ({"token_budget": budget} if budget else {})}


def _reasons(model: str, quirks: Quirks, traits: Traits) -> bool:
    if traits.reasoning is not None or not quirks.reasoning_models:
        return traits.reasoning is not False
    return any(fits(model, head) for head in quirks.reasoning_models)


def _native_budget(request: ChatRequest) -> int | None:
    """A budget in the vendor's own word for it."""
    value = ((request.thinking and request.thinking.model_extra) or {}).get("token_budget")
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _budget(request: ChatRequest, notes: list[str]) -> int | None:
    budget = _native_budget(request) or request.reasoning_budget
    if budget is None and request.effort is not None:
        budget = _BUDGETS.get(request.effort)
        notes.append(
            f"reasoning effort {request.effort!r}: sent as {f'{budget} tokens' if budget else 'on'!r}"
        )
    limit = request.output_limit
    if budget is None or limit is None or budget <= limit - _ROOM:
        return budget
    least = max(1, limit - _ROOM, limit // 2)
    if least < budget:
        notes.append(f"reasoning budget: {least} tokens were sent, to leave room for the answer")
    return min(budget, least)
