"""A caller's JSON Schema in the part of the language a vendor reads, with as much of its meaning as fits.

Walks schema positions only, so a property that is called like a keyword stays what it is. Must never change
the caller's own schema, never raise for what stands where a schema should be, and never lose a keyword
without naming it. Raises InvalidRequest for a schema nested beyond reason.

Source: JSON Schema 2020-12, core and validation; RFC 6901 for references (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

from motes.errors import InvalidRequest
from motes.quirks import SchemaForm
from motes.schema_nodes import Node, all_of, either, may_be_null, named, rows, text, type_of

Refs = tuple[str, ...]

MAX_DEPTH: Final = 60
MAX_NODES: Final = 20_000
_BY_NAME: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_DEFINITIONS: Final = ("$defs", "definitions")
# What a plain parser reads of a node.
_PLAIN: Final = frozenset(
    {
        "type",
        "description",
        "title",
        "default",
        "enum",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "nullable",
    }
)
_STRUCTURE: Final = frozenset({"properties", "required", "items", "additionalProperties"})
# What says nothing about values, or was turned into what a plain parser reads.
_SETTLED: Final = frozenset(
    {"$schema", "$id", "$comment", "$anchor", "$ref", "const", "anyOf", "oneOf", "allOf", "prefixItems"}
    | set(_DEFINITIONS)
)


def fitted(schema: Mapping[str, Any], form: SchemaForm) -> tuple[Node, list[str]]:
    """The schema in a vendor's form, and what of it could not be kept."""
    if form == "any":
        return dict(schema), []
    reader = _Reader(schema)
    out = reader.plain_root() if form == "plain" else reader.without_refs()
    return out, sorted(reader.lost)


class _Reader:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._nodes = 0
        self.lost: set[str] = set()

    # References in place of what they name.

    def without_refs(self) -> Node:
        """The schema with every reference replaced by what it names; only one into itself stays one."""
        out: Node = self._inlined(self._schema, (), 0)
        if "$ref" in self.lost:
            out |= {key: self._schema[key] for key in _DEFINITIONS if key in self._schema}
        return out

    def _inlined(self, node: Any, refs: Refs, depth: int) -> Any:
        if not isinstance(node, Mapping):
            return node
        self._count(depth)
        if isinstance(node.get("$ref"), str):
            target = self._target(node["$ref"], refs)
            if target is None:
                return dict(node)
            beside = {key: value for key, value in node.items() if key != "$ref"}
            return self._inlined({**target, **beside}, (*refs, node["$ref"]), depth + 1)
        out = {key: self._inner(key, value, refs, depth) for key, value in node.items()}
        return {key: value for key, value in out.items() if key not in _DEFINITIONS}

    def _inner(self, key: str, value: Any, refs: Refs, depth: int) -> Any:
        if key in _DEFINITIONS:
            return None
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: self._inlined(inner, refs, depth + 1) for name, inner in value.items()}
        if key in _LISTS and isinstance(value, list):
            return [self._inlined(inner, refs, depth + 1) for inner in value]
        return self._inlined(value, refs, depth + 1) if key in _SINGLE else value

    def _target(self, ref: str, refs: Refs) -> Mapping[str, Any] | None:
        """What a reference names; None where that is nothing of ours, or the reference itself again."""
        here: Any = self._schema if ref.startswith("#") and ref not in refs else None
        for step in ref.lstrip("#").strip("/").split("/"):
            if step and isinstance(here, Mapping):
                here = here.get(step.replace("~1", "/").replace("~0", "~"))
        if isinstance(here, Mapping):
            return here
        self.lost.add("$ref")
        return None

    # What a plain parser reads.

    def plain_root(self) -> Node:
        """The schema as an object at its root."""
        out = self._plain(self._schema, (), 0)
        if out.get("type") != "object":
            out = {**out, "type": "object"}
        return {"properties": {}, **out}

    def _plain(self, node: Any, refs: Refs, depth: int) -> Node:
        if not isinstance(node, Mapping) or not node:
            return {"type": "object", "properties": {}}
        self._count(depth)
        flat, refs = self._flat(node, refs)
        self.lost |= flat.keys() - _PLAIN - _SETTLED
        out = {key: value for key, value in flat.items() if key in _PLAIN - _STRUCTURE}
        out["type"] = type_of(flat)
        if "const" in flat:
            out["enum"] = [flat["const"]]
        if out["type"] == "object":
            self._add_members(out, flat, refs, depth)
        elif out["type"] == "array":
            out["items"] = self._items(flat, refs, depth)
        return out

    def _flat(self, node: Mapping[str, Any], refs: Refs) -> tuple[Node, Refs]:
        """The node with its reference, its parts and one of its alternatives in itself."""
        self._count(len(refs))
        flat = dict(node)
        for _ in range(MAX_DEPTH):
            if isinstance(flat.get("$ref"), str):
                ref = flat.pop("$ref")
                target, refs = self._target(ref, refs), (*refs, ref)
                flat = {**(target or {"type": "object"}), **flat}
            elif rows(flat, "allOf"):
                parts = rows(flat, "allOf")
                del flat["allOf"]
                self._nodes += len(parts)
                flat = all_of([flat, *parts])
            elif rows(flat, "anyOf") or rows(flat, "oneOf"):
                flat = self._chosen(flat, refs)
            else:
                return flat, refs
        return flat, refs

    def _chosen(self, flat: Node, refs: Refs) -> Node:
        """One node for several alternatives: objects together, else the first, the others in words."""
        told = rows(flat, "anyOf") or rows(flat, "oneOf")
        choices = [self._flat(choice, refs)[0] if "$ref" in choice else choice for choice in told]
        rest = {key: value for key, value in flat.items() if key not in ("anyOf", "oneOf")}
        real = [choice for choice in choices if choice.get("type") != "null"]
        if not real:
            return {"type": "string", **rest}
        if len(real) > 1 and all("properties" in choice for choice in real):
            return {**either(real), **rest}
        if len(real) > 1:
            self.lost.add("anyOf")
            said = f"Or: {', '.join(named(choice) for choice in real[1:])}."
            rest["description"] = " ".join(
                filter(None, [text(rest, "description") or text(real[0], "description"), said])
            )
        return {**real[0], **rest}

    def _add_members(self, out: Node, flat: Node, refs: Refs, depth: int) -> None:
        properties = flat.get("properties")
        members = properties if isinstance(properties, Mapping) else {}
        out["properties"] = {name: self._plain(inner, refs, depth + 1) for name, inner in members.items()}
        required = flat.get("required")
        kept = [
            name
            for name in (required if isinstance(required, list) else ())
            if isinstance(name, str) and name in members and not may_be_null(members[name])
        ]
        if kept:
            out["required"] = kept
        others = flat.get("additionalProperties")
        if isinstance(others, Mapping):
            out["additionalProperties"] = self._plain(others, refs, depth + 1)
        elif isinstance(others, bool):
            out["additionalProperties"] = others

    def _items(self, flat: Node, refs: Refs, depth: int) -> Node:
        items = flat.get("items")
        several = items if isinstance(items, list) else flat.get("prefixItems")
        if isinstance(several, list) and several and not isinstance(items, Mapping):
            return self._plain({"anyOf": several}, refs, depth + 1)
        return self._plain(items or {"type": "string"}, refs, depth + 1)

    def _count(self, depth: int) -> None:
        """References may multiply what a caller wrote; there is an end to it."""
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise InvalidRequest(
                f"a JSON Schema is deeper than {MAX_DEPTH} levels or larger than {MAX_NODES} nodes",
                param="tools",
                code="invalid_schema",
            )
