"""One content part of the caller as a part of the input: text, images, sound, files.

Must never lose a part without a note. Source: OpenAI API reference, "Responses", input content (read
2026-11-29).
"""

from collections.abc import Sequence
from typing import Any, Final

from motes.chat import AudioPart, Content, FilePart, ImagePart, Part, RefusalPart, TextPart
from motes.errors import InvalidRequest
from motes.quirks import Quirks

Wire = dict[str, Any]

_PDF: Final = "application/pdf"
_ADDRESSES: Final = ("https://", "http://")


class Parts:
    """Writes the parts of one request as its vendor takes them."""

    def __init__(self, quirks: Quirks, notes: list[str]) -> None:
        self._passed = quirks.passthrough
        self._notes = notes

    def of(self, content: Content) -> list[Wire]:
        """Every part of a content, in order; a plain text is one part."""
        if isinstance(content, str):
            return [{"type": "input_text", "text": content}]
        return [self._part(part) for part in content or ()]

    def _part(self, part: Part) -> Wire:
        match part:
            case TextPart():
                out: Wire = {"type": "input_text", "text": part.text}
            case RefusalPart():
                out = {"type": "input_text", "text": part.refusal}
            case ImagePart():
                detail = part.image_url.detail or "auto"
                out = {"type": "input_image", "image_url": part.image_url.url, "detail": detail}
            case AudioPart():
                audio = {"data": part.input_audio.data, "format": part.input_audio.format}
                out = {"type": "input_audio", "input_audio": audio}
            case FilePart():
                out = _file(part)
        if getattr(part, "cache_control", None) is not None:
            self._notes.append("cache_control: dropped, this vendor caches by itself or not at all")
        return out | self._extras(part)

    def _extras(self, part: Part) -> Wire:
        out = {}
        for name, value in (part.model_extra or {}).items():
            if name in self._passed or "*" in self._passed:
                out[name] = value
            elif value is not None:
                self._notes.append(f"content: {name[:40]} was dropped, this vendor does not know it")
        return out


def is_text(part: Part) -> bool:
    """Whether a part is text, said or refused."""
    return isinstance(part, TextPart | RefusalPart)


def split(content: Content) -> tuple[Content, Sequence[Part]]:
    """The text before the first part that is none, and everything from there on."""
    if not isinstance(content, list):
        return content, ()
    at = next((i for i, part in enumerate(content) if not is_text(part)), len(content))
    return content[:at], content[at:]


def _file(part: FilePart) -> Wire:
    file = part.file
    data = file.file_data or ""
    named = {"filename": file.filename} if file.filename else {}
    if file.file_id:
        return {"type": "input_file", "file_id": file.file_id}
    if data.startswith(_ADDRESSES):
        return {"type": "input_file", "file_url": data}
    if not data:
        raise InvalidRequest("a file needs `file_data` or `file_id`", param="messages", code="invalid_file")
    # Inline data without a name is refused.
    named = named or {"filename": "document.pdf" if _PDF in data[:40] else "document.txt"}
    return {"type": "input_file", **named, "file_data": data}
