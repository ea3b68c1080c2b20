"""Makes a JSON Schema one that strict mode accepts: every object closed, every member required, no keyword
that it refuses.

A member that was optional may be null instead; a choice of one becomes a choice. Must never touch what stands
in a schema as data: names of properties, values of `enum` or `const`.

Source: OpenAI guide "Structured outputs", supported schemas (read 2026-11-29).
"""

from collections.abc import Callable
from typing import Any, Final

from motes.errors import InvalidRequest

MAX_DEPTH: Final = 100
_NULL: Final = {"type": "null"}
_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "not", "if", "then", "else", "contains", "additionalItems")
_REFUSED: Final = frozenset(
    {
        "default",
        "minLength",
        "maxLength",
        "patternProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "minProperties",
        "maxProperties",
        "contains",
        "minContains",
        "maxContains",
        "uniqueItems",
    }
)


def strictly(schema: dict[str, Any], place: str, warn: Callable[[str], None]) -> dict[str, Any]:
    """The strict form of a schema, with a word about it where it differs. Raises as `closed` does."""
    dropped: set[str] = set()
    out = closed(schema, place, dropped)
    for word in told(place, dropped) if out != schema else ():
        warn(word)
    return out


def closed(schema: dict[str, Any], place: str, dropped: set[str]) -> dict[str, Any]:
    """The strict form of a schema; the keywords that strict mode refuses are named in `dropped`.

    Raises InvalidRequest, which names `place`, for a schema nested too deeply.
    """
    out: dict[str, Any] = _closed(schema, 0, place, dropped)
    return out


def told(place: str, dropped: set[str]) -> list[str]:
    """What there is to say about a schema that was changed."""
    words = [f"{place}: the strict schema was closed: all members required, no others allowed"]
    if dropped:
        words.append(f"{place}: strict mode refuses these keywords, dropped: {', '.join(sorted(dropped))}")
    return words


def _allowed(schema: dict[str, Any], dropped: set[str]) -> dict[str, Any]:
    """A schema node without what strict mode refuses; nothing may stand beside a reference."""
    refused = set(schema) - {"$ref"} if "$ref" in schema else _REFUSED & set(schema)
    # The definitions of the root stay: the references point there.
    refused -= {"$defs", "definitions"}
    dropped |= refused
    out = {key: value for key, value in schema.items() if key not in refused}
    if "oneOf" in out and "anyOf" not in out:
        out["anyOf"] = out.pop("oneOf")
    return out


def _closed(schema: Any, depth: int, place: str, dropped: set[str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    if depth > MAX_DEPTH:
        raise InvalidRequest(
            f"{place}: a schema deeper than {MAX_DEPTH} levels", param=place, code="invalid_value"
        )
    out = _allowed(schema, dropped)
    for key, value in out.items():
        if key in _BY_NAME and isinstance(value, dict):
            out[key] = {name: _closed(inner, depth + 1, place, dropped) for name, inner in value.items()}
        elif key in _LISTS and isinstance(value, list):
            out[key] = [_closed(inner, depth + 1, place, dropped) for inner in value]
        elif key in _SINGLE:
            out[key] = _closed(value, depth + 1, place, dropped)
    return _sealed(out) if _is_object(out) else out


def _is_object(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema


def _sealed(schema: dict[str, Any]) -> dict[str, Any]:
    members = schema.get("properties")
    members = members if isinstance(members, dict) else {}
    required = schema.get("required")
    wanted = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    schema["properties"] = {
        name: inner if name in wanted else _nullable(inner) for name, inner in members.items()
    }
    schema["required"] = list(members)
    schema["additionalProperties"] = False
    return schema


def _nullable(schema: Any) -> Any:
    """The same, or null."""
    if not isinstance(schema, dict):
        return schema
    kind, choices = schema.get("type"), schema.get("anyOf")
    if isinstance(choices, list):
        return schema if _NULL in choices else schema | {"anyOf": [*choices, _NULL]}
    if isinstance(kind, str | list) and "const" not in schema:
        kinds = [kind] if isinstance(kind, str) else kind
        out = schema if "null" in kinds else schema | {"type": [*kinds, "null"]}
        values = schema.get("enum")
        return out | {"enum": [*values, None]} if isinstance(values, list) and None not in values else out
    return {"anyOf": [schema, _NULL]}
