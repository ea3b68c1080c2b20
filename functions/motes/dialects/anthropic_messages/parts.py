"""One content part of the caller as blocks of the Messages API: text, images, documents.

Must never give a blank text block, which the vendor refuses. Raises InvalidRequest for what the API cannot
take at all (audio, an address that is none). Source: "Vision", "PDF support" and "Files API"
(platform.claude.com/docs, read 2026-11-29).
"""

from typing import Any, Final

from motes.chat import AudioPart, Content, FilePart, ImagePart, Part, RefusalPart, TextPart
from motes.dialects.data_urls import is_data_url, parted, text_of
from motes.errors import InvalidRequest

Block = dict[str, Any]

_PDF: Final = "application/pdf"
_TEXTS: Final = ("application/json", "application/xml", "application/yaml", "application/x-yaml")


def text_block(text: str) -> list[Block]:
    """A text block, or none where there is nothing to read."""
    return [{"type": "text", "text": text}] if text.strip() else []


def blocks_of(content: Content) -> list[Block]:
    """The blocks of a message's content, in order; cache marks are kept on theirs."""
    if content is None or isinstance(content, str):
        return text_block(content or "")
    return [block for part in content for block in _marked(part)]


def _marked(part: Part) -> list[Block]:
    blocks = _blocks(part)
    mark = getattr(part, "cache_control", None)
    if blocks and isinstance(mark, dict):
        blocks[-1]["cache_control"] = mark
    return blocks


def _blocks(part: Part) -> list[Block]:
    match part:
        case TextPart():
            return text_block(part.text)
        case RefusalPart():
            return text_block(part.refusal)
        case ImagePart():
            return [{"type": "image", "source": _image(part.image_url.url)}]
        case FilePart():
            return _document(part)
        case AudioPart():
            raise _refused("this vendor takes no audio", "unsupported")


def _image(url: str) -> dict[str, str]:
    if is_data_url(url):
        mime, data = parted(url, "messages")
        return {"type": "base64", "media_type": _plain(mime), "data": data}
    if url.startswith(("https://", "http://")):
        return {"type": "url", "url": url}
    raise _refused("an image is given by an http(s) or a data URL", "invalid_image_url")


def _document(part: FilePart) -> list[Block]:
    file = part.file
    named = {"title": file.filename} if file.filename else {}
    if file.file_data is None:
        if not file.file_id:
            raise _refused("a file needs `file_data` or `file_id`", "invalid_file")
        return [{"type": "document", "source": {"type": "file", "file_id": file.file_id}, **named}]
    if file.file_data.startswith(("https://", "http://")):
        return [{"type": "document", "source": {"type": "url", "url": file.file_data}, **named}]
    mime, data = _file_data(file.file_data, file.filename or "")
    if mime.startswith("image/"):
        return [{"type": "image", "source": {"type": "base64", "media_type": _plain(mime), "data": data}}]
    return [{"type": "document", "source": _source(mime, data), **named}]


def _source(mime: str, data: str) -> dict[str, str]:
    if mime == _PDF:
        return {"type": "base64", "media_type": _PDF, "data": data}
    if mime.startswith("text/") or mime in _TEXTS:
        return {"type": "text", "media_type": "text/plain", "data": text_of(data, "messages")}
    raise _refused(f"this vendor takes PDF and text files, not {mime[:60] or 'unnamed data'}", "invalid_file")


def _file_data(data: str, filename: str) -> tuple[str, str]:
    """Media type and base64 of inline data; bare base64 is what its file name says."""
    if is_data_url(data):
        return parted(data, "messages")
    return (_PDF if filename.lower().endswith(".pdf") else ""), data


def _plain(mime: str) -> str:
    return "image/jpeg" if mime == "image/jpg" else mime


def _refused(message: str, code: str) -> InvalidRequest:
    return InvalidRequest(message, param="messages", code=code)
