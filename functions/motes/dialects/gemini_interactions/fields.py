"""Tolerant reads of single members of what an Interactions upstream sends.

Each gives one type, whatever the member holds. Must never raise and never guess: a value of another type is
as good as none.
"""

from collections.abc import Mapping
from typing import Any, Final

from motes import jsontext

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}


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


def rows(source: Json, *names: str) -> list[Json]:
    """The objects in the first of the members that is a list."""
    found = next((value for name in names if isinstance(value := source.get(name), list)), [])
    return [item for item in found if isinstance(item, dict)]


def count(source: Json, name: str) -> int | None:
    """A whole number, not below zero."""
    value = source.get(name)
    return value if type(value) is int and 0 <= value < 2**53 else None


def json_text(value: object) -> str:
    """A value as its JSON text; a text is taken as it is, and none is an empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return jsontext.dumps(value)
    except ValueError:
        return ""


def strings(value: object, depth: int = 3) -> list[str]:
    """Every text with something in it inside a value, in order, as deep as a tool's arguments go."""
    if isinstance(value, str):
        return [value] if value else []
    if depth == 0 or not isinstance(value, dict | list):
        return []
    items = value.values() if isinstance(value, dict) else value
    return [found for item in items for found in strings(item, depth - 1)]
