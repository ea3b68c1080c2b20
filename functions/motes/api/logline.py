"""One event as one log line: `event_name key=value …`.

Must never be given a body, a key, a header or a URL.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType
from typing import Any, Final

_FIELD_CHARS: Final = 300
"""What is longer was somebody else's words."""


# Printable ASCII without blanks, quotes, equals signs and backslashes.
_PLAIN: Final = r"[!#-<>-\[\]-~]"
# How a value is written; of what is none of these a look is not enough, and its blanks say so.
_NOTHING: Final = "%.0s"
_OTHER: Final = "  %.0s"
_WAYS: Final[Mapping[type, str]] = {str: "%s", int: "%d", float: "%.3f", NoneType: _NOTHING}
_NAMELESS: Final = frozenset({_NOTHING, _OTHER})
_is_plain: Final = re.compile(f"{_PLAIN}+").fullmatch
_PLAIN_ONES: Final = bytes(filter(lambda sign: _is_plain(chr(sign)), range(128)))


class LogLine:
    """The line; `event` and `fields` are its parts, for a log that keeps them apart. Its text is made where
    it is written, as `str` gives it.
    """

    __slots__ = ("_given", "event")

    def __init__(self, event: str, given: Mapping[str, Any]) -> None:
        self.event = event
        self._given = given

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields that are told."""
        return {name: _short(value) for name, value in self._given.items() if value is not None}

    def __str__(self) -> str:
        fields = self._given
        kinds: list[Any] = [type(value) for value in fields.values()]
        form, marks = _form(self.event, *fields, *kinds)
        text = form % tuple(fields.values())
        return text if _is_plain_text(text, marks) else _quoted(self.event, fields)


def logline(event: str, **fields: Any) -> LogLine:
    """The line. A field that is None is left out; a value with white space or quotes in it is quoted."""
    return LogLine(event, fields)


def _is_plain_text(text: str, marks: bytes) -> bool:
    """Whether such a line needs no quotes: no value of it is empty or too long, and beside what is plain, it
    has just these marks.
    """
    return (
        text.isascii()
        # One look at all of it: had a value a blank or an equals sign, there would be more of them.
        and text.encode().translate(None, _PLAIN_ONES) == marks
        and "= " not in text
        and text[-1] != "="
        and (len(text) <= _FIELD_CHARS or all(len(part) <= _FIELD_CHARS for part in text.split("=")))
    )


@lru_cache(maxsize=256)
def _form(event: str, *fields: Any) -> tuple[str, bytes]:
    """The form of a line, and what stands around the values in it. The fields are their names and then their
    classes. The form names all of them: of one that is None it writes nothing.
    """
    names, kinds = fields[: len(fields) // 2], fields[len(fields) // 2 :]
    ways = [_WAYS.get(kind, _OTHER) for kind in kinds]
    literal = [name.replace("%", "%%") for name in (event, *names)]
    told = zip(literal[1:], ways, strict=True)
    parts = [way if way in _NAMELESS else f" {name}={way}" for name, way in told]
    return "".join([literal[0], *parts]), b" =" * (len(parts) - ways.count(_NOTHING))


def _quoted(event: str, fields: Mapping[str, Any]) -> str:
    told = [f"{name}={_value(_short(value))}" for name, value in fields.items() if value is not None]
    return " ".join([event, *told])


def _short(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= _FIELD_CHARS:
        return value
    return f"{value[: _FIELD_CHARS - 3]}..."


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    return text if _is_plain(text) else json.dumps(text)
