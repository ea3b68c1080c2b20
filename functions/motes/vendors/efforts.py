"""Words for efforts, and families of models that share them: how rows of vendors say it in one line.

Pure, and run at import only.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from motes.quirks import ModelRule

ORDER: Final = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
_WORDS: Final = {"off": "none"}
SWITCH: Final = {"off": "none"} | dict.fromkeys(ORDER[1:], "on")
"""The efforts of what can be switched on and off, and has no grades."""
ALWAYS: Final[Mapping[str, str | None]] = dict.fromkeys(ORDER)
"""The efforts of what reasons as it likes: there is nothing to say."""


def efforts(*known: str) -> dict[str, str]:
    """Every neutral effort as the nearest of the efforts a vendor knows; of two as near, the higher."""
    places = [ORDER.index(effort) for effort in known]
    out = {}
    for at, effort in enumerate(ORDER):
        near = ORDER[min(places, key=partial(_distance, at))]
        out[effort] = _WORDS.get(near, near)
    return out


def family(
    *prefixes: str,
    known: tuple[str, ...] = (),
    off_by_default: bool = False,
    summary: bool = True,
    search_tool: str | None = None,
) -> tuple[ModelRule, ...]:
    """One rule for each head of a name; without known efforts the models do not reason."""
    words = efforts(*known) if known else {}
    return tuple(
        ModelRule(
            prefix=prefix,
            efforts=words,
            off_by_default=off_by_default,
            summary=summary,
            search_tool=search_tool,
        )
        for prefix in prefixes
    )


def _distance(at: int, place: int) -> tuple[int, int]:
    return abs(place - at), -place
