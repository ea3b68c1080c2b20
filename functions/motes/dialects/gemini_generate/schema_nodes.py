"""What can be seen of one JSON Schema node by itself.

Must never follow a reference and never raise, whatever a caller wrote where a schema should be.
"""

from collections.abc import Mapping
from typing import Any, Final

TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object"})
LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

Node = dict[str, Any]


def types_of(node: Node) -> list[str]:
    """The types a node allows, null apart, in today's lower case."""
    value = node.get("type")
    words = [
        word.lower() for word in (value if isinstance(value, list) else [value]) if isinstance(word, str)
    ]
    return [word for word in dict.fromkeys(words) if word in TYPES]


def allows_null(node: Node) -> bool:
    """Whether null is among what a node allows."""
    value = node.get("type")
    typed = value == "null" or (isinstance(value, list) and "null" in value)
    return typed or node.get("nullable") is True or None in as_list(node.get("enum")) or is_null(node)


def inferred(node: Node) -> str:
    """The type of a node that does not say: by its keywords, else text, which can say anything."""
    if "properties" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    if any(is_number(node.get(key)) for key in LIMITS):
        return "number"
    if isinstance(node.get("const"), bool):
        return "boolean"
    values = [node.get("const"), *as_list(node.get("enum"))]
    return "number" if any(is_number(value) for value in values) else "string"


def variants_of(node: Node) -> list[Node]:
    """The alternatives of a node, each with the node's type where it has none of its own."""
    found = as_list(node.get("anyOf")) or as_list(node.get("oneOf"))
    base = {"type": types[0]} if (types := types_of(node)) else {}
    return [{**base, **variant} for variant in found if isinstance(variant, Mapping)]


def is_union(node: Node) -> bool:
    """Whether its alternatives are what a node is, and not a rule beside what it says itself."""
    own = any(node.get(key) for key in ("properties", "items", "enum")) or "const" in node
    return not own and all(word in ("object", "array") for word in types_of(node))


def is_null(node: Any) -> bool:
    """Whether a node allows nothing but null."""
    if not isinstance(node, Mapping):
        return False
    return node.get("type") in ("null", ["null"]) or ("const" in node and node["const"] is None)


def all_of(nodes: list[Node]) -> Node:
    """All at once: the properties and demands of all, and the earlier one's word where they differ."""
    out: Node = {}
    for node in reversed(nodes):
        out |= node
    properties = [node["properties"] for node in nodes if "properties" in node]
    if len(properties) > 1:
        out["properties"] = {}
        for members in reversed(properties):
            out["properties"] |= as_mapping(members)
    required = [node["required"] for node in nodes if "required" in node]
    if len(required) > 1:
        out["required"] = list(
            dict.fromkeys(name for names in required for name in as_list(names) if isinstance(name, str))
        )
    return out


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def is_number(value: Any) -> bool:
    """Whether it is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether it is a number of something."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
