"""Tolerant reads of single members of what a Responses upstream sends.

Each gives one type, whatever the member holds. Must never raise and never guess: a value of another type is
as good as none.
"""

from collections.abc import Mapping
from typing import Any, Final

from motes import jsontext

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}
# Whole numbers stay exact in a float up to here; no counter of tokens comes near.
_TOO_LARGE: Final = 2.0**53


def text(source: Json, *names: str) -> str:
    """The first of the members that is a text with something in it, else an empty text."""
    for name in names:
        value = source.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def inner(source: Json, name: str) -> Json:
    """The object a member holds, else an empty one."""
    value = source.get(name)
    return value if isinstance(value, dict) else NOTHING


def rows(source: Json, name: str) -> list[Json]:
    """The objects in a list."""
    value = source.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def strings(source: Json, name: str) -> list[str]:
    """The texts in a list that have something in them."""
    value = source.get(name)
    return [item for item in value if isinstance(item, str) and item] if isinstance(value, list) else []


def place(source: Json, *names: str) -> int | None:
    """The first of the members that is an index: a whole number, never a boolean."""
    for name in names:
        value = source.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def number(source: Json, name: str) -> float | None:
    """A finite number not below zero."""
    value = source.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _TOO_LARGE else None


def count(source: Json, *names: str) -> int | None:
    """The first of the members that is a whole number, not below zero."""
    for name in names:
        value = number(source, name)
        if value is not None and value.is_integer():
            return int(value)
    return None


def json_text(source: Json, name: str) -> str:
    """A member that is JSON text; an object or a list, as some servers send it, as its text."""
    value = source.get(name)
    if isinstance(value, dict | list):
        try:
            return jsontext.dumps(value)
        except ValueError:
            return ""
    return value if isinstance(value, str) else ""
