"""What Converse and ConverseStream send, and how to read a field that may hold anything.

Described, never policed: a member may be missing or of another type. Every event may carry a member `p`,
padding that hides its length. Must never raise.
Source: Amazon Bedrock API reference, "Converse", "ConverseStream" and the types they name
(docs.aws.amazon.com/bedrock/latest/APIReference, read 2026-11-29; botocore 1.44.8, bedrock-runtime).
"""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}


class BlockStart(TypedDict, total=False):
    """A block opens: `start` holds `toolUse`, `toolResult` or `image`; others open unannounced."""

    contentBlockIndex: int
    start: dict[str, Any]


class BlockDelta(TypedDict, total=False):
    """More of a block, in one of: text, toolUse, toolResult, reasoningContent, citation, image."""

    contentBlockIndex: int
    delta: dict[str, Any]


class MessageStop(TypedDict, total=False):
    """Why the model stopped."""

    stopReason: str
    additionalModelResponseFields: Any


class Usage(TypedDict, total=False):
    """Token counts. Input is split: new, read from the cache, written to it. Nova names the last two anew
    in the bodies of InvokeModel.
    """

    inputTokens: int
    outputTokens: int
    totalTokens: int
    cacheReadInputTokens: int
    cacheWriteInputTokens: int
    cacheReadInputTokenCount: int
    cacheWriteInputTokenCount: int
    cacheDetails: list[dict[str, Any]]


class Metadata(TypedDict, total=False):
    """What it took; comes after `messageStop`."""

    usage: Usage
    metrics: dict[str, Any]
    trace: dict[str, Any]


class Whole(TypedDict, total=False):
    """The answer of Converse: one body."""

    output: dict[str, Any]
    stopReason: str
    additionalModelResponseFields: Any
    usage: Usage
    metrics: dict[str, Any]
    trace: dict[str, Any]


class Citation(TypedDict, total=False):
    """A source of the block it stands in; a delta without a place goes on with the one before."""

    title: str
    source: str
    sourceContent: list[dict[str, Any]]
    location: dict[str, Any]


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
    """The number a field holds, or None where it holds none that can be a count."""
    return value if type(value) is int and 0 <= value < 2**53 else None
