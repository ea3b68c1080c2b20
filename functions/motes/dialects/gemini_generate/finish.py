"""Why an answer ended: Google's words for it, and what each means here.

Must never lose Google's own word: it goes along as the native one. A word that is not known is a normal end
with a warning; a sentence in its place is a proxy's error.

Source: ai.google.dev/api/generate-content, FinishReason and BlockReason, and the Vertex AI list, read
2026-11-29.
"""

import re
from collections.abc import Mapping
from typing import Final

from motes import vendor_errors
from motes.dataclass import dataclass
from motes.dialects.gemini_generate.events import Candidate, PromptFeedback
from motes.dialects.gemini_generate.fields import member, objects, text
from motes.errors import ErrorKind, VendorError
from motes.particles import StopReason

UNSPECIFIED: Final = "FINISH_REASON_UNSPECIFIED"

_STOPS: Final[dict[str, StopReason]] = {
    "STOP": "ok",
    "MAX_TOKENS": "out-of-tokens",
    # The long-decode models pause here and want to be called again with a token; nobody asked them for it
    # here, so what came is an answer that was cut for its length. The native word tells the caller.
    "CONTINUATION": "out-of-tokens",
    "SAFETY": "filter-content",
    "BLOCKLIST": "filter-content",
    "PROHIBITED_CONTENT": "filter-content",
    "SPII": "filter-content",
    "MODEL_ARMOR": "filter-content",
    "ESCALATION": "filter-content",
    "PUP_LIMITED_DISABLED": "filter-content",
    "IMAGE_SAFETY": "filter-content",
    "IMAGE_PROHIBITED_CONTENT": "filter-content",
    "IMAGE_OTHER": "filter-content",
    "RECITATION": "filter-recitation",
    "IMAGE_RECITATION": "filter-recitation",
    "LANGUAGE": "filter-refusal",
}

_FAILURES: Final[dict[str, tuple[ErrorKind, str]]] = {
    "MALFORMED_FUNCTION_CALL": ("malformed_tool_call", "the model wrote a function call that cannot be read"),
    "UNEXPECTED_TOOL_CALL": ("malformed_tool_call", "the model called a tool that was not offered"),
    "TOO_MANY_TOOL_CALLS": ("malformed_tool_call", "the model called too many tools in a row"),
    "MALFORMED_RESPONSE": ("server_error", "the model's answer could not be read by its own server"),
    "NO_IMAGE": ("server_error", "the model was to make an image and made none"),
    "OTHER": ("server_error", "the model stopped for a reason its vendor does not name"),
    "MISSING_THOUGHT_SIGNATURE": (
        "invalid_request",
        "a function call in the history lost its thought signature",
    ),
    UNSPECIFIED: ("server_error", "the model stopped without a reason"),
}

# With `$alt=json;enum-encoding=int` enumerations are numbers; beyond these the two APIs count differently.
_NUMBERS: Final = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}

_STATUS: Final = re.compile(r"\b([45]\d\d)\b")


@dataclass(frozen=True, slots=True)
class Finish:
    """How it ended: `stop` for an end in good order, `error` for a failure. `known`: whether the word is."""

    native: str
    stop: StopReason = "ok"
    detail: str | None = None
    error: VendorError | None = None
    known: bool = True


def finish_of(candidate: Candidate) -> Finish | None:
    """What a candidate says about its end, or None while it goes on."""
    reason = _word(member(candidate, "finishReason"), _NUMBERS)
    if not reason:
        return None
    message = text(member(candidate, "finishMessage"))
    word = reason.upper()
    if word in _STOPS:
        stop = _STOPS[word]
        return Finish(reason, stop, None if stop == "ok" else message or _blocked(candidate) or None)
    if word in _FAILURES:
        return Finish(reason, error=_failure(word, message))
    if " " in reason.strip() or _STATUS.search(reason):
        return Finish(reason, error=_smuggled(reason))
    return Finish(reason, known=False)


def block_of(feedback: PromptFeedback) -> Finish | None:
    """The end of an answer that never began because its prompt was blocked, or None."""
    reason = _word(member(feedback, "blockReason"), {})
    if not reason:
        return None
    detail = text(member(feedback, "blockReasonMessage")) or _blocked(feedback)
    return Finish(reason, "filter-content", detail or "the prompt was blocked")


def _word(value: object, numbers: Mapping[int, str]) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return numbers.get(value, str(value)) if value else ""
    return text(value)


def _blocked(rated: Candidate | PromptFeedback) -> str:
    """The categories for which something was blocked."""
    ratings = objects(member(rated, "safetyRatings"))
    return ", ".join(text(rating.get("category")) for rating in ratings if rating.get("blocked") is True)


def _failure(word: str, message: str) -> VendorError:
    kind, meaning = _FAILURES[word]
    said = f"{meaning} ({word})" + (f": {message}" if message else "")
    return VendorError(
        message=vendor_errors.excerpt(said), kind=kind, code=word, retryable=kind == "server_error"
    )


def _smuggled(sentence: str) -> VendorError:
    """Some proxies put the error of their own upstream where the reason should be."""
    status = _STATUS.search(sentence)
    if status:
        return vendor_errors.from_http(int(status[1]), sentence)
    return vendor_errors.from_body(sentence)
