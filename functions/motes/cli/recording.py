"""A recording of an upstream's answer: the one format motes has for it, read from disk.

A folder with `response.bin` (body bytes as on the wire) and `meta.json`, or a bare file of body bytes.
Must never guess: what cannot be read is `Unreadable`, with the reason.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

from motes import jsontext
from motes.dataclass import dataclass

_T = TypeVar("_T")
_BODY: Final = "response.bin"


class Unreadable(Exception):
    """A path that holds no recording, or one whose description makes no sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What an upstream answered. `reads` are the byte offsets where reads of the body ended.

    `dialect` decides the parser, `vendor` and `quirks` lend its differences; header names are lower case.
    """

    name: str
    body: bytes = field(repr=False)
    dialect: str | None = None
    vendor: str | None = None
    model: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[int, ...] = ()
    reset: bool = False
    quirks: Mapping[str, Any] = field(default_factory=dict)

    def pieces(self, chunk: int | None = None, cut: int | None = None) -> Iterator[bytes]:
        """The body in the reads it came in, or in reads of `chunk` bytes; no more than `cut` bytes."""
        body = self.body if cut is None else self.body[:cut]
        ends: range | tuple[int, ...] = range(chunk, len(body), chunk) if chunk else self.reads
        places = [0, *(end for end in ends if 0 < end < len(body)), len(body)]
        return (body[start:end] for start, end in pairwise(places) if end > start)


def load(path: str, word: Callable[[str], None] | None = None) -> Recording:
    """The recording a path names. Raises Unreadable, whose reason does not repeat the path.

    With `word`, a folder whose meta.json is not there or makes no sense is read as a bare file of its body
    would be; `word` is told why.
    """
    place = Path(path)
    if not place.is_dir():
        return Recording(name=path, body=_bytes(place))
    if not (place / _BODY).exists():
        raise Unreadable(f"a recording is a folder with {_BODY}, and this one has none")
    body = _inner(place, _BODY)
    try:
        return _described(path, body, _meta(place))
    except Unreadable as error:
        if word is None:
            raise
        word(f"{error}; read by the options given")
        return Recording(name=path, body=body)


def _bytes(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__) from None


def _inner(folder: Path, name: str) -> bytes:
    try:
        return _bytes(folder / name)
    except Unreadable as error:
        raise Unreadable(f"{name}: {error}") from None


def _meta(folder: Path) -> Mapping[str, Any]:
    data = _inner(folder, "meta.json")
    try:
        meta = jsontext.loads(data)
    except ValueError as error:
        raise Unreadable(f"meta.json: is not valid JSON{jsontext.place(error)}") from None
    if not isinstance(meta, dict):
        raise Unreadable("meta.json: holds no JSON object")
    return meta


def _described(path: str, body: bytes, meta: Mapping[str, Any]) -> Recording:
    return Recording(
        name=path,
        body=body,
        dialect=_member(meta, "dialect", str, None),
        vendor=_member(meta, "vendor", str, None),
        model=_member(meta, "model", str, None),
        status=_member(meta, "status", int, 200),
        headers=_headers(meta.get("headers")),
        reads=_offsets(_member(meta, "chunks", list, [])),
        reset=_member(meta, "eof", str, "clean") == "reset",
        quirks=_member(meta, "quirks", dict, {}),
    )


def _member(meta: Mapping[str, Any], name: str, kind: type[_T], default: Any) -> Any:
    value = meta.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Unreadable(f"meta.json: {name} must be {_NAMES[kind]}")
    return value


def _headers(value: Any) -> dict[str, str]:
    """Headers as an object, of texts or of lists of them, or as a list of pairs; names in lower case."""
    pairs = value.items() if isinstance(value, dict) else value or ()
    out: dict[str, str] = {}
    try:
        for name, item in pairs:
            out[str(name).lower()] = ", ".join(map(str, item)) if isinstance(item, list) else str(item)
    except (TypeError, ValueError):
        raise Unreadable("meta.json: headers must be an object of texts") from None
    return out


def _offsets(values: list[Any]) -> tuple[int, ...]:
    if not all(isinstance(value, int) for value in values):
        raise Unreadable("meta.json: chunks must be byte offsets")
    return tuple(sorted(values))


_NAMES: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string", int: "an integer"}
