"""Finds the failures that come inside a stream of status 200, in every shape vendors have for them.

Must never take a chunk of the answer for a failure: what has choices fails only by an explicit error.
"""

from collections.abc import Mapping
from typing import Any, Final

from motes import vendor_errors
from motes.dialects.openai_chat.fields import inner, text
from motes.errors import VendorError

# A body that has one of these beside its message is an error; a message alone may be a notice.
_MARKS: Final = frozenset(
    {
        "code",
        "error_code",
        "error_type",
        "explanation",
        "param",
        "raw_status_code",
        "reason",
        "request_id",
        "requestId",
        "status",
        "status_code",
    }
)
_MESSAGES: Final = ("message", "msg", "Message", "title")
# Without any of these a chunk fails only by what it says that it is.
_REPORTS: Final = frozenset({"error", "base_resp", "x_groq"})
_BARE: Final = frozenset({"Response", "detail", "errors", *_MESSAGES})
_WELL: Final = (None, 0, "0", "")


def failure_in(chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> VendorError | None:
    """The failure a chunk, or the choice in it, reports; None where all is well."""
    if _REPORTS.isdisjoint(chunk) and "error" not in choice and chunk.get("object") != "error":
        return None if chunk.get("choices") or _BARE.isdisjoint(chunk) else _bare(chunk)
    if _tells(chunk.get("error")) or chunk.get("object") == "error" or _fails(inner(chunk, "base_resp")):
        return vendor_errors.from_body(chunk)
    if _tells(choice.get("error")):
        return vendor_errors.from_body(choice["error"])
    groq = inner(chunk, "x_groq").get("error")
    if _tells(groq):
        return vendor_errors.from_body(groq)
    return None if chunk.get("choices") else _bare(chunk)


def _bare(chunk: Mapping[str, Any]) -> VendorError | None:
    """A body that is an error without saying so: FastAPI's `detail`, a message with a code, a list."""
    outer = inner(inner(chunk, "Response"), "Error")
    if outer:
        return vendor_errors.from_body(outer)
    if chunk.get("detail") or chunk.get("errors") or (text(chunk, *_MESSAGES) and _marked(chunk)):
        return vendor_errors.from_body(chunk)
    return None


def _marked(chunk: Mapping[str, Any]) -> bool:
    alone = len(chunk) == 1
    return alone or not _MARKS.isdisjoint(chunk) or "error" in text(chunk, "type").lower()


def _tells(error: Any) -> bool:
    """Whether an `error` member says anything; some vendors send it empty in every chunk."""
    if isinstance(error, dict):
        return any(error.values())
    return bool(error)


def _fails(status: Mapping[str, Any]) -> bool:
    return status.get("status_code") not in _WELL
