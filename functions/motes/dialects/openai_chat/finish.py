"""Why the model stopped, by every word that vendors of this dialect have for it.

A table and its reader. Must never call an unknown word a failure: it is an ordinary stop with a warning.
Sources: the vendors' API references (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes import particles as p
from motes.errors import RETRYABLE_KINDS, ErrorKind, VendorError

_WORDS: Final[Mapping[p.StopReason, tuple[str, ...]]] = {
    "ok": (
        "stop",
        "stop_sequence",
        "end_turn",
        "complete",
        "completed",
        "eos",
        "eos_token",
        "normal",
        "finished",
        "done",
        "pause_turn",
        "compaction",
        "reason_stop",
    ),
    "ok-tool_invocations": ("tool_calls", "tool_call", "tool_use", "function_call", "function_calls"),
    "out-of-tokens": (
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "max_length",
        "max_context",
        "model_length",
        "model_context_window_exceeded",
        "continuation",
        "reason_max_len",
        "reason_max_context",
    ),
    "filter-content": (
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "sensitive",
        "safety",
        "blocklist",
        "prohibited_content",
        "spii",
        "image_safety",
        "image_prohibited_content",
        "language",
        "model_armor",
        "escalation",
        "pup_limited_disabled",
    ),
    "filter-recitation": ("recitation", "image_recitation"),
    "filter-refusal": ("refusal",),
}

_FAILURES: Final[Mapping[str, ErrorKind]] = {
    "error": "server_error",
    "failed": "server_error",
    "abort": "server_error",
    "aborted": "server_error",
    "network_error": "server_error",
    "malformed_response": "server_error",
    "malformed_model_output": "server_error",
    "no_image": "server_error",
    "insufficient_system_resource": "overloaded",
    "timeout": "timeout",
    "malformed_function_call": "malformed_tool_call",
    "malformed_tool_use": "malformed_tool_call",
    "unexpected_tool_call": "malformed_tool_call",
    "too_many_tool_calls": "malformed_tool_call",
    "missing_thought_signature": "invalid_request",
}

_STOPS: Final[Mapping[str, p.StopReason]] = {
    word: reason for reason, words in _WORDS.items() for word in words
}


def stop_of(word: str) -> p.StopReason | None:
    """The reason a word stands for, or None where it is not known as one."""
    return _STOPS.get(word.lower())


def failure_of(word: str) -> VendorError | None:
    """The failure a word stands for, or None where it is no failure."""
    kind = _FAILURES.get(word.lower())
    if kind is None:
        return None
    return VendorError(
        message=f"the upstream ended the answer with the reason {word[:40]!r}",
        kind=kind,
        code=word[:40],
        retryable=kind in RETRYABLE_KINDS,
    )
