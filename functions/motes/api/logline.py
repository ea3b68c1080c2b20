"""One event as one log line: `event_name key=value …`.

Must never be given a body, a key, a header or a URL.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

# Printable ASCII without blanks, quotes, equals signs and backslashes.
_is_plain: Final = re.compile(r"[!#-<>-\[\]-~]+").fullmatch
_FIELD_CHARS: Final = 300
"""What is longer was somebody else's words."""


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
    told = [event]
    for name, value in fields.items():
        kind = type(value)
        if kind is int or (kind is str and len(value) <= _FIELD_CHARS and _is_plain(value)):
            told.append(f"{name}={value}")
        elif kind is float:
            told.append(f"{name}={value:.3f}")
        elif value is not None:
            told.append(f"{name}={_value(_short(value))}")
    line = LogLine(" ".join(told))
    line.event, line._given = event, fields
    return line


def _short(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= _FIELD_CHARS:
        return value
    return f"{value[: _FIELD_CHARS - 3]}..."


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    return text if _is_plain(text) else json.dumps(text)
