"""Small files that an answer left at its vendor, put into the answer: text as text, pictures as pictures.

Anything else, anything larger and anything that cannot be had stays what it was, a file at the vendor. Must
never put in what may run (SVG is no picture here), nor close a fence before the file ends.
"""

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import httpx

from motes import particles as p
from motes.dataclass import dataclass
from motes.dispatch import FileErrands
from motes.executor.fetch import FetchFailed, fetch

MAX_TEXT: Final = 262_144
MAX_IMAGE: Final = 1024 * 1024
_MAX_ABOUT: Final = 64 * 1024
_SECONDS: Final = 10.0
_SMALL_IMAGE: Final = 500 * 1024
_LONGEST_FENCE: Final = 10
_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_TEXTUAL: Final = frozenset(
    {
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/json5",
        "application/jsonl",
        "application/sql",
        "application/toml",
        "application/typescript",
        "application/x-httpd-php",
        "application/x-javascript",
        "application/x-latex",
        "application/x-ndjson",
        "application/x-perl",
        "application/x-python",
        "application/x-sh",
        "application/x-tex",
        "application/x-typescript",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
_TEXTUAL_ENDS: Final = ("+json", "+xml", "+yaml")


@dataclass(frozen=True, slots=True)
class _About:
    """What is known of a file before it is read."""

    name: str
    mime: str


class FileInlining:
    """One run's files. What it puts in moves the places of sources that come after it."""

    def __init__(
        self, file: Callable[[p.HostedResource], FileErrands | None], http: httpx.AsyncClient
    ) -> None:
        self._file = file
        self._http = http
        self._length = 0
        self._inserted: list[tuple[int, int]] = []
        """(characters of the vendor's own text before it, characters put in)."""

    async def __call__(self, particle: p.Particle) -> list[p.Particle]:
        """The particle, or the file."""
        if isinstance(particle, p.Text):
            self._length += len(particle.text)
        elif isinstance(particle, p.Citation):
            return [self._moved(particle)]
        elif isinstance(particle, p.HostedResource) and (errands := self._file(particle)):
            return [await self._inlined(particle, errands)]
        return [particle]

    async def _inlined(self, resource: p.HostedResource, errands: FileErrands) -> p.Particle:
        try:
            about = await self._about(resource, errands)
            limit = _limit_of(about.mime) if about else 0
            if about is None or not limit:
                return resource
            answer = await fetch(self._http, errands.content, limit=limit, seconds=_SECONDS)
        except FetchFailed:
            return resource
        made = _image(about, answer.body) if about.mime in _IMAGES else _text(about, answer.body)
        if isinstance(made, p.Text):
            self._inserted.append((self._length, len(made.text)))
        return made or resource

    async def _about(self, resource: p.HostedResource, errands: FileErrands) -> _About | None:
        """Its name and type, or None where it cannot be had or is too large."""
        told: Any = {}
        if errands.about is not None:
            answer = await fetch(self._http, errands.about, limit=_MAX_ABOUT, seconds=_SECONDS)
            told = answer.json()
        if not isinstance(told, dict) or told.get("downloadable") is False:
            return None
        path = told.get("filename") or told.get("path") or resource.filename
        name = path.rpartition("/")[2] if isinstance(path, str) else ""
        mime = told.get("mime_type") or resource.mime or _guessed(name)
        size = told.get("size_bytes", told.get("bytes"))
        about = _About(_clean(name), mime.partition(";")[0].strip().lower() if isinstance(mime, str) else "")
        return None if isinstance(size, int) and size > _limit_of(about.mime) else about

    def _moved(self, citation: p.Citation) -> p.Citation:
        """A source's place in the text with what was put in before it."""
        if not self._inserted or citation.start is None:
            return citation
        end = None if citation.end is None else citation.end + self._before(citation.end - 1)
        return replace(citation, start=citation.start + self._before(citation.start), end=end)

    def _before(self, place: int) -> int:
        return sum(length for at, length in self._inserted if at <= place)


def _limit_of(mime: str) -> int:
    """The most bytes of a file of this type; none for a type that is not put in."""
    if mime in _IMAGES:
        return MAX_IMAGE
    is_text = mime.startswith("text/") or mime in _TEXTUAL
    return MAX_TEXT if is_text or (mime.startswith("application/") and mime.endswith(_TEXTUAL_ENDS)) else 0


def _guessed(name: str) -> str:
    """The type of a file by its name, where the vendor tells none."""
    from mimetypes import MimeTypes

    # Not the machine's own table, which differs from one to the next.
    return MimeTypes(filenames=()).guess_type(name)[0] or ""


def _clean(name: str) -> str:
    """A name that can stand behind a fence."""
    return re.sub(r"[^\w. ()+-]", "_", name)[:100].strip()


def _image(about: _About, data: bytes) -> p.Image:
    return p.Image(
        about.mime,
        base64.b64encode(data).decode(),
        label=about.name or None,
        hint_skip_resize=len(data) < _SMALL_IMAGE,
    )


def _text(about: _About, data: bytes) -> p.Text | None:
    """The file between fences longer than any in it, or None where it is no text."""
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    longest = max((len(run) for run in re.findall("`{3,}", content)), default=2)
    if longest >= _LONGEST_FENCE or "\0" in content:
        return None
    fence = "`" * (longest + 1)
    return p.Text(f"\n\n{fence}{about.name}\n{content.removesuffix(chr(10))}\n{fence}\n")
