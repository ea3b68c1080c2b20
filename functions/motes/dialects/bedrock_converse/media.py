"""Formats of media as Converse names them, and base64 that comes in pieces.

Must never raise for what is no base64.
Source: Amazon Bedrock API reference, "ImageBlock", "AudioBlock", "VideoBlock" (read 2026-11-29).
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from motes import particles as p

_AUDIO: Final = {"mp3": "mpeg", "mpga": "mpeg", "m4a": "mp4", "mka": "matroska", "x-aac": "aac"}
_VIDEO: Final = {
    "three_gp": "3gpp",
    "mov": "quicktime",
    "mkv": "x-matroska",
    "mpg": "mpeg",
    "wmv": "x-ms-wmv",
}


def media(kind: str, format: str, data: str) -> p.Image | p.Audio | p.Video:
    """One whole image, clip or video."""
    if kind == "audio":
        return p.Audio(f"audio/{_AUDIO.get(format, format or 'mpeg')}", data)
    if kind == "video":
        return p.Video(f"video/{_VIDEO.get(format, format or 'mp4')}", data)
    return p.Image(f"image/{format or 'png'}", data)


def joined(pieces: Sequence[str]) -> str:
    """The base64 of all that the pieces, each base64 of its own, stand for."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece, validate=True) for piece in pieces)).decode()
    except (binascii.Error, ValueError):
        return "".join(pieces)
