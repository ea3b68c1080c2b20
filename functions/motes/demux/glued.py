"""Several events that a careless writer glued into one: taken apart again, or left alone.

Asked only for an event that does not parse, so that it costs a healthy stream nothing. Must never invent:
either every piece is whole JSON (or a marker such as `[DONE]`), or nothing is taken apart.
"""

import json
import re
from typing import Final

from motes.demux.base import WireEvent

_GLUE: Final = re.compile(r"(?:\s|data:|event:[^\n{\[]*)*")
_MARKER: Final = re.compile(r"\[[A-Z]+\]")
_DECODER: Final = json.JSONDecoder(strict=False)


def unglued(event: WireEvent) -> list[WireEvent]:
    """The events one event really holds; empty where it is not two or more whole ones."""
    pieces: list[str] = []
    text, at = event.data, 0
    while (at := _after_glue(text, at)) < len(text):
        end = _end_of_piece(text, at)
        if end is None:
            return []
        pieces.append(text[at:end])
        at = end
    return [WireEvent(piece, event.name, event.id) for piece in pieces] if len(pieces) > 1 else []


def _after_glue(text: str, at: int) -> int:
    found = _GLUE.match(text, at)
    return found.end() if found else at


def _end_of_piece(text: str, at: int) -> int | None:
    marker = _MARKER.match(text, at)
    if marker:
        return marker.end()
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None
