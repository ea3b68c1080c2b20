"""Why an answer ended, in Converse's words, and what it took.

Must never lose the vendor's own word: it goes along as the native one.
Source: Amazon Bedrock API reference, "MessageStopEvent", "TokenUsage" and "ConverseStreamMetadataEvent"
(read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final, cast

from motes.dialects.bedrock_converse.events import Metadata, Usage, count, obj, objects, text
from motes.errors import ErrorKind, VendorError
from motes.particles import StopReason
from motes.transmitter import Emitter

STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "ok",
    "stop_sequence": "ok",
    "tool_use": "ok-tool_invocations",
    "max_tokens": "out-of-tokens",
    "model_context_window_exceeded": "out-of-tokens",
    "guardrail_intervened": "filter-content",
    "content_filtered": "filter-content",
}

_FAILURES: Final[Mapping[str, tuple[ErrorKind, str]]] = {
    "malformed_model_output": ("server_error", "the model's answer could not be read by its own server"),
    "malformed_tool_use": ("malformed_tool_call", "the model wrote a tool call that cannot be read"),
}


def failure_of(word: str) -> VendorError | None:
    """The error a stop reason stands for, or None where it stands for an end in good order."""
    if word not in _FAILURES:
        return None
    kind, meaning = _FAILURES[word]
    return VendorError(message=f"{meaning} ({word})", kind=kind, code=word, retryable=kind == "server_error")


def say_metadata(metadata: Metadata, out: Emitter) -> None:
    """What the answer took, and which model a prompt router chose."""
    usage = cast("Usage", obj(metadata.get("usage")))
    out.usage(
        tokens_in=count(usage.get("inputTokens")),
        tokens_cache_read=_first(usage.get("cacheReadInputTokens"), usage.get("cacheReadInputTokenCount")),
        tokens_cache_write=_first(usage.get("cacheWriteInputTokens"), usage.get("cacheWriteInputTokenCount")),
        tokens_cache_write_1h=_lasting(usage),
        tokens_out=count(usage.get("outputTokens")),
        tokens_total=count(usage.get("totalTokens")),
        inner_ms=count(obj(metadata.get("metrics")).get("latencyMs")),
    )
    router = obj(obj(metadata.get("trace")).get("promptRouter"))
    out.model(text(router.get("invokedModelId")))


def guardrail_of(metadata: Metadata) -> str | None:
    """Why a guardrail stepped in, where the request asked for its trace."""
    guardrail = obj(obj(metadata.get("trace")).get("guardrail"))
    return " ".join(text(guardrail.get("actionReason")).split()) or None


def _lasting(usage: Usage) -> int | None:
    """What was written to the cache for an hour, where the times are told apart."""
    found = [
        count(row.get("inputTokens")) for row in objects(usage.get("cacheDetails")) if row.get("ttl") == "1h"
    ]
    known = [tokens for tokens in found if tokens is not None]
    return sum(known) if known else None


def _first(*values: object) -> int | None:
    return next((number for value in values if (number := count(value)) is not None), None)
