"""The body of a request: kept up to a limit and not a byte further, then understood.

Must never hold more than the limit in memory, whatever Content-Length says or does not say.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from motes import jsontext
from motes.api.choices import TABLE
from motes.api.hybrid import as_chat
from motes.chat import ChatRequest
from motes.errors import InvalidRequest
from motes.intake import not_json, parse_request

_DISCARDED_BYTES: Final = 64 * 1024 * 1024
_DISCARD_SECONDS: Final = 3.0
_JSON: Final = ("application/json", "text/json", "+json")


async def read_body(headers: Mapping[str, str], receive: Receive, limit: int) -> bytes:
    """The whole body. Raises HTTPException 413 or 415, ClientDisconnect."""
    encoding = headers.get("content-encoding")
    if encoding is not None and (encoding := encoding.strip().lower()) not in ("", "identity"):
        await discard(headers, receive)
        raise _compressed(encoding)
    declared = headers.get("content-length", "")
    size = int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 16 else 0
    if size > limit:
        await discard(headers, receive)
        raise _too_large(limit)
    part, more = _part_in(await receive())
    if not more and len(part) <= limit:
        # Most are small, and come in one piece.
        return part
    return await _joined(part, more, headers, receive, limit)


async def _joined(part: bytes, more: bool, headers: Mapping[str, str], receive: Receive, limit: int) -> bytes:
    """The whole of a body that begins with that part."""
    parts, size = list[bytes](), 0
    while True:
        size += len(part)
        if size > limit:
            parts.clear()
            if more:
                await discard(headers, receive)
            raise _too_large(limit)
        parts.append(part)
        if not more:
            return b"".join(parts)
        part, more = _part_in(await receive())


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"the request body is larger than {limit} bytes")


def _compressed(encoding: str) -> HTTPException:
    """Nothing is unpacked here: a small body may unpack to any size. RFC 7694 has the header."""
    message = f"the request body is encoded ({encoding[:40]}): send it as it is, without content-encoding"
    return HTTPException(415, message, headers={"accept-encoding": "identity"})


async def discard(headers: Mapping[str, str], receive: Receive) -> None:
    """Throw away the rest of a body that is refused, within bounds of size and time.

    Many clients read nothing before they have sent everything: a server that answers and closes while they
    are still sending resets the connection, and they never see why. Who asks first is answered at once.
    """
    if "expect" in headers:
        return
    left, more = _DISCARDED_BYTES, True
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(_DISCARD_SECONDS):
            while more and left >= 0:
                part, more = _part_in(await receive())
                left -= len(part)


def _part_in(message: Message) -> tuple[bytes, bool]:
    """A part of the body, and whether more are to come. Raises ClientDisconnect."""
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


def understand(body: bytes, content_type: str, max_messages: int) -> ChatRequest:
    """The request a body holds, whatever its Content-Type says if it is JSON. Raises InvalidRequest, or
    HTTPException 415.
    """
    try:
        data = jsontext.loads(body)
    except jsontext.TooDeep:
        raise InvalidRequest("the request body is nested too deeply", code="too_deep") from None
    except ValueError as error:
        if content_type and not any(mark in content_type.lower() for mark in _JSON):
            raise HTTPException(
                415, "the request body must be JSON (content-type: application/json)"
            ) from None
        raise not_json(error) from None
    data = as_chat(data)
    messages = data.get("messages") if isinstance(data, dict) else None
    if isinstance(messages, list) and len(messages) > max_messages:
        raise InvalidRequest(
            f"messages: {len(messages)} of them; at most {max_messages} are taken (`max_messages`)",
            param="messages",
            code="too_many_messages",
        )
    return parse_request(data)


def refuse_unknown(request: ChatRequest, passed: frozenset[str]) -> None:
    """Refuse what is no part of the protocol, no choice of ours, and not passed on to this vendor either.
    Raises InvalidRequest.
    """
    options = request.stream_options
    places = (
        ("", request.model_extra, passed),
        ("stream_options.", options and options.model_extra, passed),
        ("motes.", request.motes.model_extra, TABLE),
    )
    for place, members, known in places:
        for name in members or {}:
            if name not in known and "*" not in known:
                path = f"{place}{name[:80]}"
                raise InvalidRequest(
                    f"unknown parameter {path!r}: leave it out, or do without `strict_requests`",
                    param=path,
                    code="unknown_parameter",
                )
