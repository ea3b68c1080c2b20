"""What InvokeModel wraps around a model's own answer, and the answers that have no dialect of their own.

In a stream every event is a `chunk` whose `bytes` hold, in base64, one JSON event of the model's protocol;
the last one carries `amazon-bedrock-invocationMetrics` beside its own members. A whole body is the model's
own. Described, never policed. Source: Amazon Bedrock API reference, "InvokeModelWithResponseStream"; user
guide, "Inference request parameters and response fields for foundation models" (docs.aws.amazon.com, read
2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}
METRICS: Final = "amazon-bedrock-invocationMetrics"


class Chunk(TypedDict, total=False):
    """One event of a stream; `p` is padding that hides its length."""

    bytes: str
    p: str


class Metrics(TypedDict, total=False):
    """What the service counted itself, in tokens and milliseconds."""

    inputTokenCount: int
    outputTokenCount: int
    invocationLatency: int
    firstByteLatency: int
    cacheReadInputTokenCount: int
    cacheWriteInputTokenCount: int


class Titan(TypedDict, total=False):
    """Amazon Titan Text; a whole body has its text in `results`."""

    outputText: str
    completionReason: str
    inputTextTokenCount: int
    totalOutputTextTokenCount: int


class Llama(TypedDict, total=False):
    """Meta Llama."""

    generation: str
    stop_reason: str
    prompt_token_count: int
    generation_token_count: int


class Command(TypedDict, total=False):
    """Cohere Command; a whole body has its text in `generations`."""

    text: str
    is_finished: bool
    finish_reason: str


def obj(value: object) -> Json:
    """The object a field holds, or an empty one."""
    return value if isinstance(value, dict) else NOTHING


def first(value: object) -> Json:
    """The first object in a list, or an empty one."""
    return (
        next((item for item in value if isinstance(item, dict)), NOTHING)
        if isinstance(value, list)
        else NOTHING
    )


def text(value: object) -> str:
    """The string a field holds, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """The number a field holds, or None where it holds none that can be a count."""
    return value if type(value) is int and 0 <= value < 2**53 else None
