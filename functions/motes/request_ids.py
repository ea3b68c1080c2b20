"""Names of one request, for vendors that want some in their headers: made outside, put in here.

Pure: every name is an argument. Must never put a key into a header whose row does not ask for it.
"""

import re
from collections.abc import Mapping
from typing import Final

from motes.dataclass import dataclass

_LONG: Final = "0" * 32
_SHORT: Final = "0" * 16
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_KEY: Final = "key"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestIds:
    """Lower-case hexadecimal, 32 digits, but 16 for spans, as B3 has it. The conversation's name may be the
    caller's own.

    Source: github.com/openzipkin/b3-propagation (read 2026-11-30).
    """

    conversation_id: str = _LONG
    request_id: str = _LONG
    message_id: str = _LONG
    trace_id: str = _LONG
    span_id: str = _SHORT
    parent_id: str = _SHORT


NO_IDS: Final = RequestIds()
"""For who only looks at a request."""

PLACES: Final = (*RequestIds.__annotations__, _KEY)
"""What may stand in braces in a header of a row; `key` is the vendor's key once more."""


def are_wanted(headers: Mapping[str, str]) -> bool:
    """Whether a row's headers have places for names."""
    return any("{" in value for value in headers.values())


def filled(headers: Mapping[str, str], ids: RequestIds, key: str | None) -> dict[str, str]:
    """The headers of a row with the names in their places; one that wants a key is left out without it."""
    if not are_wanted(headers):
        return dict(headers)

    def put(found: re.Match[str]) -> str:
        place = found[1]
        if place not in PLACES:
            return found[0]
        return (key or "") if place == _KEY else str(getattr(ids, place))

    kept = {name: value for name, value in headers.items() if key or "{key}" not in value}
    return {name: _PLACE.sub(put, value) for name, value in kept.items()}
