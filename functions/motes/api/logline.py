"""One event as one log line: `event_name key=value …`.

Must never be given a body, a key, a header or a URL.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

# Printable ASCII without blanks, quotes, equals signs and backslashes.
_PLAIN: Final = re.compile(r"[!#-<>-\[\]-~]+")
_FIELD_CHARS: Final = 300
"""What is longer was somebody else's words."""


class LogLine(str):
    """The line; `event` and `fields` are its parts, for a log that keeps them apart."""

    event: str
    fields: Mapping[str, Any]


def logline(event: str, **fields: Any) -> LogLine:
    """The line. A field that is None is left out; a value with white space or quotes in it is quoted."""
    told = {name: _short(value) for name, value in fields.items() if value is not None}
    line = LogLine(" ".join([event, *(f"{name}={_value(value)}" for name, value in told.items())]))
    line.event, line.fields = event, told
    return line


def _short(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= _FIELD_CHARS:
        return value
    return f"{value[: _FIELD_CHARS - 3]}..."


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
