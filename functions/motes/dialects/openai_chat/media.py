"""Images and sound in an answer, as whole particles.

Must never decode what it need not: an image stays the base64 it came as. Sound is raw PCM (16 bit, 24 kHz,
one channel) when it is streamed and no container is recognised; it gets a WAV header then.

Source: OpenAI API reference, "Create chat completion", `audio` (read 2026-11-29).
"""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

from motes import particles as p
from motes.dialects import wav
from motes.dialects.openai_chat.fields import text

_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*?;base64,", re.I)
_CONTAINERS: Final = (
    (b"RIFF", "audio/wav"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf1", "audio/aac"),
    (b"\xff\xf9", "audio/aac"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)


def picture(url: str) -> p.Image | p.HostedResource | None:
    """The image at an address: inline ones whole, others as what lies elsewhere; None for no address."""
    head = _DATA_URL.match(url)
    if head is not None:
        return p.Image(head.group(1) or "image/png", url[head.end() :])
    return p.HostedResource("image-url", resource=url) if url.startswith(("https://", "http://")) else None


class Speech:
    """The one spoken answer, collected piece by piece."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._transcript: list[str] = []

    def add(self, piece: Mapping[str, Any]) -> bool:
        """Keep a piece; True if it was the last one."""
        self._data += filter(None, [text(piece, "data")])
        self._transcript += filter(None, [text(piece, "transcript")])
        return piece.get("expires_at") is not None

    def take(self) -> p.Audio | None:
        """The whole clip, once; None where there is no sound that can be read."""
        if not (self._data or self._transcript):
            return None
        sound = _decoded(self._data)
        label = "".join(self._transcript) or None
        self._data, self._transcript = [], []
        if not sound:
            return None
        mime = next((mime for head, mime in _CONTAINERS if sound.startswith(head)), None)
        if mime is not None:
            return p.Audio(mime, b64encode(sound).decode(), label)
        return wav.wrapped(sound, label=label)


def _decoded(pieces: list[str]) -> bytes:
    """Pieces may each be padded, or be cuts of one text."""
    apart = all(len(piece) % 4 == 0 for piece in pieces)
    try:
        return b"".join(b64decode(piece) for piece in (pieces if apart else ["".join(pieces)]))
    except (binascii.Error, ValueError):
        return b""
