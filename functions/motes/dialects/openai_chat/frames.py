"""What one datum of the stream holds: chunks, a choice, or no more than a sign of life.

Must never raise anything but ValueError, and that only for what is no JSON object.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from motes import jsontext
from motes.dialects.openai_chat.fields import NOTHING, rows

DONE: Final = "[DONE]"
IDLE: Final = ("keepalive", "ping", "heartbeat")
"""Types and names of events that keep the line open."""


def chunks_in(data: str) -> Iterable[Mapping[str, Any]]:
    """The objects of one datum: one, or a list of them. Raises ValueError where there is none."""
    value = jsontext.loads(data)
    found = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else [value]
    if not found or not isinstance(found[0], dict):
        raise ValueError("not a JSON object")
    return found


def first_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The choice of index 0; one without an index counts as that."""
    for choice in rows(chunk, "choices"):
        if choice.get("index") in (0, None, "", "0"):
            return choice
    return NOTHING


def json_or_text(data: str) -> Any:
    """The value of a datum, or the datum itself where it is no JSON."""
    try:
        return jsontext.loads(data)
    except ValueError:
        return data
