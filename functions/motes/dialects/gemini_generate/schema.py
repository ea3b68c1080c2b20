"""A JSON Schema as Google's function declarations take one: a subset of OpenAPI 3.0, or not at all.

One keyword it does not know makes Google refuse the whole request, so only known ones are kept, at every
depth. What can be said otherwise is: `const` as an enum, `null` as nullable, `$ref` in place, an exclusive
limit as an inclusive one. Keywords are found where schemas stand: a property may be called `const`. Must
never loop on a schema that contains itself, and never change the caller's.

Source: ai.google.dev/api/caching (Schema, FunctionDeclaration), read 2026-11-29.
"""

from collections.abc import Mapping
from typing import Any, Final

from motes import jsontext
from motes.dialects.gemini_generate.schema_nodes import (
    Node,
    all_of,
    allows_null,
    as_list,
    as_mapping,
    inferred,
    is_count,
    is_null,
    is_number,
    is_union,
    types_of,
    variants_of,
)

_MAX_NODES: Final = 2_000
_MAX_DEPTH: Final = 32

_FORMATS: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"enum", "date-time"}),
    "number": frozenset({"float", "double"}),
    "integer": frozenset({"int32", "int64"}),
}
_TEXTS: Final = ("title", "description", "pattern")
_COUNTS: Final = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_LIMITS: Final = ("minimum", "maximum")
_TREATED: Final = frozenset(
    {
        *("type", "format", "nullable", "enum", "const", "required", "properties", "items", "prefixItems"),
        *("anyOf", "oneOf", "allOf", "exclusiveMinimum", "exclusiveMaximum", "propertyOrdering"),
        *(*_TEXTS, *_COUNTS, *_LIMITS),
    }
)
# Said for other readers; to leave them out changes nothing.
_IDLE: Final = frozenset({"$schema", "$id", "$comment", "$defs", "definitions", "$anchor", "deprecated"})

Refs = frozenset[str]


def parameters(schema: Mapping[str, Any] | None, name: str, warnings: list[str]) -> Node:
    """The members of a function declaration that hold its schema: none where it takes no parameters.

    A schema that contains itself cannot be written out: it goes as it is, in `parametersJsonSchema`, whose
    reader knows `$ref`.
    """
    cleaner = SchemaCleaner(schema or {})
    cleaned = cleaner.root()
    if cleaner.endless:
        original = {key: value for key, value in (schema or {}).items() if key != "$schema"}
        warnings.append(
            f"tool {name}: its schema contains itself or is very deep, and is sent as JSON Schema"
        )
        return {"parametersJsonSchema": {"type": "object", **original}}
    if cleaner.dropped:
        words = ", ".join(sorted(cleaner.dropped))
        warnings.append(f"tool {name}: schema keywords this vendor does not know were dropped: {words}")
    return {"parameters": cleaned} if cleaned.get("properties") else {}


class SchemaCleaner:
    """Cleans one schema. Afterwards `dropped` names the lost keywords, `endless` tells of a circle."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.dropped: set[str] = set()
        self.endless = False
        self._schema = schema
        self._nodes = 0

    def root(self) -> Node:
        """The cleaned schema of an object, which is all that a function's parameters can be."""
        flat, refs = self._flat(self._schema, frozenset(), 0)
        found = [as_mapping(flat.get("properties"))]
        for variant in variants_of(flat):
            # Alternatives at the root cannot be said: the object has the properties of all of them.
            if self._is_spent():
                self.endless = True
                break
            branch, more = self._flat(variant, refs, 1)
            found.append(as_mapping(branch.get("properties")))
            refs |= more
            self.dropped.add("anyOf")
        properties = {key: value for members in reversed(found) for key, value in members.items()}
        plain = {key: value for key, value in flat.items() if key not in ("anyOf", "oneOf")}
        return self._typed({**plain, "type": "object", "properties": properties}, refs, 0)

    def _clean(self, node: Any, refs: Refs, depth: int) -> Node:
        if self._is_spent() or depth > _MAX_DEPTH:
            self.endless = True
            return {"type": "object"}
        if not isinstance(node, Mapping):
            return {"type": "string"}
        flat, refs = self._flat(node, refs, depth)
        variants = variants_of(flat) if is_union(flat) else []
        if variants:
            return self._union(flat, variants, refs, depth)
        types = types_of(flat)
        if len(types) > 1:
            bare = {key: value for key, value in flat.items() if key not in ("title", "description")}
            return self._union(flat, [{**bare, "type": word} for word in types], refs, depth)
        return self._typed(flat, refs, depth)

    def _flat(self, node: Mapping[str, Any], refs: Refs, depth: int) -> tuple[Node, Refs]:
        """The node with what it refers to, and all that it must fulfil at once, in one object."""
        flat = {key: value for key, value in node.items() if key not in ("$ref", "allOf")}
        parts = [part for part in as_list(node.get("allOf")) if isinstance(part, Mapping)]
        target = self._target(node.get("$ref"), refs)
        if target is not None:
            refs |= {str(node["$ref"])}
            parts.insert(0, target)
        nodes = [flat]
        for part in parts:
            if depth > _MAX_DEPTH or self._is_spent():
                self.endless = True
                break
            branch, found = self._flat(part, refs, depth + 1)
            refs |= found
            nodes.append(branch)
        return all_of(nodes) if len(nodes) > 1 else flat, refs

    def _is_spent(self) -> bool:
        """Count one more node; whether there were too many."""
        self._nodes += 1
        return self._nodes > _MAX_NODES

    def _target(self, ref: Any, refs: Refs) -> Mapping[str, Any] | None:
        """What a reference within this schema points to (a JSON pointer, RFC 6901)."""
        if not isinstance(ref, str):
            return None
        if ref in refs:
            self.endless = True
            return None
        here: Any = self._schema if ref.startswith("#") else None
        for step in ref.lstrip("#").strip("/").split("/"):
            if step:
                here = as_mapping(here).get(step.replace("~1", "/").replace("~0", "~"))
        if isinstance(here, Mapping):
            return here
        self.dropped.add("$ref")
        return None

    def _union(self, flat: Node, variants: list[Any], refs: Refs, depth: int) -> Node:
        """One of several schemas. Beside `anyOf` Google takes hardly anything, so only the words stay."""
        real = [variant for variant in variants if not is_null(variant)]
        cleaned = [self._clean(variant, refs, depth + 1) for variant in real] or [{"type": "string"}]
        unique = list({jsontext.dumps(schema): schema for schema in cleaned}.values())
        words = {key: flat[key] for key in ("title", "description") if isinstance(flat.get(key), str)}
        out = {**unique[0], **words} if len(unique) == 1 else {"anyOf": unique, **words}
        if len(real) < len(variants) or allows_null(flat):
            out["nullable"] = True
        self._note_dropped(flat)
        return out

    def _typed(self, flat: Node, refs: Refs, depth: int) -> Node:
        """A node of one type, with what it may say about that type."""
        types = types_of(flat)
        out: Node = {"type": types[0] if types else inferred(flat)}
        out |= {key: flat[key] for key in _TEXTS if isinstance(flat.get(key), str)}
        if allows_null(flat):
            out["nullable"] = True
        self._add_values(flat, out)
        self._add_limits(flat, out)
        if out["type"] == "object":
            self._add_properties(flat, out, refs, depth)
        elif out["type"] == "array":
            out["items"] = self._items(flat, refs, depth)
        self._note_dropped(flat)
        self.dropped |= {key for key in ("anyOf", "oneOf") if flat.get(key)}
        return out

    def _add_values(self, flat: Node, out: Node) -> None:
        """Enumerations are of strings only; other values are told in words."""
        values = [flat["const"]] if "const" in flat else as_list(flat.get("enum"))
        values = [value for value in values if value is not None]
        strings = [value for value in values if isinstance(value, str) and value]
        if values and all(isinstance(value, str) for value in values):
            if len(strings) < len(values):
                self.dropped.add("enum")
            if strings:
                out["type"], out["enum"] = "string", list(dict.fromkeys(strings))
        elif values:
            said = ", ".join(jsontext.dumps(value) for value in values)
            out["description"] = f"{out.get('description', '')} One of: {said}".strip()
        form = flat.get("format")
        if isinstance(form, str) and form in _FORMATS.get(out["type"], ()):
            out["format"] = form
        elif form is not None:
            self.dropped.add("format")

    def _add_limits(self, flat: Node, out: Node) -> None:
        out |= {key: flat[key] for key in _COUNTS if is_count(flat.get(key))}
        out |= {key: flat[key] for key in _LIMITS if is_number(flat.get(key))}
        step = 1 if out["type"] == "integer" else 0
        for key, limit, sign in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            if is_number(flat.get(key)):
                out.setdefault(limit, flat[key] + sign * step)

    def _add_properties(self, flat: Node, out: Node, refs: Refs, depth: int) -> None:
        properties = as_mapping(flat.get("properties"))
        if not properties:
            # An object without properties must not have an empty list of them.
            return
        out["properties"] = {key: self._clean(value, refs, depth + 1) for key, value in properties.items()}
        for name in ("required", "propertyOrdering"):
            known = [key for key in as_list(flat.get(name)) if isinstance(key, str) and key in properties]
            if known:
                out[name] = list(dict.fromkeys(known))

    def _items(self, flat: Node, refs: Refs, depth: int) -> Node:
        """The schema of an array's items, which must be there."""
        items = flat.get("items")
        several = items if isinstance(items, list) else as_list(flat.get("prefixItems"))
        if several and not isinstance(items, Mapping):
            return self._union({}, several, refs, depth)
        return self._clean(items, refs, depth + 1)

    def _note_dropped(self, flat: Node) -> None:
        for key, value in flat.items():
            quiet = key in _IDLE or (key == "additionalProperties" and isinstance(value, bool))
            if key not in _TREATED and not quiet:
                self.dropped.add(key)
