"""Bytes in an answer: images, sound and files as particles.

Must never look into what it passes on, except where raw samples need a header to be playable.
"""

from typing import Final

from motes import particles as p
from motes.dialects import wav
from motes.dialects.gemini_generate.events import Blob, FileData
from motes.dialects.gemini_generate.fields import member, text

_PCM: Final = frozenset({"audio/l16", "audio/pcm", "audio/x-l16"})


def inline(blob: Blob, *, thought: bool) -> p.Image | p.Audio | p.HostedResource | None:
    """The particle of inline bytes. An image inside a thought is a draft of the one to come."""
    mime, data = text(member(blob, "mimeType")), text(member(blob, "data"))
    if not data:
        return None
    kind = mime.partition("/")[0].lower()
    if kind == "image":
        return p.Image(mime, data, partial=thought)
    if kind == "audio":
        return _audio(mime, data)
    name = text(member(blob, "displayName"))
    return p.HostedResource("inline-download", filename=name or None, mime=mime or None, base64=data)


def hosted(file: FileData) -> p.HostedResource | None:
    """The particle of a file that lies at Google."""
    uri, mime = text(member(file, "fileUri")), text(member(file, "mimeType"))
    if not uri:
        return None
    _, mark, name = uri.rpartition("/files/")
    # A link to its bytes has `:download?alt=media` behind the name.
    resource = f"files/{name.partition('?')[0].partition(':')[0]}" if mark else uri
    return p.HostedResource(
        "vnd.gem.file", resource=resource, mime=mime or None, is_video=mime.lower().startswith("video/")
    )


def _audio(mime: str, data: str) -> p.Audio:
    """Raw 16-bit samples become a WAV file; everything else is a file already."""
    kind, *parameters = (piece.strip().lower() for piece in mime.split(";"))
    if kind not in _PCM:
        return p.Audio(mime, data)
    return wav.clip(mime, data, _parameter(parameters, "rate"), _parameter(parameters, "channels"))


def _parameter(parameters: list[str], name: str) -> int | None:
    for parameter in parameters:
        key, _, value = (piece.strip() for piece in parameter.partition("="))
        if key == name and value.isdecimal():
            return int(value[:9])
    return None
