"""Images, sound, videos and documents of an answer as particles.

A stream brings sound in pieces that are one clip. Must never look into what it passes on, except where raw
samples need a header to be playable. Source: google-genai 3.6.1, `ImageDelta`, `AudioDelta`, `VideoDelta`,
`DocumentDelta` (read 2026-11-29).
"""

import re
from typing import Final

from motes import particles as p
from motes.dialects import wav
from motes.dialects.gemini_interactions.fields import Json, count, text
from motes.transmitter import Emitter

KINDS: Final = frozenset({"image", "audio", "video", "document"})

_FILE: Final = re.compile(r"(?:^|/)files/([\w-]+)")
_BARE: Final = frozenset({"audio/l16", "audio/pcm", "audio/x-l16"})
_WAV: Final = frozenset({"audio/wav", "audio/x-wav", "audio/wave"})
_DEFAULTS: Final = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}


def particle(kind: str, part: Json, *, draft: bool = False) -> p.Particle | None:
    """One medium that is whole; None where it holds nothing. `draft`: an image of the one to come."""
    data, mime = text(part, "data"), text(part, "mime_type") or _DEFAULTS.get(kind, "")
    if not data:
        return _elsewhere(kind, text(part, "uri"), mime)
    if kind == "image":
        return p.Image(mime, data, hint_skip_resize=not draft, partial=draft)
    if kind == "video":
        return p.Video(mime, data)
    if kind == "audio":
        return _sound(mime, [data], part)
    return p.HostedResource(
        "inline-download", filename=text(part, "name") or None, mime=mime or None, base64=data
    )


class Sound:
    """The pieces of one clip."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._mime = ""
        self._form: Json = {}

    def add(self, part: Json, out: Emitter) -> None:
        """A piece; one of another form, or a file that is whole by itself, begins another clip."""
        mime = text(part, "mime_type") or self._mime or _DEFAULTS["audio"]
        if self._pieces and (mime != self._mime or _essence(mime) in _WAV):
            self.close(out)
        if not text(part, "data"):
            found = particle("audio", part)
            if found is not None:
                out.add(found)
            return
        self._mime, self._form = mime, self._form or part
        self._pieces.append(text(part, "data"))

    def close(self, out: Emitter) -> None:
        """The clip is over."""
        pieces, form = self._pieces, self._form
        self._pieces, self._form = [], {}
        if pieces:
            out.add(_sound(self._mime, pieces, form))


def _sound(mime: str, pieces: list[str], form: Json) -> p.Audio:
    data = wav.joined(pieces)
    if _essence(mime) not in _BARE:
        return p.Audio(mime, data)
    rate = count(form, "sample_rate") or count(form, "rate") or _parameter(mime, "rate")
    return wav.clip(mime, data, rate, count(form, "channels") or _parameter(mime, "channels"))


def _elsewhere(kind: str, uri: str, mime: str) -> p.HostedResource | None:
    """What lies at Google, by its name there, or anywhere else, by its address."""
    if not uri:
        return None
    found = _FILE.search(uri)
    resource = f"files/{found[1]}" if found else uri
    return p.HostedResource("vnd.gem.file", resource=resource, mime=mime or None, is_video=kind == "video")


def _essence(mime: str) -> str:
    return mime.partition(";")[0].strip().lower()


def _parameter(mime: str, name: str) -> int | None:
    found = re.search(rf";\s*{name}\s*=\s*(\d{{1,9}})", mime, re.I)
    return int(found[1]) if found else None
