"""What a caller's message holds, as content: text, images, sound, videos, documents.

Must never fetch anything: an address goes on as an address. Source: google-genai 3.6.1, `Content` (read
2026-11-29).
"""

from typing import Any, Final

from motes.chat import AudioPart, Content, FilePart, ImagePart, Part, RefusalPart, TextPart
from motes.dialects.data_urls import is_data_url, parted
from motes.errors import InvalidRequest

Wire = dict[str, Any]

_MIME_OF_ENDING: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "txt": "text/plain",
    "md": "text/markdown",
    "html": "text/html",
    "json": "application/json",
    "mp4": "video/mp4",
    "mov": "video/mov",
    "webm": "video/webm",
    "mp3": "audio/mp3",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
}
_KINDS: Final = ("image", "audio", "video")
_ADDRESSES: Final = ("http://", "https://", "gs://", "files/")
_FILES: Final = "https://generativelanguage.googleapis.com/v1beta/"
_RESOLUTIONS: Final = {"low": "low", "high": "high"}


def contents(content: Content, notes: list[str]) -> list[Wire]:
    """Every part of a content, in order; empty text is left out."""
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found = [_part(part, notes) for part in content]
    return [part for part in found if part.get("text") != ""]


def _part(part: Part, notes: list[str]) -> Wire:
    if getattr(part, "cache_control", None) is not None:
        notes.append("cache_control: dropped, this vendor caches by itself")
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case RefusalPart():
            return {"type": "text", "text": part.refusal}
        case ImagePart():
            return _image(part, notes)
        case AudioPart():
            mime = f"audio/{part.input_audio.format.lower()}"
            return {"type": "audio", "data": part.input_audio.data, "mime_type": mime}
        case FilePart():
            return _file(part)


def _image(part: ImagePart, notes: list[str]) -> Wire:
    out = _medium(part.image_url.url, "", "image_url", kind="image")
    detail = part.image_url.detail
    if detail in _RESOLUTIONS:
        out["resolution"] = _RESOLUTIONS[detail]
    elif detail not in (None, "auto"):
        notes.append(f"image_url.detail: {detail[:20]!r} dropped, this vendor has no such resolution")
    return out


def _file(part: FilePart) -> Wire:
    data, id, name = part.file.file_data or "", part.file.file_id or "", part.file.filename or ""
    if data and not is_data_url(data) and not data.startswith(_ADDRESSES):
        # Bare base64: the name tells what it is.
        mime = _mime_of(name) or "application/pdf"
        return {"type": _kind_of(mime), "data": data, "mime_type": mime}
    place = data or (id if id.startswith(_ADDRESSES) else "")
    if not place:
        raise InvalidRequest(
            "a file needs `file_data`, or as `file_id` the address of a file at this vendor",
            param="messages",
            code="invalid_file",
        )
    return _medium(place, name, "file")


def _medium(url: str, name: str, place: str, kind: str | None = None) -> Wire:
    if is_data_url(url):
        mime, data = parted(url, place)
        return {"type": kind or _kind_of(mime), "data": data, "mime_type": mime}
    if not url.startswith(_ADDRESSES):
        raise InvalidRequest(
            f"{place}: neither an address nor a data URL", param="messages", code="invalid_value"
        )
    found = _mime_of(name) or _mime_of(url.partition("?")[0])
    out: Wire = {"type": kind or _kind_of(found or ""), "uri": _FILES + url if url[:6] == "files/" else url}
    return out | ({"mime_type": found} if found else {})


def _kind_of(mime: str) -> str:
    """The type of content that holds such data; what is no medium is a document."""
    head = mime.partition("/")[0]
    return head if head in _KINDS else "document"


def _mime_of(name: str) -> str | None:
    return _MIME_OF_ENDING.get(name.rpartition(".")[2].lower())
