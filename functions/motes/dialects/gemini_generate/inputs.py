"""What a caller's message holds, as Google's parts: text, images, sound, documents.

Must never fetch anything: an address goes on as an address.

Source: ai.google.dev/api/caching (Part, Blob, FileData) and ai.google.dev/gemini-api/docs/files, read
2026-11-29.
"""

from typing import Any, Final

from motes.chat import AudioPart, Content, FilePart, ImagePart, RefusalPart, TextPart
from motes.dialects.data_urls import is_data_url, parted
from motes.errors import InvalidRequest

GooglePart = dict[str, Any]

_MIME_OF_ENDING: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "html": "text/html",
    "csv": "text/csv",
    "json": "application/json",
    "mp4": "video/mp4",
    "mov": "video/mov",
    "webm": "video/webm",
    "mp3": "audio/mp3",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
}
_ADDRESSES: Final = ("http://", "https://", "gs://", "files/")
_FILES: Final = "https://generativelanguage.googleapis.com/v1beta/"

NO_CACHE_MARKS: Final = "cache_control: this vendor caches by itself; dropped"


def parts(content: Content, warnings: list[str]) -> list[GooglePart]:
    """The parts of a content; empty text is left out, for Google refuses it."""
    if content is None or isinstance(content, str):
        return [{"text": content}] if content else []
    found = [_part(part, warnings) for part in content]
    return [part for part in found if part.get("text") != ""]


def _part(part: TextPart | ImagePart | AudioPart | FilePart | RefusalPart, warnings: list[str]) -> GooglePart:
    if getattr(part, "cache_control", None) is not None:
        warnings.append(NO_CACHE_MARKS)
    if isinstance(part, TextPart):
        return {"text": part.text}
    if isinstance(part, RefusalPart):
        return {"text": part.refusal}
    if isinstance(part, AudioPart):
        audio = part.input_audio
        return {"inlineData": {"mimeType": f"audio/{audio.format.lower()}", "data": audio.data}}
    if isinstance(part, FilePart):
        return _file(part)
    if part.image_url.detail not in (None, "auto"):
        warnings.append("image_url.detail: this vendor sets it for the whole request; dropped")
    return _media(part.image_url.url, "image")


def _file(part: FilePart) -> GooglePart:
    data, file_id, name = part.file.file_data, part.file.file_id, part.file.filename or ""
    if data and not is_data_url(data) and not data.startswith(_ADDRESSES):
        # Bare base64: the name tells what it is.
        return {"inlineData": {"mimeType": _mime_of(name) or "application/pdf", "data": data}}
    if data or (file_id and file_id.startswith(_ADDRESSES)):
        return _media(data or file_id or "", "file")
    raise InvalidRequest(
        "a file needs `file_data`, or as `file_id` the address of a file at this vendor",
        param="messages",
        code="invalid_value",
    )


def _media(url: str, what: str) -> GooglePart:
    if is_data_url(url):
        kind, data = parted(url, "messages")
        return {"inlineData": {"mimeType": kind, "data": data}}
    if not url.startswith(_ADDRESSES):
        raise InvalidRequest(
            f"{what}: neither an address nor a data URL", param="messages", code="invalid_value"
        )
    uri = _FILES + url if url.startswith("files/") else url
    mime = _mime_of(url.partition("?")[0])
    return {"fileData": {"mimeType": mime, "fileUri": uri} if mime else {"fileUri": uri}}


def _mime_of(name: str) -> str | None:
    return _MIME_OF_ENDING.get(name.rpartition(".")[2].lower())
