"""What Cohere's Chat API sends, and how to read a field that may hold anything.

Described, never policed: every member may be missing or of another type; a reader goes through `obj`,
`objects`, `text` and `count`. Must never raise.
Source: Cohere API reference, "Chat" and "Chat with Streaming", version 2 (docs.cohere.com, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}
# Whole numbers stay exact in a float up to here; no counter of tokens comes near.
_TOO_LARGE: Final = 2.0**53


class Source(TypedDict, total=False):
    """What a passage rests on: a document of the request, or what a tool gave. `type` tells which."""

    type: str
    id: str
    document: dict[str, Any]
    tool_output: dict[str, Any]


class Citation(TypedDict, total=False):
    """A passage with its sources. `start` and `end` count characters in the block that `content_index` names.

    `type`: TEXT_CONTENT; THINKING_CONTENT and PLAN lie in what is no part of the answer's text.
    """

    start: int
    end: int
    text: str
    sources: list[Source]
    content_index: int
    type: str


class Usage(TypedDict, total=False):
    """Two counts of tokens: those that are billed, and all. Cached ones are part of the input."""

    billed_units: dict[str, float]
    tokens: dict[str, float]
    cached_tokens: float


class EndDelta(TypedDict, total=False):
    """How the answer ended: COMPLETE, STOP_SEQUENCE, MAX_TOKENS, TOOL_CALL, ERROR, TIMEOUT."""

    finish_reason: str
    usage: Usage
    error: str


class Event(TypedDict, total=False):
    """One event: message-start, content-, tool-plan-, tool-call-, citation-…, message-end, debug.

    `delta.message` has the member that the event is about: one `content` block, `tool_plan`, one of
    `tool_calls`, one of `citations`. `index` counts blocks, calls and citations, each for itself.
    """

    type: str
    id: str
    index: int
    delta: dict[str, Any]


class Whole(TypedDict, total=False):
    """An answer that was not streamed."""

    id: str
    finish_reason: str
    message: dict[str, Any]
    usage: Usage


def obj(value: object) -> Json:
    """The object a field holds, or an empty one."""
    return value if isinstance(value, dict) else NOTHING


def objects(value: object) -> list[Json]:
    """The objects in a list; one that stands there alone is a list of one."""
    if isinstance(value, dict):
        return [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """The string a field holds, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """The whole number a field holds, also as a float; None where it holds none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < _TOO_LARGE and value == int(value) else None
