"""Reads any vendor's error body, in-band or before the stream, into one `VendorError`.

Status first; words only where the status is silent. Must never raise, whatever the body is, and never
carry more of it than an excerpt. Shapes: reference of vendors' error bodies, November 2026.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from string import ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import Any, Final

from motes import jsontext, vendor_waits
from motes.errors import EXCERPT_CHARS, RETRYABLE_KINDS, ErrorKind, VendorError

_KIND_OF_STATUS: Final[Mapping[int, ErrorKind]] = {
    400: "invalid_request",
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "invalid_request",
    408: "timeout",
    409: "server_error",
    413: "context_length",
    422: "invalid_request",
    424: "server_error",
    425: "server_error",
    429: "rate_limit",
    451: "content_blocked",
    498: "overloaded",
    499: "server_error",
    500: "server_error",
    502: "server_error",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}

RETRYABLE_STATUSES: Final = frozenset(
    {408, 409, 425, 429, 498, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}
)

_KIND_OF_WORD: Final[Mapping[str, ErrorKind]] = {
    "invalid_request_error": "invalid_request",
    "invalid_request": "invalid_request",
    "invalid_argument": "invalid_request",
    "failed_precondition": "invalid_request",
    "not_found_error": "invalid_request",
    "not_found": "invalid_request",
    "badrequesterror": "invalid_request",
    "authentication_error": "authentication",
    "permission_error": "authentication",
    "permission_denied": "authentication",
    "unauthenticated": "authentication",
    "api_key_invalid": "authentication",
    "invalid_api_key": "authentication",
    "billing_error": "quota",
    "insufficient_quota": "quota",
    "insufficient_balance": "quota",
    "exceeded_current_quota_error": "quota",
    "rate_limit_reached_error": "rate_limit",
    "engine_overloaded_error": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "resource_exhausted": "rate_limit",
    "too_many_requests": "rate_limit",
    "overloaded_error": "overloaded",
    "overloaded": "overloaded",
    "unavailable": "overloaded",
    "slow_down": "overloaded",
    "server_is_overloaded": "overloaded",
    "queue_exceeded": "overloaded",
    "api_error": "server_error",
    "server_error": "server_error",
    "internal_server_error": "server_error",
    "internal": "server_error",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "timeout": "timeout",
    "context_length_exceeded": "context_length",
    "request_too_large": "context_length",
    "too_many_tokens": "context_length",
    "content_filter": "content_blocked",
    "content_policy_violation": "content_blocked",
    "tool_use_failed": "malformed_tool_call",
    # AWS, https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
    "accessdeniedexception": "authentication",
    "expiredtokenexception": "authentication",
    "incompletesignature": "authentication",
    "invalidsignatureexception": "authentication",
    "missingauthenticationtokenexception": "authentication",
    "unrecognizedclientexception": "authentication",
    "internalserverexception": "server_error",
    "modelerrorexception": "server_error",
    "modelnotreadyexception": "overloaded",
    "modelstreamerrorexception": "server_error",
    "modeltimeoutexception": "timeout",
    "resourcenotfoundexception": "invalid_request",
    "servicequotaexceededexception": "quota",
    "serviceunavailableexception": "overloaded",
    "throttlingexception": "rate_limit",
    "validationexception": "invalid_request",
}

_CONTEXT: Final = re.compile(
    r"context.{0,12}(length|window|size)|prompt is too long|maximum context|too many (input )?tokens"
    r"|input token(s| count).{0,40}exceeds|reduce the length|input is too long"
    r"|exceeds? the (maximum|model'?s) .{0,30}tokens",
    re.I,
)
_QUOTA: Final = re.compile(
    r"insufficient.{0,10}(quota|balance|credit|fund)|exceeded your current quota|credit balance|billing"
    r"|payment required|out of credits|no credits",
    re.I,
)
_BLOCKED: Final = re.compile(
    r"content.{0,12}(filter|policy|moderation|management)|flagged|usage guidelines|safety system", re.I
)
_OVERLOADED: Final = re.compile(r"overloaded|high demand|at capacity|no capacity|server is busy", re.I)
_RATE: Final = re.compile(r"rate.?limit|too many requests", re.I)
_HTML: Final = re.compile(r"<(!doctype|html|body|h1|title)", re.I)
_KEY: Final = re.compile(r"(incorrect|invalid) api key", re.I)

# A code or type that says more than any status does.
_CERTAIN_WORDS: Final = frozenset({"quota", "context_length", "content_blocked", "malformed_tool_call"})

# What a sentence may make of a general kind; where neither status nor word says anything, of any.
_BY_SENTENCE: Final[tuple[tuple[re.Pattern[str], frozenset[ErrorKind], ErrorKind], ...]] = (
    (_CONTEXT, frozenset({"invalid_request", "context_length", "server_error"}), "context_length"),
    (_QUOTA, frozenset({"rate_limit", "authentication", "invalid_request"}), "quota"),
    (_BLOCKED, frozenset({"invalid_request", "authentication"}), "content_blocked"),
    (_OVERLOADED, frozenset({"server_error"}), "overloaded"),
    (_RATE, frozenset(), "rate_limit"),
    (_KEY, frozenset({"invalid_request"}), "authentication"),
)
# What stands in the place of a code and is longer is none.
_WORD_CHARS: Final = 100
_CODE_DIGITS: Final = 9
# No more of a body than this is looked at for words: it may be of any size.
_HEAD_CHARS: Final = 4096
_LOWERED: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def read_failure(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
    codes: Mapping[str, ErrorKind] = MappingProxyType({}),
) -> VendorError:
    """The error that an upstream's whole HTTP answer means. Header names are lower case.

    `now` turns a Retry-After date into seconds; `codes` are what the vendor's own codes mean.
    """
    text = body.decode("utf-8", "replace")
    try:
        parsed = jsontext.loads(text)
    except ValueError:
        parsed = text
    if isinstance(parsed, dict) and "x-amzn-errortype" in headers:
        parsed.setdefault("__type", headers["x-amzn-errortype"])
    names = ("x-request-id", "request-id", "x-amzn-requestid")
    request_id = next((word for name in names if (word := _word(headers.get(name)))), None)
    wait = vendor_waits.of_headers(headers, now)
    error = from_http(status, parsed, retry_after=wait, request_id=request_id)
    error = recoded(error, codes)
    if headers.get("x-should-retry", "").lower() == "false":
        return replace(error, retryable=False)
    return error


def from_http(
    status: int, body: Any, *, retry_after: float | None = None, request_id: str | None = None
) -> VendorError:
    """The error an HTTP status and its body mean. `body` is parsed JSON, or text where it is none."""
    found = _Found.of(body)
    kind = _kind(status, found)
    return VendorError(
        message=found.message or f"the upstream answered with HTTP status {status}",
        kind=kind,
        http_status=status,
        code=found.code,
        type=found.type,
        retryable=_retryable(kind, status),
        retry_after=retry_after if retry_after is not None else found.retry_after,
        request_id=request_id or found.request_id,
    )


def from_body(body: Any) -> VendorError:
    """The error an in-band error object (or string, or list of them) means."""
    found = _Found.of(body)
    status = found.status
    kind = _kind(status, found)
    return VendorError(
        message=found.message or "the upstream reported an error without saying which",
        kind=kind,
        http_status=status,
        code=found.code,
        type=found.type,
        retryable=_retryable(kind, status),
        retry_after=found.retry_after,
        request_id=found.request_id,
    )


def recoded(error: VendorError, codes: Mapping[str, ErrorKind]) -> VendorError:
    """The error as the vendor's own code or type tells it, which knows more than a status does; or as the
    vendor means a status that others mean otherwise.

    A dotted code means what its head does, where the whole of it means nothing.
    """
    for word in (error.code or "", error.type or "", str(error.http_status)):
        kind = codes.get(word) or codes.get(word.partition(".")[0])
        if kind is not None:
            return replace(error, kind=kind, retryable=kind in RETRYABLE_KINDS)
    return error


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """At most `limit` characters of the head of a text, as one line; the mark at its end tells of a cut."""
    text = text.lstrip()
    head = text[:_HEAD_CHARS]
    line = " ".join(head.split())
    return line if len(line) <= limit and len(head) == len(text) else line[: limit - 1] + "…"


def _retryable(kind: ErrorKind, status: int | None) -> bool:
    if kind in ("quota", "invalid_request", "context_length", "content_blocked", "authentication"):
        return False
    if status == 424:
        # The model, or a tool it needs, failed on this very input.
        return False
    return kind in RETRYABLE_KINDS or status in RETRYABLE_STATUSES


def _kind(status: int | None, found: "_Found") -> ErrorKind:
    words = f"{found.message} {found.code or ''}"
    by_word = _KIND_OF_WORD.get((found.code or "").lower()) or _KIND_OF_WORD.get((found.type or "").lower())
    if by_word in _CERTAIN_WORDS:
        return by_word
    general = _KIND_OF_STATUS.get(status or 0) or by_word or _fallback(status)
    for pattern, applies_to, kind in _BY_SENTENCE:
        silent = status is None and by_word is None
        if kind == "quota" and found.retry_after is not None:
            # Google writes "quota" of every limit; one that says when to come back is no empty purse.
            continue
        if (silent or general in applies_to) and pattern.search(words):
            return kind
    if by_word == "authentication" or general == "server_error":
        return by_word or general
    return general


def _fallback(status: int | None) -> ErrorKind:
    return "invalid_request" if status is not None and 400 <= status < 500 else "server_error"


class _Found:
    """What could be made out of an error body."""

    def __init__(self) -> None:
        self.message = ""
        self.code: str | None = None
        self.type: str | None = None
        self.status: int | None = None
        self.retry_after: float | None = None
        self.request_id: str | None = None

    @classmethod
    def of(cls, body: Any) -> "_Found":
        """Read a body of any shape."""
        found = cls()
        found._read(body, 0)
        return found

    def _read(self, body: Any, depth: int) -> None:
        if isinstance(body, list):
            body = next((item for item in body if item), None)
        if isinstance(body, str):
            self.message = self.message or html_page(body) or excerpt(body)
        if isinstance(body, Mapping) and depth < 4:
            self._read_object(body, depth)

    def _read_object(self, body: Mapping[str, Any], depth: int) -> None:
        inner = body.get("error") or body.get("errors") or body.get("base_resp") or body.get("Error")
        if inner:
            self._read(inner, depth + 1)
        self._read_codes(body)
        self._read_google(body)
        for key in ("message", "msg", "Message", "status_msg", "detail", "title", "explanation"):
            if not self.message and body.get(key):
                self._read(body[key], depth + 1)
        self._read_metadata(body.get("metadata"))
        self.request_id = self.request_id or _word(body.get("request_id") or body.get("requestId"))

    def _read_codes(self, body: Mapping[str, Any]) -> None:
        for key in ("code", "status_code", "error_code", "status"):
            value = body.get(key)
            if isinstance(value, str) and _is_number(value):
                self.code, value = self.code or value, int(value)
            if isinstance(value, int) and not isinstance(value, bool):
                if self.status is None and 400 <= value <= 599:
                    self.status = value
                self.code = self.code or (str(value) if abs(value) < 10**_CODE_DIGITS else None)
            elif isinstance(value, str) and value:
                self.code = _word(value) if self.code is None or self.code.isdigit() else self.code
        if body.get("type") not in (None, "error"):
            self.type = self.type or _word(body.get("type"))
        self.type = self.type or _word(body.get("error_type"))
        if isinstance(body.get("__type"), str):
            # AWS: `namespace#Name`, or `Name:http://…`.
            self.type = self.type or _word(body["__type"].rpartition("#")[2].partition(":")[0])

    def _read_google(self, body: Mapping[str, Any]) -> None:
        details = body.get("details")
        for item in details if isinstance(details, list) else []:
            if not isinstance(item, Mapping):
                continue
            delay = item.get("retryDelay")
            if isinstance(delay, str) and (wait := vendor_waits.of_duration(delay)) is not None:
                self.retry_after = wait
            self.code = _word(item.get("reason")) or self.code

    def _read_metadata(self, metadata: Any) -> None:
        """An aggregator's own error hides the downstream provider's: both are told."""
        if isinstance(metadata, Mapping):
            parts = [_text(metadata.get("provider_name")), _text(metadata.get("raw"))]
            cause = ": ".join(part for part in parts if part)
            if cause and cause not in self.message:
                self.message = excerpt(f"{self.message} ({cause})" if self.message else cause)


def _text(value: Any) -> str | None:
    return excerpt(value) if isinstance(value, str) and value else None


def _word(value: Any) -> str | None:
    return (excerpt(value, _WORD_CHARS) or None) if isinstance(value, str) else None


def _is_number(text: str) -> bool:
    return len(text) <= _CODE_DIGITS and text.isascii() and text.isdigit()


def html_page(text: str) -> str | None:
    """What to say of an answer that is a page for people, by its title; None for anything else."""
    head = text.lstrip()[:_HEAD_CHARS]
    if not _HTML.search(head):
        return None
    return f"the upstream answered with an HTML page: {_title(head) or 'no title'}"


def _title(head: str) -> str:
    """By plain search: an expression would try again from each of many beginnings."""
    # Lengths must stay, so only ASCII is lowered.
    lowered = head.translate(_LOWERED)
    start = lowered.find(">", lowered.find("<title")) + 1 if "<title" in lowered else 0
    end = lowered.find("</title>", start) if start else -1
    return excerpt(head[start:end]) if end >= 0 else ""
