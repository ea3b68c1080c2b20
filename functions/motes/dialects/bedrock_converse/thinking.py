"""How a wish to reason is said to a model behind Converse, in `additionalModelRequestFields`.

Each family has its own form. Must never ask a model to reason in a form of another family, which is refused,
and never change what the caller asked for without a note. Source: Amazon Bedrock user guide, the model cards
and "Enhance model responses with model reasoning"; Amazon Nova user guide, "Extended thinking" (read
2026-11-29).
"""

from typing import Any, Final

from motes.chat import ChatRequest, Effort
from motes.dialects.bedrock_converse.families import Family
from motes.dialects.claude_reasoning import Plan

_DEFAULT: Final[Effort] = "medium"
_LIMITED: Final = ("maxTokens", "temperature", "topP")


def fields_of_claude(plan: Plan) -> dict[str, Any]:
    """Anthropic's own members."""
    fields: dict[str, Any] = {"thinking": plan.thinking} if plan.thinking else {}
    return fields | ({"output_config": {"effort": plan.effort}} if plan.effort else {})


def fields_of(request: ChatRequest, family: Family, notes: list[str]) -> dict[str, Any]:
    """The members for any other family; none where the caller did not ask."""
    effort = request.effort or (_DEFAULT if request.wants_reasoning else None)
    if effort is None:
        return {}
    if family.control == "none":
        if effort != "off":
            notes.append("reasoning was not asked for: this model has no control for it here")
        return {}
    if request.effort is None and request.reasoning_budget is not None:
        notes.append(f"this model takes no reasoning budget: it became effort {effort}")
    word = family.efforts[effort]
    if effort == "off" and word not in ("", "none"):
        notes.append(f"this model cannot be kept from reasoning: it is asked for effort {word}")
    elif effort not in ("off", word):
        notes.append(f"effort {effort} became {word}, the nearest there is")
    return _said(family, word)


def fit(inference: dict[str, Any], fields: dict[str, Any], notes: list[str]) -> None:
    """Take away what may not be set beside the reasoning asked for; at high effort Nova limits itself."""
    effort = (fields.get("reasoningConfig") or {}).get("maxReasoningEffort")
    taken = [name for name in _LIMITED if effort == "high" and name in inference]
    for name in taken:
        del inference[name]
    if taken:
        notes.append(f"left out beside effort high, as this model wants: {', '.join(taken)}")


def _said(family: Family, word: str) -> dict[str, Any]:
    if family.control == "reasoning":
        return {"reasoning": {"effort": word}}
    if family.control == "reasoningConfig":
        on = {"type": "enabled", "maxReasoningEffort": word}
        return {"reasoningConfig": on if word else {"type": "disabled"}}
    return {family.control: word}
