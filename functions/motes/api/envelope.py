"""What every answer has around it: a request id, CORS headers, one log line; and a path that ends in no `/`.

Pure ASGI. Must never touch a body or hold a chunk back.
"""

import logging
import re
import time
from collections.abc import Awaitable, Generator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from motes.api.boundary import STATUS
from motes.api.headers import headers_of
from motes.api.logline import LogLine
from motes.chance import new_word

_log = logging.getLogger("motes.api")

REQUEST_ID: Final = "motes.request_id"
NOTES: Final = "motes.notes"
"""A dict in the scope: what the endpoint wants in the request's log line."""

ANSWER_HEADERS: Final = "motes.answer_headers"
"""A dict in the scope: what the endpoint wants in the head of the answer, whichever it is."""

BODY_SEND: Final = "motes.body_send"
"""The server's own `send`, for the pieces of a body: all that stands in between looks at the head alone."""

DEPARTURE: Final = "motes.departure"
"""A future in the scope, of a server that has one: done when the client leaves before the answer is whole."""

BODY_PIECES: Final = "motes.body_pieces"
"""Put into the scope by a server that can take pieces of a streamed body at once: see `streaming.Pieces`."""

HEAD_SEND: Final = "motes.head_send"
"""Put into the scope by a server that can write the head of a streamed answer at once: called with the status
and the headers, it gives whether it did. Otherwise, the head must be sent.
"""

WARNINGS: Final = "x-motes-warnings"
"""What was changed in the request, in words, so that also who reads nothing but the head learns of it."""

RUN_ID: Final = "x-motes-run-id"
"""By what id a run can be asked for again."""

_SANE_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_EXPOSED: Final = (
    "x-request-id, x-motes-run-id, retry-after, retry-after-ms, x-should-retry, x-motes-models-missing, "
    "x-motes-warnings"
)
_HEADER_CHARS: Final = 600
_RawHeader: TypeAlias = tuple[bytes, bytes]
_DAY: Final = "86400"

_ALWAYS: Final[Mapping[str, str]] = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": _EXPOSED,
}
_RAW_RUN_ID: Final = RUN_ID.encode()
_RAW_ALWAYS: Final = tuple([(name.encode(), value.encode()) for name, value in _ALWAYS.items()])
_OWN: Final = frozenset({b"x-request-id", *dict(_RAW_ALWAYS)})
_OWN_OF_A_RUN: Final = _OWN | {_RAW_RUN_ID}
_name_of: Final = itemgetter(0)


def envelope_headers(request_id: str) -> Mapping[str, str]:
    """The headers of every answer. Any page may ask: what opens the gateway is a key, never a cookie."""
    return {"x-request-id": request_id, **_ALWAYS}


def header_text(sentences: Sequence[str]) -> str:
    """Sentences as the value of a header: a sign that has no place in one is `?`, what is long is cut."""
    told = "; ".join(sentences).encode("ascii", "replace").decode()
    return "".join([sign if sign.isprintable() else "?" for sign in told])[:_HEADER_CHARS].strip()


class _Sent:
    """What is awaited of a head that was sent: nothing."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


_SENT: Final = _Sent()


class Envelope:
    """The outermost middleware."""

    def __init__(self, app: ASGIApp, routes: Sequence[Route]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        request_id = scope[REQUEST_ID] = _request_id(headers_of(scope))
        scope[NOTES] = {}
        scope[ANSWER_HEADERS] = {}
        scope["path"] = scope["path"].rstrip("/") or "/"
        if scope["method"] == "OPTIONS":
            await _preflight(headers_of(scope), request_id, self._methods(scope), send)
            return
        scope[BODY_SEND] = send

        def send_wrapped(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                status = scope[STATUS] = message["status"]
                headers = message["headers"] = _with_own(message["headers"], scope)
                begin = scope.pop(HEAD_SEND, None)
                if begin is not None and begin(status, headers):
                    return _SENT
            return send(message)

        try:
            await self._app(scope, receive, send_wrapped)
        finally:
            # A server's `send` knows the scope: a ring that only the collector would find.
            del scope[BODY_SEND]
            scope.pop(BODY_PIECES, None)
            scope.pop(HEAD_SEND, None)
            _log_request(scope, scope.get(STATUS, 0), time.monotonic() - started)

    def _methods(self, scope: Scope) -> str:
        """What a path can be asked by; a path that is nobody's is told so when it is asked."""
        found = {"OPTIONS"}
        for route in self._routes:
            if route.matches(scope)[0] is not Match.NONE:
                found |= route.methods or set()
        return ", ".join(sorted(found))


def _with_own(headers: Sequence[_RawHeader], scope: Scope) -> list[_RawHeader]:
    """The headers of an answer with those of every answer, which count more."""
    own, names = [(b"x-request-id", scope[REQUEST_ID].encode("latin-1")), *_RAW_ALWAYS], _OWN
    if (run := scope[NOTES].get("run")) is not None:
        own.append((_RAW_RUN_ID, run.encode("latin-1")))
        names = _OWN_OF_A_RUN
    if more := scope[ANSWER_HEADERS]:
        own += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in more.items()]
        names = frozenset(map(_name_of, own))
    if names.isdisjoint(map(_name_of, headers)):
        return [*headers, *own]
    return [header for header in headers if header[0] not in names] + own


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    level = logging.DEBUG if scope["path"] == "/healthz" else logging.INFO
    told = {
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": status or None,
        "seconds": seconds,
        "request_id": scope[REQUEST_ID],
    }
    _log.log(level, LogLine("request", told | scope[NOTES]))


def _request_id(headers: Mapping[str, str]) -> str:
    """The caller's own id where it is one, so that his log and ours can be laid side by side."""
    given = headers.get("x-request-id")
    return given if given and _SANE_ID.fullmatch(given) else f"req_{new_word()}"


async def _preflight(headers: Mapping[str, str], request_id: str, methods: str, send: Send) -> None:
    """The answer to a browser that asks whether it may ask."""
    wanted = headers.get("access-control-request-headers", "authorization, content-type, x-api-key, api-key")
    allowed = {
        **envelope_headers(request_id),
        "access-control-allow-methods": methods,
        "access-control-allow-headers": wanted,
        "access-control-max-age": _DAY,
        "allow": methods,
    }
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in allowed.items()]
    await send({"type": "http.response.start", "status": 204, "headers": raw})
    await send({"type": "http.response.body", "body": b""})
