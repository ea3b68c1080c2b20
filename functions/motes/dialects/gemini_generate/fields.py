"""Reading an object of Google's JSON without trusting it: a wrong type is the same as a missing member.

Google writes lowerCamelCase, some proxies the snake_case names of the protocol buffers; both are read.
Must never raise.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    """The protocol buffer's name of a JSON member: `fileUri` is `file_uri`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def member(value: Mapping[str, object], name: str) -> object:
    """The member under its JSON name or its protocol buffer's name, or None."""
    found = value.get(name)
    return value.get(snake(name)) if found is None else found


def spellings(*names: str) -> frozenset[str]:
    """The members' JSON names and their protocol buffer's names."""
    return frozenset((*names, *map(snake, names)))


def objects(value: object) -> list[Any]:
    """The objects of a list; what is none is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def an_object(value: object) -> Any:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """The number of something, or None."""
    return value if type(value) is int and 0 <= value < 2**53 else None
