"""Images and files that a caller names by their address, fetched for a vendor that takes them inline only.

Must never fetch for a vendor that does it itself, more than a few in one request, or one address twice.
"""

import asyncio
import base64
import re
from collections.abc import Iterator
from typing import Any, Final

from motes.chat import ChatRequest, FilePart, ImagePart, Message, Part
from motes.errors import InvalidRequest
from motes.executor.public_fetch import Allowance, NotFetched, Rules, fetch_public

MAX_FILES: Final = 20
_ADDRESSES: Final = ("http://", "https://")
_NAMELESS: Final = ("application/octet-stream", "binary/octet-stream")
# RFC 6838, 4.2: what else a server writes there would end up in the middle of the data URL.
_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")


async def with_media(request: ChatRequest, rules: Rules | None, max_bytes: int) -> ChatRequest:
    """The request with every address of an image or a file replaced by what lies there, of at most
    `max_bytes` altogether. Raises InvalidRequest with the place of what could not be had.
    """
    places: dict[str, str] = {}
    for place, url in _addresses(request.messages):
        places.setdefault(url, place)
    if not places:
        return request
    if len(places) > MAX_FILES:
        raise InvalidRequest(
            f"messages: {len(places)} images and files are named by their address; at most {MAX_FILES} are"
            " fetched for a vendor that takes them inline only: send data URLs",
            param="messages",
            code="too_many_files",
        )
    fetched = await _all(places, rules or Rules(), Allowance(max_bytes))
    messages = [_replaced(message, fetched) for message in request.messages]
    return request.model_copy(update={"messages": messages})


async def _all(places: dict[str, str], rules: Rules, allowance: Allowance) -> dict[str, str]:
    """Data URLs by address, all fetched at once."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {
                url: group.create_task(_one(url, place, rules, allowance)) for url, place in places.items()
            }
    except* InvalidRequest as failed:
        raise failed.exceptions[0] from None
    return {url: task.result() for url, task in tasks.items()}


async def _one(url: str, place: str, rules: Rules, allowance: Allowance) -> str:
    try:
        file = await fetch_public(url, rules, allowance)
    except NotFetched as error:
        raise InvalidRequest(
            f"{place}: this vendor takes no addresses, and the file could not be fetched for it: {error};"
            " send it as a data URL (data:image/png;base64,…)",
            param=place,
            code="file_not_fetched",
        ) from None
    is_named = file.mime not in _NAMELESS and _TYPE.fullmatch(file.mime) is not None
    mime = file.mime if is_named else _told_by(file.data)
    return f"data:{mime};base64,{base64.b64encode(file.data).decode()}"


def _told_by(data: bytes) -> str:
    """The media type of a file whose server does not name one, by its first bytes."""
    heads = (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"%PDF-", "application/pdf"),
    )
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for head, mime in heads if data.startswith(head)), "application/octet-stream")


def _addresses(messages: list[Message]) -> Iterator[tuple[str, str]]:
    """Place and address of all that has to be fetched."""
    for at, message in enumerate(messages):
        if isinstance(message.content, list):
            for index, part in enumerate(message.content):
                url = _address(part)
                if url:
                    yield f"messages.{at}.content.{index}", url


def _address(part: Part) -> str:
    given = ""
    if isinstance(part, ImagePart):
        given = part.image_url.url
    elif isinstance(part, FilePart):
        given = part.file.file_data or ""
    return given if given[:8].lower().startswith(_ADDRESSES) else ""


def _replaced(message: Message, fetched: dict[str, str]) -> Message:
    if not isinstance(message.content, list):
        return message
    parts = [_inline(part, fetched) for part in message.content]
    return message.model_copy(update={"content": parts})


def _inline(part: Part, fetched: dict[str, str]) -> Part:
    data = fetched.get(_address(part))
    if data is None:
        return part
    if isinstance(part, ImagePart):
        return part.model_copy(update={"image_url": part.image_url.model_copy(update={"url": data})})
    assert isinstance(part, FilePart)  # noqa: S101 (nothing else has an address)
    changes: dict[str, Any] = {"file_data": data}
    return part.model_copy(update={"file": part.file.model_copy(update=changes)})
