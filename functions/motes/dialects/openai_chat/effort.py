"""How hard a model is to reason, in the words of its vendor.

Must never send an effort the vendor is known to refuse: it becomes the nearest one, with a warning.
Sources: the vendors' API references named in `motes.vendors` (read 2026-11-29).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from motes.chat import REASONING, ChatRequest, Effort
from motes.dataclass import dataclass
from motes.dialects.base import Traits
from motes.model_rules import fits, rule_of
from motes.quirks import ModelRule, Quirks

MODE: Final = "reasoning"
"""The word that Mistral takes as `prompt_mode` and not as an effort."""
ON: Final = "on"
"""The word of what can be switched on and has no grades."""

_OFF: Final = ("none", "")
_BUDGET: Final = "budget_tokens"
# Budgets, in tokens, up to which an effort is meant by hosts that only know efforts.
_BUDGETS: Final[tuple[tuple[int, Effort], ...]] = ((1024, "minimal"), (4096, "low"), (16384, "medium"))


@dataclass(slots=True)
class Reasoning:
    """What to send about reasoning. `able`: the model reasons; `active`: it will, in this answer."""

    members: dict[str, Any] = field(default_factory=dict)
    able: bool = False
    active: bool = False
    warnings: list[str] = field(default_factory=list)


def plan(request: ChatRequest, model: str, quirks: Quirks, traits: Traits, *, forbidden: bool) -> Reasoning:
    """The reasoning of one request. `forbidden`: something else in it rules reasoning out."""
    if not (forbidden or quirks.thinking_by_prefix or request.gives(REASONING)):
        # Most say nothing of it, and are sent nothing.
        rule = rule_of(model, quirks.model_rules)
        able = _is_able(model, quirks, rule, traits)
        return Reasoning(able=able, active=able and not (rule and rule.off_by_default))
    return _Planner(request, model, quirks, traits, forbidden).plan()


def _is_able(model: str, quirks: Quirks, rule: ModelRule | None, traits: Traits) -> bool:
    """Whether the model reasons."""
    if traits.reasoning is not None:
        return traits.reasoning
    if rule is not None:
        return bool(rule.efforts)
    heads = quirks.reasoning_models
    return bool(heads) and any(fits(model, head) for head in heads)


class _Planner:
    def __init__(
        self, request: ChatRequest, model: str, quirks: Quirks, traits: Traits, forbidden: bool
    ) -> None:
        self._request = request
        self._model = model
        self._quirks = quirks
        self._control = quirks.reasoning_control
        self._rule = rule_of(model, quirks.model_rules)
        self._words: Mapping[str, str | None] = (self._rule and self._rule.efforts) or quirks.effort_map
        self._able = _is_able(model, quirks, self._rule, traits)
        listed = bool(quirks.reasoning_models) or self._rule is not None
        self._known_unable = not self._able and (listed or traits.reasoning is False)
        self._forbidden = forbidden
        self._out = Reasoning(able=self._able)

    def plan(self) -> Reasoning:
        out = self._out
        unasked = self._unasked()
        if unasked:
            out.members, out.active = dict(unasked), self._able
            return out
        effort = self._wanted()
        if effort is None and not self._openrouter_only():
            out.active = self._able and not (self._rule and self._rule.off_by_default)
        elif self._known_unable or (self._control == "none" and effort != "off"):
            if effort not in (None, "off"):
                self._warn("reasoning effort: dropped, this model does not reason at will")
        else:
            word = self._word(effort)
            out.members = self._members(word)
            out.active = self._able and (word is None or word not in _OFF)
        return out

    def _unasked(self) -> Mapping[str, object]:
        """What this vendor is sent where the caller says nothing about reasoning."""
        request, table = self._request, self._quirks.thinking_by_prefix
        if not table or self._forbidden:
            return {}
        said = (request.reasoning_effort, request.thinking, request.reasoning)
        if any(word is not None for word in said):
            return {}
        name = self._model.lower()
        heads = [head for head in table if name.startswith(head.lower())]
        members = table[max(heads, key=len)] if heads else {}
        return {} if members.keys() & (request.model_extra or {}).keys() else members

    def _wanted(self) -> Effort | None:
        """What the caller asked for, in neutral words."""
        request = self._request
        if not (self._forbidden or request.gives(REASONING)):
            return None
        budget = request.reasoning_budget
        if self._forbidden and not self._known_unable and (self._able or request.wants_reasoning):
            if request.effort not in (None, "off"):
                self._warn(
                    "reasoning effort: switched off, this vendor does not reason where a tool is forced"
                )
            return "off"
        if budget and not self._takes_budget():
            self._warn("reasoning budget: this vendor knows efforts only")
            return request.effort or _effort_of(budget)
        return request.effort or ("medium" if request.wants_reasoning else None)

    def _takes_budget(self) -> bool:
        if self._control.startswith("thinking-type"):
            return _BUDGET in self._quirks.passthrough
        return self._control == "openrouter" or self._control.startswith("enable-flag")

    def _openrouter_only(self) -> bool:
        return self._control == "openrouter" and self._request.reasoning is not None

    def _word(self, effort: Effort | None) -> str | None:
        """The vendor's word for an effort; None where it has none."""
        if effort is None:
            return None
        plain = "none" if effort == "off" else effort
        word = self._words.get(effort) if self._words else plain
        if word is None:
            self._warn(f"reasoning effort {effort!r}: dropped, this vendor has nothing like it")
        elif word == ON and self._request.effort is not None:
            self._warn(f"reasoning effort {effort!r}: reasoning is on, this model has no grades of it")
        elif word in _OFF and effort != "off":
            self._warn(f"reasoning effort {effort!r}: reasoning is off, this model has nothing like it")
        elif word not in (plain, ON, *_OFF):
            self._warn(f"reasoning effort {effort!r}: sent as {word!r}")
        return word

    def _members(self, word: str | None) -> dict[str, Any]:
        if self._control == "openrouter":
            return self._unified(word)
        if word is None:
            return {}
        on = word not in _OFF
        graded = {"reasoning_effort": word} if on and word != ON else {}
        out: dict[str, Any]
        match self._control:
            case "thinking-type":
                out = self._switch(on)
            case "thinking-type-effort":
                out = self._switch(on) | graded
            case "enable-flag":
                out = self._flag(on)
            case "enable-flag-effort":
                out = self._flag(on) | graded
            case "template-flags":
                out = {"chat_template_kwargs": dict.fromkeys(self._quirks.template_flags, on)}
            case "effort-or-disabled" if not on:
                out = {"reasoning": {"enabled": False}}
            case "mistral" if word in (MODE, ""):
                out = {"prompt_mode": word or None}
            case _:
                out = graded or {"reasoning_effort": word}
        return out | (dict(self._quirks.reasoning_with) if on else {})

    def _switch(self, on: bool) -> dict[str, Any]:
        """The `thinking` object, with what the caller says in it and this vendor knows."""
        said = (self._request.thinking.model_extra or {}) if self._request.thinking else {}
        known = {name: value for name, value in said.items() if name in self._quirks.passthrough}
        budget = self._request.reasoning_budget if on and _BUDGET in self._quirks.passthrough else None
        kind = self._quirks.thinking_on if on else "disabled"
        return {"thinking": {"type": kind, **known, **({_BUDGET: budget} if budget else {})}}

    def _flag(self, on: bool) -> dict[str, Any]:
        budget = self._request.reasoning_budget if on else None
        return {"enable_thinking": on} | ({"thinking_budget": budget} if budget else {})

    def _unified(self, word: str | None) -> dict[str, Any]:
        """OpenRouter's object: an effort or a budget, never both."""
        asked, request = self._request.reasoning, self._request
        out: dict[str, Any] = dict(asked.model_extra or {}) if asked else {}
        if asked is not None and asked.exclude is not None:
            out["exclude"] = asked.exclude
        if word in _OFF:
            out["enabled"] = False
        elif request.reasoning_budget and request.effort is None:
            out["max_tokens"] = request.reasoning_budget
        elif request.effort is not None and word not in (None, ON):
            out["effort"] = word
        elif request.wants_reasoning:
            out["enabled"] = True
        return {"reasoning": out} if out else {}

    def _warn(self, text: str) -> None:
        self._out.warnings.append(text)


def _effort_of(budget: int) -> Effort:
    return next((effort for limit, effort in _BUDGETS if budget <= limit), "high")
