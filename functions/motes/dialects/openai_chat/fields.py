"""Tolerant reads of single members of vendors' JSON.

Each gives one type, whatever the member holds. Must never raise and never guess: a value of another type
is as good as none.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

NOTHING: Final[Mapping[str, Any]] = {}


def text(source: Mapping[str, Any], *names: str) -> str:
    """The first of the members that is a text with something in it, else an empty text."""
    for name in names:
        value = source.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def inner(source: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object a member holds, else an empty one."""
    value = source.get(name)
    return value if isinstance(value, dict) else NOTHING


def rows(source: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects in a list; an object that stands there alone is a list of one."""
    value = source.get(name)
    if isinstance(value, dict):
        return [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(source: Mapping[str, Any], *names: str) -> int | None:
    """The first of the members that is a whole number, not below zero."""
    for name in names:
        value = source.get(name)
        if type(value) is int:
            if 0 <= value < _TOO_LARGE:
                return value
        elif value is not None and (found := number(source, name)) is not None and found.is_integer():
            return int(found)
    return None


def number(source: Mapping[str, Any], name: str) -> float | None:
    """A finite number not below zero, also where it is written as a text."""
    value = source.get(name)
    if isinstance(value, bool) or not isinstance(value, _WRITTEN):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if 0 <= found < _TOO_LARGE else None


def place(source: Mapping[str, Any], name: str) -> int | None:
    """An index: any whole number, zero or negative too, never a boolean."""
    value = source.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def strings(value: Any) -> Iterator[str]:
    """The texts in a list, in order."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


_WRITTEN: Final = (int, float, str)
# Whole numbers stay exact in a float up to here; no counter of tokens comes near.
_TOO_LARGE: Final = 2.0**53
