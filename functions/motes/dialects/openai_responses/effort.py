"""How hard a model is to reason, whether its reasoning is to be seen, and whether it comes back encrypted.

Must never send an effort the vendor is known to refuse: it becomes the nearest one, with a note. Source:
OpenAI guide "Reasoning models" (read 2026-11-29); the vendors' words are data (`Quirks`).
"""

from collections.abc import Mapping
from typing import Any, Final

from motes.chat import ChatRequest, Effort
from motes.dataclass import dataclass
from motes.dialects.base import Traits
from motes.model_rules import fits, rule_of
from motes.quirks import ModelRule, Quirks

ENCRYPTED: Final = "reasoning.encrypted_content"
NONE: Final = "none"
# Budgets, in tokens, up to which an effort is meant where only efforts are known.
_BUDGETS: Final[tuple[tuple[int, Effort], ...]] = ((1024, "minimal"), (4096, "low"), (16384, "medium"))
_SUMMARY: Final = "detailed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to send about reasoning. `able` None is unknown; `active`: the model will reason."""

    able: bool | None = None
    active: bool = False
    effort: str | None = None
    reasoning: Mapping[str, Any]
    rule: ModelRule | None = None

    @property
    def opaque(self) -> bool:
        """Whether there may be reasoning that must be asked for in encrypted form."""
        return self.able is not False and self.effort != NONE


def plan(request: ChatRequest, model: str, quirks: Quirks, traits: Traits, notes: list[str]) -> Plan:
    """The reasoning of one request."""
    rule = rule_of(model, quirks.model_rules)
    able = _able(model, rule, quirks, traits)
    effort = _effort(request, able, rule, quirks, notes)
    reasoning: dict[str, Any] = {"effort": effort} if effort else {}
    summary = _summary(request, able, rule, quirks)
    if summary and effort != NONE:
        reasoning["summary"] = summary
    reasoning |= _extras(request, quirks, notes)
    rests = effort == NONE or (effort is None and rule is not None and rule.off_by_default)
    return Plan(able=able, active=bool(able) and not rests, effort=effort, reasoning=reasoning, rule=rule)


def _able(model: str, rule: ModelRule | None, quirks: Quirks, traits: Traits) -> bool | None:
    if traits.reasoning is not None:
        return traits.reasoning
    if rule is not None:
        return bool(rule.efforts)
    if not quirks.reasoning_models:
        return None
    return any(fits(model, prefix) for prefix in quirks.reasoning_models)


def _effort(
    request: ChatRequest, able: bool | None, rule: ModelRule | None, quirks: Quirks, notes: list[str]
) -> str | None:
    """The vendor's word for what the caller wants; None leaves it to the model."""
    wanted = _wanted(request, notes)
    if wanted is None:
        return None
    plain = NONE if wanted == "off" else wanted
    if able is False:
        if wanted != "off":
            notes.append("reasoning effort: dropped, this model does not reason")
        return None
    words: Mapping[str, str | None] = (rule and rule.efforts) or quirks.effort_map
    word = words.get(wanted) if words else plain
    if word is None:
        notes.append(f"reasoning effort {wanted!r}: dropped, this vendor has nothing like it")
    elif word != plain:
        notes.append(f"reasoning effort {wanted!r}: sent as {word!r}")
    return word


def _wanted(request: ChatRequest, notes: list[str]) -> Effort | None:
    budget = request.reasoning_budget
    if budget:
        notes.append("reasoning budget: this vendor knows efforts only")
    if request.effort is None and budget:
        return next((effort for limit, effort in _BUDGETS if budget <= limit), "high")
    return request.effort or ("medium" if request.wants_reasoning else None)


def _summary(request: ChatRequest, able: bool | None, rule: ModelRule | None, quirks: Quirks) -> str | None:
    """How much of its reasoning the model is to show; the caller's own word goes first."""
    asked = request.reasoning
    own = (asked.model_extra or {}).get("summary") if asked else None
    if isinstance(own, str) and quirks.reasoning_summary != "never":
        return own
    hidden = able is False or (rule is not None and not rule.summary) or bool(asked and asked.exclude)
    if hidden or quirks.reasoning_summary == "never":
        return None
    return _SUMMARY if request.wants_reasoning or quirks.reasoning_summary == "always" else None


def _extras(request: ChatRequest, quirks: Quirks, notes: list[str]) -> dict[str, Any]:
    out = {}
    for name, value in ((request.reasoning.model_extra or {}) if request.reasoning else {}).items():
        if name == "summary" or value is None:
            continue
        if name in quirks.passthrough or "*" in quirks.passthrough:
            out[name] = value
        else:
            notes.append(f"reasoning.{name[:40]}: dropped, this vendor has no such option")
    return out
