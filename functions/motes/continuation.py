"""What a paused answer asks for, laid over the body of the request that led to it.

Pure and free of dialects. Must never change the body it is given: the earlier request may be sent again.
"""

from collections.abc import Mapping
from typing import Any, Final

# Where a turn keeps its parts, in the dialects that have turns of parts.
_PARTS: Final = ("content", "parts")


def continued(body: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the request that goes on.

    A member `name+` of the patch is appended to the list `name`; where both sides of the seam are turns of
    one role, they become one turn. Any other member replaces the body's, with one exception: text laid over
    an object replaces that object's `id`, so that a container keeps the skills it was asked with.
    """
    out = dict(body)
    for name, value in patch.items():
        if name.endswith("+"):
            out[name[:-1]] = _appended(out.get(name[:-1]), value)
        elif isinstance(value, str) and isinstance(out.get(name), Mapping):
            out[name] = {**out[name], "id": value}
        else:
            out[name] = value
    return out


def _appended(turns: Any, more: Any) -> list[Any]:
    before = list(turns) if isinstance(turns, list) else []
    after = list(more) if isinstance(more, list) else []
    seam = _joined(before[-1], after[0]) if before and after else None
    return before + after if seam is None else [*before[:-1], seam, *after[1:]]


def _joined(first: Any, second: Any) -> dict[str, Any] | None:
    """Two turns of one role as one, or None where they are not such."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return None
    if first.get("role") is None or first.get("role") != second.get("role"):
        return None
    for name in _PARTS:
        parts, more = _parts(first.get(name)), _parts(second.get(name))
        if parts is not None and more is not None:
            return {**first, name: parts + more}
    return None


def _parts(value: Any) -> list[Any] | None:
    """A turn's parts; plain text is one part."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value.strip() else []
    return value if isinstance(value, list) else None
