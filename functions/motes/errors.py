"""What goes wrong, as values and as the few exceptions raised before the first byte.

Must never hold a secret: messages are shown to callers and written to logs. After the first byte there
are no exceptions, only `VendorError` values inside `Issue` particles.

    MotesError(status_hint, code)
      Unauthenticated   401   the caller's key is missing or wrong
      UnknownModel      404   no vendor or model of that name
      InvalidRequest    400   the request says something that cannot be meant
      RunNotFound       404   no such run, or another caller's
      PrepareError      500   our own side cannot send it: a missing vendor key, a broken setting
      StoreError        500   the store failed; the run itself goes on
"""

from typing import Any, Literal

from motes.dataclass import dataclass

ErrorKind = Literal[
    "invalid_request",
    "context_length",
    "content_blocked",
    "authentication",
    "quota",
    "rate_limit",
    "overloaded",
    "server_error",
    "timeout",
    "malformed_tool_call",
    "stream_truncated",
    "protocol",
]

EXCERPT_CHARS = 500

RETRYABLE_KINDS: frozenset[ErrorKind] = frozenset(
    {"rate_limit", "overloaded", "server_error", "timeout", "stream_truncated"}
)

STATUS_OF_KIND: dict[ErrorKind, int] = {
    "invalid_request": 400,
    "context_length": 400,
    "content_blocked": 400,
    "authentication": 502,
    "quota": 429,
    "rate_limit": 429,
    "overloaded": 503,
    "server_error": 502,
    "protocol": 502,
    "stream_truncated": 502,
    "malformed_tool_call": 502,
    "timeout": 504,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorError:
    """One failure of an upstream, in words and in fields a program can act on.

    `http_status` is the upstream's own, `retry_after` is in seconds, `code` and `type` are the vendor's
    words, `message` is an excerpt of at most `EXCERPT_CHARS` characters.
    """

    message: str
    kind: ErrorKind
    http_status: int | None = None
    code: str | None = None
    type: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    request_id: str | None = None
    details: dict[str, Any] | None = None


def names_no_model(error: VendorError) -> bool:
    """Whether the upstream says that there is no such model: its status is 404, and its words say nothing
    else (a spent quota, a refused key).
    """
    return error.http_status == 404 and error.kind == "invalid_request"


def answer_status(error: VendorError) -> int:
    """The HTTP status to answer a failure of the upstream with, while nothing was sent: a model that is not
    there stays 404, as clients know it from OpenAI; all else is told by its kind.
    """
    return 404 if names_no_model(error) else STATUS_OF_KIND[error.kind]


def truncated(received: int) -> VendorError:
    """The error of a stream that stopped without its dialect's evidence of completion."""
    what = f"after {received} bytes, before its answer was complete" if received else "before anything came"
    return VendorError(
        message=f"the upstream closed the stream {what}",
        kind="stream_truncated",
        retryable=True,
    )


class MotesError(Exception):
    """A request that ends before the first byte. `status_hint` is the HTTP status to answer with."""

    status_hint = 500
    code = "internal_error"

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code or type(self).code


class Unauthenticated(MotesError):
    """The caller's key is missing, unknown or disabled."""

    status_hint = 401
    code = "invalid_api_key"


class UnknownModel(MotesError):
    """The model names no vendor we have, or nothing at all."""

    status_hint = 404
    code = "model_not_found"


class InvalidRequest(MotesError):
    """The request cannot be meant as it stands; `param` names the place."""

    status_hint = 400
    code = "invalid_request"


class RunNotFound(MotesError):
    """No run of that id belongs to this caller."""

    status_hint = 404
    code = "run_not_found"


class PrepareError(MotesError):
    """Our own side is not fit to send this: a missing vendor key, a setting that is wrong."""

    status_hint = 500
    code = "not_configured"


class StoreError(MotesError):
    """The store failed. Reported, never the end of a run."""

    code = "store_error"
