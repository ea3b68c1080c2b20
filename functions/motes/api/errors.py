"""Every error of the surface in OpenAI's shape, with the headers its clients act on.

Must never tell a client to try again what cannot work, nor show what went wrong inside.
"""

import logging
import math
from collections.abc import Iterable
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from motes import jsontext
from motes import particles as p
from motes.api.envelope import REQUEST_ID, envelope_headers
from motes.api.logline import logline
from motes.codec import to_wire
from motes.egress.failure import error_object, failure_of, status_of
from motes.errors import MotesError, PrepareError, StoreError, Unauthenticated

_log = logging.getLogger("motes.api")

_TYPE_OF_STATUS: Final = {401: "authentication_error", 500: "server_error", 503: "server_error"}
_CODE_OF_STATUS: Final = {
    404: "unknown_url",
    405: "method_not_allowed",
    413: "request_too_large",
    415: "unsupported_media_type",
}
_TWICE: Final = "/v1/v1"
_TOLD_TO_WAIT: Final = (429, 503)
_MESSAGE_CHARS: Final = 600
_PARAM_CHARS: Final = 200
_NO_RETRY: Final = {"x-should-retry": "false"}


class JSONError(Response):
    """An error object as an HTTP answer."""

    media_type = "application/json"

    def __init__(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        super().__init__(jsontext.dump_bytes(body), status, headers)


def run_failed(
    issue: p.Issue | None,
    partial: str | None = None,
    *,
    visible: bool = False,
    run: Iterable[p.Particle] = (),
) -> JSONError:
    """The answer to a run that failed before anything of it was sent.

    `visible` tells that the vendor had begun to answer: that is paid for, and a client that tries again by
    itself pays twice, so whether to do so is left to the caller. `run` is what a reader of particles is told
    of the run beside the error.
    """
    status, error = status_of(issue), failure_of(issue)
    lives_on = "resume" in (error.details or {})
    headers = {} if error.retryable and not visible and not lives_on else dict(_NO_RETRY)
    if status in _TOLD_TO_WAIT and error.retry_after is not None and math.isfinite(error.retry_after):
        headers["retry-after"] = str(math.ceil(error.retry_after))
        headers["retry-after-ms"] = str(math.ceil(error.retry_after * 1000))
    told = [to_wire(particle) for particle in run if not isinstance(particle, p.Heartbeat)]
    body = error_object(issue, partial) | ({"particles": told} if told else {})
    return JSONError(status, body, headers)


async def on_store_error(request: Request, error: Exception) -> Response:
    """A store that failed before the first byte: trying again may help."""
    assert isinstance(error, StoreError)  # noqa: S101 (registered for this class)
    request_id = request.scope.get(REQUEST_ID, "")
    _log.error(logline("store_failed", request_id=request_id, error=error.message))
    message = f"the gateway cannot read what it stored; its log says more under request id {request_id}"
    return JSONError(error.status_hint, _body(request, error.status_hint, message, None, error.code), {})


async def on_motes_error(request: Request, error: Exception) -> Response:
    """An exception of ours, raised before the first byte."""
    assert isinstance(error, MotesError)  # noqa: S101 (registered for this class)
    if isinstance(error, PrepareError):
        _log.warning(logline("not_configured", code=error.code, message=error.message))
    headers = dict(_NO_RETRY)
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = "Bearer"
    return JSONError(
        error.status_hint, _body(request, error.status_hint, error.message, error.param, error.code), headers
    )


async def on_http_error(request: Request, error: Exception) -> Response:
    """What Starlette itself refuses: an unknown path, a method, a body."""
    assert isinstance(error, HTTPException)  # noqa: S101 (registered for this class)
    status, path = error.status_code, request.url.path
    message = error.detail
    if status == 404:
        message = f"there is nothing at {request.method} {path[:200]}"
        if path.startswith(_TWICE):
            message += ": the base URL ends in /v1 already, so leave one /v1 out"
    elif status == 405:
        message = f"{request.method} is not possible at {path[:200]}"
    headers = dict(error.headers or {})
    return JSONError(status, _body(request, status, message, None, _CODE_OF_STATUS.get(status)), headers)


async def on_bug(request: Request, error: Exception) -> Response:
    """An exception nobody expected. It is logged, and the caller learns only where to look for it."""
    request_id = request.scope.get(REQUEST_ID, "")
    _log.error(logline("unhandled_exception", request_id=request_id, error=type(error).__name__))
    message = f"the gateway failed; its log says more under request id {request_id}"
    body = _body(request, 500, message, None, "internal_error")
    # Starlette answers a bug from outside our own middleware, and the server closes the connection after it.
    return JSONError(500, body, {**envelope_headers(request_id), "connection": "close"})


def _body(request: Request, status: int, message: str, param: str | None, code: str | None) -> dict[str, Any]:
    kind = _TYPE_OF_STATUS.get(status, "invalid_request_error")
    said = {
        "message": _cut(message, _MESSAGE_CHARS),
        "type": kind,
        "param": param and _cut(param, _PARAM_CHARS),
    }
    # Anthropic's clients look for their own word beside the error, whose `type` and `message` are the same.
    theirs = {"type": "error"} if "anthropic-version" in request.headers else {}
    return {**theirs, "error": {**said, "code": code}}


def _cut(text: str, limit: int) -> str:
    """A place in a request is named by the caller's own words, which may be long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
