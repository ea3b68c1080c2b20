"""Which family a model is of, told by its name, and how its vendor's quirks differ for it.

Data in, data out. Must never refuse a name: one of no known family is served as its vendor's other models.
"""

from dataclasses import replace
from typing import Final

from motes.quirks import ModelRule, Quirks

# Quirks that a family may have a word of its own for.
_OWN: Final = (
    "token_field",
    "reasoning_control",
    "thinking_on",
    "template_flags",
    "tool_choice",
    "replay_reasoning",
    "json_schema",
    "schema",
    "reasoning_in_completion",
)


def fits(model: str, head: str) -> bool:
    """Whether a name begins with a family's, at a boundary: `gpt-5` fits `gpt-5.1`, not `gpt-50`.

    What stands before the last `/` of a name is who made the model, or where it lies, and may be left out.
    """
    name, head = model.lower().removeprefix("ft:"), head.lower()
    return _begins(name, head) or _begins(name.rpartition("/")[2], head)


def _begins(name: str, head: str) -> bool:
    return name.startswith(head) and not name[len(head) : len(head) + 1].isalnum()


def rule_of(model: str, rules: tuple[ModelRule, ...]) -> ModelRule | None:
    """The rule with the longest head that fits, if there is one."""
    if not rules:
        return None
    fitting = [rule for rule in rules if fits(model, rule.prefix)]
    return max(fitting, key=lambda rule: len(rule.prefix), default=None)


def of_model(quirks: Quirks, model: str) -> Quirks:
    """The quirks as they are for one model."""
    rule = rule_of(model, quirks.model_rules)
    if rule is None:
        return quirks
    own = {name: value for name in _OWN if (value := getattr(rule, name)) is not None}
    return replace(quirks, drop=quirks.drop | rule.drop, **own)
