"""A failed run in OpenAI's error shape: one object, for an HTTP body and for an event of a stream alike.

The upstream's own status is told in `motes.upstream_status` and not passed on: the status of the answer goes
by the kind of the failure. The one exception is 404, which is a model that the vendor does not have.
Must never show a key, neither a caller's nor a vendor's, nor pass off a vendor's refusal of our key as a
refusal of the caller's.
"""

from dataclasses import replace
from typing import Any, Final

from motes import particles as p
from motes.errors import ErrorKind, UnknownModel, VendorError, answer_status, names_no_model, truncated
from motes.secrecy import parts_of, without_secrets

# kind -> (type, code), in the words OpenAI's own API uses where it has them.
_WORDS: Final[dict[ErrorKind, tuple[str, str]]] = {
    "invalid_request": ("invalid_request_error", "invalid_request"),
    "context_length": ("invalid_request_error", "context_length_exceeded"),
    "content_blocked": ("invalid_request_error", "content_filter"),
    "authentication": ("server_error", "upstream_auth"),
    "quota": ("insufficient_quota", "insufficient_quota"),
    "rate_limit": ("rate_limit_error", "rate_limit_exceeded"),
    "overloaded": ("server_error", "overloaded"),
    "server_error": ("server_error", "upstream_error"),
    "timeout": ("timeout", "upstream_timeout"),
    "malformed_tool_call": ("server_error", "malformed_tool_call"),
    "stream_truncated": ("server_error", "stream_truncated"),
    "protocol": ("server_error", "upstream_protocol"),
}

# Words of ours that a program acts on.
_OWN_CODES: Final = frozenset({"cancelled", "platform_deadline", "run_abandoned", "shutdown"})
_RESUMING: Final = ("run_id", "resume")

# A phase of ours, not the vendor's: nothing was sent, and the caller cannot mend it.
_PREPARE: Final = "dispatch-prepare"


def presentable(issue: p.Issue, secret: str | None) -> p.Issue:
    """The issue as it may be shown: without the vendor's key, and without its words on keys at all."""
    shown = without_secrets(issue, parts_of(secret))
    assert isinstance(shown, p.Issue)  # noqa: S101 (for the type)
    error = shown.error
    if error is None or error.kind != "authentication":
        return shown
    status = f" (HTTP {error.http_status})" if error.http_status else ""
    said = f"the vendor refused the gateway's own key for it{status}"
    return replace(shown, text=said, error=replace(error, message=said, details=None))


def failure_of(issue: p.Issue | None) -> VendorError:
    """The error behind an end without a stop reason; a run that ended without a word was cut."""
    if issue is None:
        return truncated(0)
    return issue.error or VendorError(message=issue.text, kind="server_error")


def status_of(issue: p.Issue | None) -> int:
    """The HTTP status of a run that failed before anything was sent."""
    if issue is not None and issue.phase == _PREPARE and issue.error is None:
        return 500
    return answer_status(failure_of(issue))


def error_object(issue: p.Issue | None, partial: str | None = None) -> dict[str, Any]:
    """`{"error": {...}}`. `partial` is the text that had come where none of it was sent."""
    error = failure_of(issue)
    type_, code = _WORDS[error.kind]
    param = None
    if error.code in _OWN_CODES:
        code = error.code
    if names_no_model(error):
        code, param = UnknownModel.code, "model"
    return {
        "error": {
            "message": error.message or f"the upstream failed ({error.kind})",
            "type": type_,
            "param": param,
            "code": code,
            "motes": _details(issue, error, partial),
        }
    }


def _details(issue: p.Issue | None, error: VendorError, partial: str | None) -> dict[str, Any]:
    known = {
        "kind": error.kind,
        "phase": issue.phase if issue else None,
        "retryable": error.retryable,
        "retry_after_s": error.retry_after,
        "upstream_status": error.http_status,
        "code": error.code,
        "upstream_type": error.type,
        "upstream_request_id": error.request_id,
        "partial": partial,
        **{name: (error.details or {}).get(name) for name in _RESUMING},
    }
    return {name: value for name, value in known.items() if value is not None}
