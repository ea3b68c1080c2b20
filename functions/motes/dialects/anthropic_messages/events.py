"""What the Messages API sends, and how to read a field that may hold anything.

Described, never policed: every member may be missing or of another type, because proxies and clones leave
things out; a reader goes through `obj`, `objects` and `text`. Must never raise.
Source: Anthropic API reference, "Create a Message" and "Streaming Messages" (platform.claude.com/docs,
read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}


class Usage(TypedDict, total=False):
    """Token counts. Input is split: new, read from the cache, written to it. Cumulative in a stream."""

    input_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cache_creation: dict[str, int]
    output_tokens: int
    output_tokens_details: dict[str, int]
    cost: float


class Message(TypedDict, total=False):
    """One answer: whole, or as `message_start` gives it, with empty content and first counts."""

    type: str
    id: str
    role: str
    model: str
    content: list[dict[str, Any]]
    container: dict[str, Any]
    stop_reason: str
    stop_sequence: str
    stop_details: dict[str, Any]
    input_transformations: list[dict[str, Any]]
    usage: Usage


class BlockStart(TypedDict, total=False):
    """A content block opens; results of server tools and redacted reasoning come whole in it."""

    index: int
    content_block: dict[str, Any]


class BlockDelta(TypedDict, total=False):
    """More of a block: text, thinking, signature, partial JSON, a citation, a compaction."""

    index: int
    delta: dict[str, Any]


class StopDelta(TypedDict, total=False):
    """The part of `message_delta` that says why the model stopped."""

    stop_reason: str
    stop_sequence: str
    stop_details: dict[str, Any]
    container: dict[str, Any]


class MessageDelta(TypedDict, total=False):
    """Stop reason and final usage."""

    delta: StopDelta
    usage: Usage


def obj(value: object) -> Json:
    """The object a field holds, or an empty one."""
    return value if isinstance(value, dict) else NOTHING


def objects(value: object) -> list[Json]:
    """The objects in a list; anything else is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """The string a field holds, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """The number of tokens a field holds, or None where it holds none."""
    return value if type(value) is int and 0 <= value < 2**53 else None
