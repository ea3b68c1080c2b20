"""What a caller may choose about the form of an answer, and where: one table for all of it.

The nearest word counts: the request's body (`motes.<name>`), its header (`x-motes-<name>`, with hyphens),
what is stored with the caller's key, the operator's settings. Must never guess: a word that is no choice is
refused with the place it stands at and the words there are. What was stored with a key was checked when it
was; a word that is no longer known counts as none, since whoever asks cannot mend it.
"""

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, get_args

from motes.dataclass import dataclass
from motes.errors import InvalidRequest
from motes.settings import Keepalive, ReasoningField, Settings, StreamUsage, closest

_FLAG: Final = {"true": True, "false": False}

TABLE: Final[Mapping[str, Mapping[str, Any]]] = {
    "reasoning_field": {word: word for word in get_args(ReasoningField)},
    "keepalive": {word: word for word in get_args(Keepalive)},
    "stream_usage": {word: word for word in get_args(StreamUsage)},
    "strict_requests": _FLAG,
    "resumable": _FLAG,
}
"""Every choice by its name, which is that of its setting: the words for it, and what each of them means."""

HEADER: Final = "x-motes-"
"""How the names of our own request headers begin."""

_DEFAULTS: Final = attrgetter(*TABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What counts for one request."""

    reasoning_field: ReasoningField
    keepalive: Keepalive
    stream_usage: StreamUsage
    strict_requests: bool
    resumable: bool


def chosen(
    body: Mapping[str, Any], headers: Mapping[str, str], stored: Mapping[str, str], settings: Settings
) -> Choices:
    """The choices of a request; `body` is its `motes` object. Raises InvalidRequest for one that is none."""
    # Most requests choose nothing.
    if not stored and _NAMES.isdisjoint(body) and _HEADERS.isdisjoint(headers):
        return _choices(_DEFAULTS(settings))
    return Choices(**{name: _nearest(name, body, headers, stored, settings) for name in TABLE})


def header_of(name: str) -> str:
    """The header that makes a choice."""
    return HEADER + name.replace("_", "-")


def checked(words: Mapping[str, str]) -> dict[str, str]:
    """The choices that are to be stored with a key. Raises InvalidRequest, which names the wrong one."""
    for name, word in words.items():
        if name not in TABLE:
            raise InvalidRequest(
                f"there is no choice {name[:40]!r}{closest(name, TABLE)}; there are {', '.join(TABLE)}",
                param=name[:40],
                code="invalid_value",
            )
        _meant(name, word, name)
    return dict(words)


@lru_cache(maxsize=16)
def _choices(values: tuple[Any, ...]) -> Choices:
    return Choices(**dict(zip(TABLE, values, strict=True)))


_NAMES: Final = frozenset(TABLE)
_HEADERS: Final = frozenset(map(header_of, TABLE))


def _nearest(
    name: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    stored: Mapping[str, str],
    settings: Settings,
) -> Any:
    # Both are looked at: a wrong word is a mistake also where another one counts.
    said = [
        _meant(name, value, place)
        for value, place in (
            (body.get(name), f"motes.{name}"),
            (headers.get(header_of(name)), f"header {header_of(name)}"),
        )
        if value is not None
    ]
    if said:
        return said[0]
    return TABLE[name].get(stored.get(name, ""), getattr(settings, name))


def _meant(name: str, value: Any, place: str) -> Any:
    """What a word means; JSON has true and false of its own."""
    words = TABLE[name]
    word = str(value).lower() if isinstance(value, bool) else value
    if isinstance(word, str) and word.strip() in words:
        return words[word.strip()]
    raise InvalidRequest(
        f"{place}: must be one of {', '.join(words)}",
        param=place.removeprefix("header "),
        code="invalid_value",
    )
