"""One content part of the caller as blocks of Converse: text, images, documents, clips, videos.

Bytes go inline as base64, files in S3 by their address. Must never give a blank text block, which is refused.
Raises InvalidRequest for what Converse cannot take at all: an address on the web, a format it does not know.
Source: Amazon Bedrock API reference, "ImageBlock", "DocumentBlock", "AudioBlock", "VideoBlock" (read
2026-11-29).
"""

import re
from typing import Any, Final

from motes.chat import AudioPart, Content, FilePart, ImagePart, Part, RefusalPart, TextPart
from motes.dialects.data_urls import is_data_url, parted
from motes.errors import InvalidRequest

Block = dict[str, Any]

_IMAGES: Final = ("png", "jpeg", "gif", "webp")
_DOCUMENTS: Final = ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")
_VIDEOS: Final = ("mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp")
_SUBTYPES: Final = {
    "jpg": "jpeg",
    "plain": "txt",
    "markdown": "md",
    "msword": "doc",
    "vnd.ms-excel": "xls",
    "vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "quicktime": "mov",
    "x-matroska": "mkv",
    "x-flv": "flv",
    "x-ms-wmv": "wmv",
    "3gpp": "three_gp",
}
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9\-()\[\]]+")
_LONGEST_NAME: Final = 200


def text_block(text: str) -> list[Block]:
    """A text block, or none where there is nothing to read."""
    return [{"text": text}] if text.strip() else []


def cache_point(mark: Any) -> Block:
    """A cache mark as the block it is here."""
    ttl = mark.get("ttl") if isinstance(mark, dict) else None
    return {"cachePoint": {"type": "default"} | ({"ttl": ttl} if ttl in ("5m", "1h") else {})}


def blocks_of(content: Content) -> list[Block]:
    """The blocks of a message's content, in order; a cache mark is a block behind what it marks."""
    if content is None or isinstance(content, str):
        return text_block(content or "")
    return [block for part in content for block in _marked(part)]


def _marked(part: Part) -> list[Block]:
    blocks = _blocks(part)
    mark = getattr(part, "cache_control", None)
    return [*blocks, cache_point(mark)] if blocks and isinstance(mark, dict) else blocks


def _blocks(part: Part) -> list[Block]:
    match part:
        case TextPart():
            return text_block(part.text)
        case RefusalPart():
            return text_block(part.refusal)
        case ImagePart():
            return [_image(part.image_url.url)]
        case FilePart():
            return [_file(part)]
        case AudioPart():
            source = {"bytes": part.input_audio.data}
            return [{"audio": {"format": part.input_audio.format.lower(), "source": source}}]


def _image(url: str) -> Block:
    mime, source = _source(url, "an image")
    format = _format(mime, url)
    if format not in _IMAGES:
        raise _refused(f"this vendor takes png, jpeg, gif and webp images, not {mime[:60] or 'unnamed data'}")
    return {"image": {"format": format, "source": source}}


def _file(part: FilePart) -> Block:
    """A document; an image or a video that comes as a file is what it is."""
    file = part.file
    named = file.filename or ""
    given = file.file_data or file.file_id or ""
    if not file.file_data and not given.startswith("s3://"):
        raise _refused("a file needs `file_data`, or its S3 address as `file_id`")
    mime, source = _source(given, "a file", named)
    format = _format(mime, named or given)
    if format in _IMAGES:
        return {"image": {"format": format, "source": source}}
    if format in _VIDEOS:
        return {"video": {"format": format, "source": source}}
    if format not in _DOCUMENTS:
        raise _refused(f"this vendor takes no files of type {mime[:60] or format[:60] or 'unknown'}")
    document: Block = {"format": format, "name": _name(named), "source": source}
    cited = (part.model_extra or {}).get("citations")
    return {"document": document | ({"citations": cited} if isinstance(cited, dict) else {})}


def _source(given: str, what: str, filename: str = "") -> tuple[str, dict[str, Any]]:
    """Media type and source of inline data or of an object in S3."""
    if given.startswith("s3://"):
        return "", {"s3Location": {"uri": given}}
    if is_data_url(given):
        mime, data = parted(given, "messages")
        return mime, {"bytes": data}
    if filename and "://" not in given:
        return "", {"bytes": given}
    raise _refused(f"this vendor takes {what} inline (a data URL) or by its S3 address, not from the web")


def _format(mime: str, name: str) -> str:
    """Converse's word for a media type, or for what a file's name ends in."""
    word = mime.partition("/")[2] if mime else name.rpartition(".")[2].lower()
    return _SUBTYPES.get(word, word)


def _name(filename: str) -> str:
    """A document's name of the few characters allowed; an extension is none of them."""
    stem = filename.rpartition(".")[0] or filename
    return _NOT_IN_A_NAME.sub(" ", stem).strip()[:_LONGEST_NAME].strip() or "document"


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="messages", code="unsupported")
