"""What a gateway's refusal means, and what the network does to a client, as `VendorError`.

Must never raise, whatever stands in a body: a proxy may have written it.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, cast, get_args

import httpx

from motes import jsontext
from motes import particles as p
from motes.client.line import Broken
from motes.codec import from_wire
from motes.errors import ErrorKind, VendorError

_KINDS: Final = frozenset(get_args(ErrorKind))
_PHASES: Final = frozenset(get_args(p.Phase))
_EXCERPT: Final = 300
# The gateway's own word on a status, where its body says nothing of a vendor.
_KIND_OF_STATUS: Final[Mapping[int, ErrorKind]] = {
    401: "authentication",
    403: "authentication",
    408: "timeout",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
}
_TRY_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_UNSENDABLE: Final = (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError)
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, *_UNSENDABLE)


def refused(response: httpx.Response, body: bytes) -> Broken:
    """An answer that is no stream of particles, its body read."""
    status = response.status_code
    told = jsontext.as_object(body.decode("utf-8", "replace")) or {}
    said = told.get("error")
    if not isinstance(said, Mapping):
        return _foreign(response, body)
    details = said.get("motes")
    error = _error(status, said, details if isinstance(details, Mapping) else {})
    phase = details.get("phase") if isinstance(details, Mapping) else None
    again = status in _TRY_AGAIN and response.headers.get("x-should-retry", "").lower() != "false"
    return Broken(
        error,
        cast(p.Phase, phase) if phase in _PHASES else "dispatch-fetch",
        sent=False,
        is_final=not again,
        particles=_run(told.get("particles")),
    )


def _error(status: int, said: Mapping[str, Any], details: Mapping[str, Any]) -> VendorError:
    """The error as the run had it, where the run failed; else the gateway's own."""
    kind = details.get("kind")
    is_vendors = kind in _KINDS
    code = details.get("code") if is_vendors else said.get("code")
    return VendorError(
        message=_text(said.get("message")) or f"the gateway answered with HTTP status {status}",
        kind=cast(ErrorKind, kind) if is_vendors else _kind(status),
        http_status=_whole(details.get("upstream_status")) if is_vendors else status,
        code=_text(code),
        type=_text(details.get("upstream_type")),
        retryable=details.get("retryable") is True if is_vendors else status in _TRY_AGAIN,
        retry_after=_seconds(details.get("retry_after_s")),
        request_id=_text(details.get("upstream_request_id")),
    )


def _foreign(response: httpx.Response, body: bytes) -> Broken:
    """Something that is no gateway answered: a proxy, a captive portal, another server."""
    status = response.status_code
    media = response.headers.get("content-type", "nothing").partition(";")[0]
    again = status in _TRY_AGAIN
    message = f"no gateway answered, but something with HTTP status {status} and {media}"
    if not again:
        message += ": check the base URL and what stands between"
    words = " ".join(body[: 4 * _EXCERPT].decode("utf-8", "replace").split())[:_EXCERPT]
    error = VendorError(
        message=message,
        kind=_kind(status) if again else "protocol",
        http_status=status,
        code="no_gateway",
        retryable=again,
        retry_after=_seconds(response.headers.get("retry-after")),
        details={"body": words} if words else None,
    )
    return Broken(error, "dispatch-fetch", sent=False, is_final=not again)


def _run(particles: Any) -> tuple[p.Particle, ...]:
    """The whole of a run that failed before anything of it could be seen, where the gateway tells it."""
    items = particles if isinstance(particles, list) else []
    run = tuple(from_wire(item) for item in items if isinstance(item, dict))
    return run if run and isinstance(run[-1], p.End) else ()


def unreached(failure: Exception) -> Broken:
    """Why there is no answer. What httpx says of it stays out: it may quote headers."""
    hopeless = isinstance(failure, _UNSENDABLE)
    if isinstance(failure, httpx.UnsupportedProtocol):
        what = "the base URL must begin with http:// or https://"
    elif hopeless:
        what = "the request cannot be sent: check the base URL and the key"
    elif isinstance(failure, httpx.TimeoutException):
        what = f"no connection to the gateway{_where(failure)} in time"
    else:
        what = f"the gateway{_where(failure)} could not be reached ({type(failure).__name__})"
    error = VendorError(message=what, kind="server_error", code="gateway_unreachable", retryable=not hopeless)
    return Broken(error, "dispatch-fetch", sent=not isinstance(failure, _NEVER_SENT), is_final=hopeless)


def _where(failure: Exception) -> str:
    """Which one was asked. Without a user's name and password, which an address may have."""
    try:
        url = failure.request.url if isinstance(failure, httpx.RequestError) else None
    except RuntimeError:
        # Nobody said what was being sent.
        url = None
    return "" if url is None else f" at {url.scheme}://{url.netloc.decode('ascii')}"


def cut(failure: Exception | None = None) -> Broken:
    """A stream that stopped before its end."""
    how = f"broke ({type(failure).__name__})" if failure else "closed"
    error = VendorError(
        message=f"the connection to the gateway {how} before the answer was complete",
        kind="stream_truncated",
        code="connection_lost",
        retryable=True,
    )
    return Broken(error)


def too_large() -> Broken:
    """A stream with a line that has no end."""
    message = "a particle of the gateway is larger than a client takes"
    return Broken(VendorError(message=message, kind="protocol", code="particle_too_large"), is_final=True)


def silent(seconds: float) -> Broken:
    """A stream without a sign of life."""
    error = VendorError(
        message=f"nothing came from the gateway for {seconds:g} s, not even a heartbeat",
        kind="timeout",
        code="idle_timeout",
        retryable=True,
    )
    return Broken(error)


def _kind(status: int) -> ErrorKind:
    return _KIND_OF_STATUS.get(status, "server_error" if status >= 500 else "invalid_request")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
