"""Responses that hold a piece of text and nothing else: most of a stream, recognised at a glance.

Must never take a response for plain that says anything more: whatever is not known here is read whole.
"""

from typing import Any, Final

# What may stand beside the text and says nothing new, or (the counts) is read later.
_RESPONSE: Final = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "createTime"})
_CANDIDATE: Final = frozenset({"content", "index"})
_CONTENT: Final = frozenset({"parts", "role"})


def plain_text(response: Any) -> str:
    """The text of a response, or nothing where there is anything else in it."""
    if not _RESPONSE.issuperset(response):
        return ""
    candidate = _only(response.get("candidates"))
    if not _CANDIDATE.issuperset(candidate) or candidate.get("index") not in (None, 0):
        return ""
    content = candidate.get("content")
    if type(content) is not dict or not _CONTENT.issuperset(content):
        return ""
    part = _only(content.get("parts"))
    text = part.get("text")
    return text if len(part) == 1 and type(text) is str else ""


def _only(value: Any) -> dict[str, Any]:
    """The one object of a list, or an empty one."""
    if type(value) is list and len(value) == 1 and type(value[0]) is dict:
        found: dict[str, Any] = value[0]
        return found
    return {}
