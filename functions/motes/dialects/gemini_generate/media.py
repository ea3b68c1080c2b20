"""Bytes in an answer: images, sound and files as particles.

Must never look into what it passes on, except where raw samples need a header to be playable.
"""

import binascii
import struct
from typing import Final

from motes import particles as p
from motes.dialects.gemini_generate.events import Blob, FileData
from motes.dialects.gemini_generate.fields import member, text

_PCM: Final = frozenset({"audio/l16", "audio/pcm", "audio/x-l16"})
_BYTES_A_SAMPLE: Final = 2
_DEFAULT_RATE: Final = 24_000
_MAX_RATE: Final = 768_000
_MAX_CHANNELS: Final = 32


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
    try:
        samples = binascii.a2b_base64(data)
    except ValueError:
        return p.Audio(mime, data)
    rate = _parameter(parameters, "rate", _DEFAULT_RATE, _MAX_RATE)
    channels = _parameter(parameters, "channels", 1, _MAX_CHANNELS)
    wav = _wav_header(len(samples), rate, channels) + samples
    frames = len(samples) // (channels * _BYTES_A_SAMPLE)
    encoded = binascii.b2a_base64(wav, newline=False).decode("ascii")
    return p.Audio("audio/wav", encoded, duration_ms=frames * 1000 // rate)


def _parameter(parameters: list[str], name: str, default: int, most: int) -> int:
    for parameter in parameters:
        key, _, value = (piece.strip() for piece in parameter.partition("="))
        if key == name and value.isdecimal():
            number = int(value[:9])
            return number if 0 < number <= most else default
    return default


def _wav_header(size: int, rate: int, channels: int) -> bytes:
    """The 44 bytes before samples in a RIFF file: size, then format 1 (PCM), then the data's own size."""
    block = channels * _BYTES_A_SAMPLE
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + size,
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        rate,
        rate * block,
        block,
        8 * _BYTES_A_SAMPLE,
        b"data",
        size,
    )
