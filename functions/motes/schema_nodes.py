"""What can be seen of one JSON Schema node by itself, and what several of them are as one.

Must never follow a reference, and never raise for what stands where a schema should be.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Node = dict[str, Any]


def type_of(node: Mapping[str, Any]) -> str:
    """The one type of a node: its own, the first that is not null, or what its keywords tell."""
    value = node.get("type")
    types = [kind for kind in (value if isinstance(value, list) else [value]) if isinstance(kind, str)]
    real = [kind for kind in types if kind != "null"]
    if real:
        return real[0]
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    values = [node["const"]] if "const" in node else node.get("enum")
    return next(types_in(values), "string")


def types_in(values: Any) -> Iterator[str]:
    """The types of the values there are."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, bool):
            yield "boolean"
        elif isinstance(value, int | float):
            yield "integer" if isinstance(value, int) else "number"
        elif isinstance(value, str):
            yield "string"


def may_be_null(node: Any) -> bool:
    """Whether null is among what a node allows: a plain parser is told that it may be left out."""
    if not isinstance(node, Mapping):
        return False
    kind = node.get("type")
    choices = [*rows(node, "anyOf"), *rows(node, "oneOf")]
    return (isinstance(kind, list) and "null" in kind) or any(c.get("type") == "null" for c in choices)


def all_of(nodes: list[Mapping[str, Any]]) -> Node:
    """All at once: the members and demands of all, and the earlier one's word where they differ."""
    out: Node = {}
    for node in reversed(nodes):
        out |= node
    members = [node["properties"] for node in nodes if isinstance(node.get("properties"), Mapping)]
    if isinstance(out.get("properties"), Mapping):
        out["properties"] = {name: inner for those in reversed(members) for name, inner in those.items()}
    required = [node["required"] for node in nodes if isinstance(node.get("required"), list)]
    if isinstance(out.get("required"), list):
        said = (name for names in required for name in names if isinstance(name, str))
        out["required"] = list(dict.fromkeys(said))
    return out


def either(choices: list[Mapping[str, Any]]) -> Node:
    """One object for several: every member of any, and only the demands that all of them make."""
    out: Node = {"type": "object"}
    members: Node = {}
    for choice in reversed(choices):
        if isinstance(choice["properties"], Mapping):
            members |= choice["properties"]
    out["properties"] = members
    wanted = [choice.get("required") for choice in choices]
    lists = [names if isinstance(names, list) else [] for names in wanted]
    shared = set.intersection(*({name for name in names if isinstance(name, str)} for names in lists))
    common = [name for name in lists[0] if isinstance(name, str) and name in shared]
    return out | ({"required": common} if common else {})


def named(node: Mapping[str, Any]) -> str:
    """A node in a word or two."""
    return text(node, "title") or text(node, "description") or type_of(node)


def text(node: Mapping[str, Any], key: str) -> str:
    """A member that is a text, or an empty one."""
    value = node.get(key)
    return value if isinstance(value, str) else ""


def rows(node: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The nodes in a member that is a list."""
    value = node.get(key)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
