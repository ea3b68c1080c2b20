"""JSON Schemas as Claude's hosts take them: an object at the root, closed and plain where it is strict.

Walks schema positions only, so a property that is called like a keyword stays what it is. Must never change
the caller's own schema. Raises InvalidRequest for a schema nested beyond reason. Source: "Tool use" and
"Structured outputs" (platform.claude.com/docs, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

from motes.errors import InvalidRequest

Schema = dict[str, Any]

MAX_DEPTH: Final = 100
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_LISTED: Final = ("anyOf", "allOf", "oneOf", "prefixItems", "items")
_REFUSED: Final = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
        "discriminator",
    }
)


def rooted(schema: Mapping[str, Any] | None) -> Schema:
    """The schema with an object at its root; no schema is an object without properties."""
    if not schema:
        return {"type": "object", "properties": {}}
    return dict(schema) if schema.get("type") == "object" else {**schema, "type": "object"}


def closed(schema: Mapping[str, Any], notes: list[str]) -> Schema:
    """The schema with every object closed and without the constraints a strict schema may not have."""
    dropped: set[str] = set()
    out = _closed(schema, dropped, 0)
    if dropped:
        notes.append(
            f"schema keywords a strict schema may not have were left out: {', '.join(sorted(dropped))}"
        )
    return out


def _closed(schema: Mapping[str, Any], dropped: set[str], depth: int) -> Schema:
    if depth > MAX_DEPTH:
        raise InvalidRequest(
            f"a JSON Schema is nested more than {MAX_DEPTH} levels deep", code="invalid_schema"
        )
    out: Schema = {}
    for name, value in schema.items():
        if _is_refused(name, value):
            dropped.add(name)
        elif name in _NAMED and isinstance(value, Mapping):
            out[name] = {key: _inner(inner, dropped, depth) for key, inner in value.items()}
        elif name in _LISTED and isinstance(value, list):
            # `oneOf` is refused; for a value that has to fit one of them `anyOf` says enough.
            out["anyOf" if name == "oneOf" else name] = [_inner(inner, dropped, depth) for inner in value]
        elif name in _SINGLE:
            out[name] = _inner(value, dropped, depth)
        else:
            out[name] = value
    if _is_object(schema) and out.get("additionalProperties", True) is True:
        out["additionalProperties"] = False
    return out


def _inner(value: Any, dropped: set[str], depth: int) -> Any:
    return _closed(value, dropped, depth + 1) if isinstance(value, Mapping) else value


def _is_refused(name: str, value: Any) -> bool:
    return name in _REFUSED or (name == "minItems" and value not in (0, 1))


def _is_object(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema
