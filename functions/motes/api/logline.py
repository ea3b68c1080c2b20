"""One event as one log line: `event_name key=value …`.

Must never be given a body, a key, a header or a URL.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_FIELD_CHARS: Final = 300
"""What is longer was somebody else's words."""


# Printable ASCII without blanks, quotes, equals signs and backslashes.
_PLAIN: Final = r"[!#-<>-\[\]-~]"
# Stands for a value of which a look is not enough.
_OTHER: Final = " "
_is_plain: Final = re.compile(f"{_PLAIN}+").fullmatch
_is_plain_line: Final = re.compile(rf"\w+(?: \w+={_PLAIN}{{1,{_FIELD_CHARS}}})*", re.ASCII).fullmatch


class LogLine(str):
    """The line; `event` and `fields` are its parts, for a log that keeps them apart."""

    event: str
    _given: Mapping[str, Any]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields that are told."""
        return {name: _short(value) for name, value in self._given.items() if value is not None}


def logline(event: str, **fields: Any) -> LogLine:
    """The line. A field that is None is left out; a value with white space or quotes in it is quoted."""
    told = [
        f"{name}={value}"
        if (kind := type(value)) is str or kind is int
        else f"{name}={value:.3f}"
        if kind is float
        else _OTHER
        for name, value in fields.items()
        if value is not None
    ]
    # One look at all of it: where there is one equals sign for each field, no value has one.
    text = " ".join([event, *told])
    if text.count("=") != len(told) or not _is_plain_line(text):
        text = _quoted(event, fields)
    line = LogLine(text)
    line.event, line._given = event, fields
    return line


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
