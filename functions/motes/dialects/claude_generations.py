"""What a Claude model can do, told by its name, whichever protocol carries it.

Data and one reader of names. Must never refuse a name: one that is not known is taken for a model of today
that still takes every parameter. Source: "Models overview", "Adaptive thinking", "Effort" and the migration
guides (platform.claude.com/docs, read 2026-11-29).
"""

import re
from typing import Final, Literal

from motes.dataclass import dataclass

Version = tuple[int, int]

_NEW: Final = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_OLD: Final = re.compile(r"claude-(\d)(?:[-.](\d))?(?!\d)")
_ALWAYS_REASONING: Final = ("fable", "mythos")
_BOUND_SINCE: Final = {"fable": (5, 1), "mythos": (5, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What requests to a model may say.

    `thinking`: the form in which reasoning is asked for. `off`: how it is switched off, None where it cannot
    be. `default_on`: it reasons unless told not to. `bound`: reasoning of earlier turns is refused where the
    history before it changed, unless the request allows for it.
    """

    thinking: Literal["none", "budget", "adaptive"] = "adaptive"
    off: Literal["disabled", "between_tools"] | None = "disabled"
    default_on: bool = False
    xhigh: bool = True
    sampling: bool = True
    forced_tools: bool = True
    prefill: bool = True
    bound: bool = False
    schemas: bool = True
    max_output: int = 128_000


UNKNOWN: Final = Generation()
NO_CLAUDE: Final = Generation(thinking="budget", schemas=False)
"""A model of another maker, behind a copy of the protocol."""


def generation_of(model: str) -> Generation:
    """The generation a model's name tells, also in a host's spelling (prefixes, dates, `@` and `:`)."""
    family, version = _named(model.lower())
    if version is None:
        return UNKNOWN
    if version < (4, 6):
        return _earlier(version)
    always_on = family in _ALWAYS_REASONING or (family == "opus" and version >= (5, 5))
    between = family == "sonnet" and version >= (5, 5)
    return Generation(
        off=None if always_on else "between_tools" if between else "disabled",
        default_on=version >= (5, 0),
        xhigh=version >= (4, 7),
        sampling=version < (4, 7),
        forced_tools=not (always_on or between),
        prefill=False,
        bound=version >= _BOUND_SINCE.get(family, (5, 5)),
    )


def _named(model: str) -> tuple[str, Version | None]:
    """Family and version; Claude 3 has its version before the family."""
    old = _OLD.search(model)
    if old:
        return "", (int(old[1]), int(old[2] or 0))
    new = _NEW.search(model)
    return (new[1], (int(new[2]), int(new[3] or 0))) if new else ("", None)


def _earlier(version: Version) -> Generation:
    """Models that reason by a budget, and those before them that do not reason."""
    if version < (3, 7):
        return Generation(thinking="none", schemas=False, max_output=8_192 if version >= (3, 5) else 4_096)
    return Generation(
        thinking="budget",
        schemas=version >= (4, 5),
        max_output=32_000 if (4, 0) <= version < (4, 5) else 64_000,
    )
