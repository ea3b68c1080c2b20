"""The body of a request: read up to a limit and not a byte further, then understood.

Must never hold more than the limit in memory, whatever Content-Length says or does not say.
"""

from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from motes import jsontext
from motes.api.hybrid import as_chat
from motes.chat import ChatRequest
from motes.errors import InvalidRequest
from motes.intake import parse_request

_JSON: Final = ("application/json", "text/json", "+json")


async def read_body(headers: Headers, receive: Receive, limit: int) -> bytes:
    """The whole body. Raises HTTPException 413, ClientDisconnect."""
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def understand(body: bytes, content_type: str, strict: bool) -> ChatRequest:
    """The request a body holds, whatever its Content-Type says if it is JSON.

    `strict` refuses what it does not know. Raises InvalidRequest, or HTTPException 415.
    """
    try:
        data = jsontext.loads(body)
    except ValueError:
        if content_type and not any(mark in content_type.lower() for mark in _JSON):
            raise HTTPException(
                415, "the request body must be JSON (content-type: application/json)"
            ) from None
        raise InvalidRequest("the request body is not valid JSON", code="invalid_json") from None
    request = parse_request(as_chat(data))
    if strict and request.model_extra:
        name = next(iter(request.model_extra))
        raise InvalidRequest(f"unknown parameter {name[:80]!r}", param=name, code="unknown_parameter")
    return request


def _too_large(limit: int) -> HTTPException:
    # The connection stays open: a server that closes it while the client is still sending resets it, and
    # the client never sees why. The server throws away what is still to come.
    return HTTPException(413, f"the request body is larger than {limit} bytes")
