"""What Ollama sends, and how to read a field that may hold anything.

One record a line; the last one is done. A body that is no stream is that last record with everything in it.
Described, never policed: every member may be missing or of another type. Must never raise.
Source: Ollama API reference, "Generate a chat message", "Streaming" and "Errors" (docs.ollama.com/api, read
2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

Json = Mapping[str, Any]

NOTHING: Final[Json] = {}
# Whole numbers stay exact in a float up to here; no counter of tokens or nanoseconds comes near.
_TOO_LARGE: Final = 2**53


class Function(TypedDict, total=False):
    """A call for the client, whole: the arguments are an object, not JSON text."""

    index: int
    name: str
    arguments: dict[str, Any]


class ToolCall(TypedDict, total=False):
    """One call. Older servers give no id."""

    id: str
    function: Function


class Message(TypedDict, total=False):
    """More of the answer: text, reasoning, whole calls, whole images (base64)."""

    role: str
    content: str
    thinking: str
    tool_calls: list[ToolCall]
    images: list[str]


class Record(TypedDict, total=False):
    """One line. Counts and durations (nanoseconds) come with the last one; `error` stands alone.

    `response` and `thinking` hold text where the record is one of `/api/generate`. The `remote_` members
    name the server that a local one passes the request on to.
    """

    model: str
    remote_model: str
    remote_host: str
    created_at: str
    message: Message
    response: str
    thinking: str
    done: bool
    done_reason: str
    total_duration: int
    load_duration: int
    prompt_eval_count: int
    prompt_eval_duration: int
    eval_count: int
    eval_duration: int
    error: str


def obj(value: object) -> Json:
    """The object a field holds, or an empty one."""
    return value if isinstance(value, dict) else NOTHING


def objects(value: object) -> list[Json]:
    """The objects in a list; anything else is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The strings in a list that are not empty."""
    return [item for item in value if isinstance(item, str) and item] if isinstance(value, list) else []


def text(value: object) -> str:
    """The string a field holds, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """The number of tokens or nanoseconds a field holds, or None where it holds none."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and isinstance(value, int) and 0 <= value < _TOO_LARGE else None
