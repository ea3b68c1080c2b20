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


# Members of a chunk, of its choice and of its delta that say nothing new beside a piece of text.
_ABOUT: Final = ("id", "object", "created", "model", "service_tier", "system_fingerprint", "obfuscation")
_CHUNK: Final = frozenset({*_ABOUT, "choices", "usage"})
_CHOICE: Final = frozenset({"index", "delta", "finish_reason", "logprobs"})
_DELTA: Final = frozenset({"content", "role", "refusal"})


def plain_text(chunk: Any) -> str:
    """The text of a chunk that holds nothing else; most do. Nothing for any other, which is read whole."""
    if type(chunk) is not dict or not _CHUNK.issuperset(chunk) or chunk.get("usage") is not None:
        return ""
    choices = chunk.get("choices")
    if type(choices) is not list or len(choices) != 1 or chunk.get("object") == "error":
        return ""
    choice = choices[0]
    if type(choice) is not dict or not _CHOICE.issuperset(choice) or choice.get("finish_reason") is not None:
        return ""
    delta = choice.get("delta")
    if type(delta) is not dict or choice.get("index") != 0:
        return ""
    if len(delta) != 1 and (not _DELTA.issuperset(delta) or delta.get("refusal")):
        return ""
    content = delta.get("content")
    return content if type(content) is str else ""


def chunks_in(value: Any) -> Iterable[Mapping[str, Any]]:
    """The objects of one datum: one, or a list of them. Raises ValueError where there is none."""
    found = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else [value]
    if not found or not isinstance(found[0], dict):
        raise ValueError("not a JSON object")
    return found


def first_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The choice of index 0; one without an index counts as that."""
    choices = chunk.get("choices")
    if not choices:
        return NOTHING
    if type(choices) is list and type(choices[0]) is dict and choices[0].get("index") == 0:
        # As mostly.
        first: Mapping[str, Any] = choices[0]
        return first
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
