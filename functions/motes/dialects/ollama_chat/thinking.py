"""Whether, and how hard, a model is to reason: Ollama's `think`.

On, off, or a level where the model's family has levels. Must never send a level to a family that has none:
older servers refuse it. Source: "Thinking" (docs.ollama.com/capabilities, read 2026-11-29).
"""

from typing import Any

from motes.chat import ChatRequest
from motes.dialects.base import Traits
from motes.model_rules import rule_of
from motes.quirks import Quirks


def think_of(
    request: ChatRequest, model: str, quirks: Quirks, traits: Traits, notes: list[str]
) -> dict[str, Any]:
    """The member `think`, where the caller said anything about reasoning."""
    native = (request.model_extra or {}).get("think")
    if isinstance(native, bool | str):
        return {"think": native}
    effort = request.effort
    if effort == "off":
        return {"think": False}
    if not request.wants_reasoning:
        return {}
    if traits.reasoning is False:
        notes.append("reasoning effort: dropped, this model does not reason")
        return {}
    if request.reasoning_budget:
        notes.append("reasoning budget: dropped, this vendor counts no reasoning tokens")
    rule = rule_of(model, quirks.model_rules)
    words = (rule.efforts if rule else None) or quirks.effort_map
    word = words.get(effort) if effort else None
    if effort and word != effort:
        notes.append(f"reasoning effort {effort!r}: sent as {word or 'on'!r}")
    return {"think": word or True}
