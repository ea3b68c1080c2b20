"""Why an answer ended, in Cohere's words, and what it took.

Must never call an unknown word a failure, unless it says that it is one. Source: Cohere API reference, "Chat
with Streaming", `finish_reason` and `usage` (docs.cohere.com, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes import particles as p
from motes.dialects.cohere_chat.events import Json, count, obj
from motes.errors import ErrorKind, VendorError
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

STOPS: Final[Mapping[str, p.StopReason]] = {
    "COMPLETE": "ok",
    "STOP_SEQUENCE": "ok",
    "MAX_TOKENS": "out-of-tokens",
    "TOOL_CALL": "ok-tool_invocations",
    # The words of earlier versions, which hosts of Cohere's models still say.
    "ERROR_LIMIT": "out-of-tokens",
    "ERROR_TOXIC": "filter-content",
}
_TIMEOUT: Final = "TIMEOUT"
_ERROR: Final = "ERROR"


def failure_of(word: str, told: str) -> VendorError | None:
    """The failure a finish reason stands for, in the vendor's words where it gives some; else None."""
    if word in STOPS or (not told and not word.startswith((_ERROR, _TIMEOUT))):
        return None
    kind: ErrorKind = "timeout" if word == _TIMEOUT else "server_error"
    said = f"the upstream ended the answer with the reason {excerpt(word, 40)!r}"
    return VendorError(
        message=excerpt(told) or said, kind=kind, code=excerpt(word, 40) or None, retryable=True
    )


def say_usage(usage: Json, out: Emitter) -> None:
    """All tokens; where only what is billed is told, that."""
    counts = obj(usage.get("tokens")) or obj(usage.get("billed_units"))
    given, cached = count(counts.get("input_tokens")), count(usage.get("cached_tokens"))
    if given is not None and cached is not None:
        cached = min(cached, given)
    out.usage(
        tokens_in=None if given is None else given - (cached or 0),
        tokens_cache_read=cached,
        tokens_out=count(counts.get("output_tokens")),
        tokens_out_reasoning=count(counts.get("reasoning_tokens")),
    )
