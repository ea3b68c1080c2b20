"""What an Interactions upstream sends, as types, and how one datum of the stream becomes a named event.

Description only: nothing is validated against it, every member may be missing, null or of another type, and
the readers take that. Names of before May 2026 (`interaction.start`, `content.*`, `outputs`) are read, too.
Sources: ai.google.dev/gemini-api/docs/interactions, its pages on streaming and on the breaking changes of May
2026, and the types of google-genai 3.6.1 (all read 2026-11-29).
"""

from typing import Any, Final, Literal, TypedDict

from motes import jsontext
from motes.demux.base import WireEvent
from motes.dialects.gemini_interactions.fields import Json, text

Status = Literal[
    "queued",
    "in_progress",
    "requires_action",
    "requires_continuation",
    "completed",
    "failed",
    "cancelled",
    "incomplete",
    "budget_exceeded",
    "idle",
]


class Annotation(TypedDict, total=False):
    """A source of a text. Places count bytes of UTF-8 of the content block it stands in."""

    type: Literal["url_citation", "file_citation", "place_citation", "word_info", "speech_metadata"] | str
    url: str
    title: str
    name: str
    document_uri: str
    file_name: str
    source: str
    page_number: int
    start_index: int
    end_index: int


class Content(TypedDict, total=False):
    """A part of what was said: text with its sources, or media, inline or by address."""

    type: Literal["text", "image", "audio", "video", "document"] | str
    text: str
    annotations: list[Annotation]
    data: str
    uri: str
    mime_type: str
    sample_rate: int
    channels: int


class Step(TypedDict, total=False):
    """One thing that happened. Which members there are depends on `type`."""

    type: str
    content: list[Content]
    summary: list[Content]
    signature: str
    id: str
    call_id: str
    name: str
    server_name: str
    arguments: dict[str, Any] | str
    result: Any
    is_error: bool
    error: dict[str, Any]


class Usage(TypedDict, total=False):
    """Token counts. Input includes what was cached; thoughts and tool use are counted apart."""

    total_input_tokens: int
    total_cached_tokens: int
    total_output_tokens: int
    total_thought_tokens: int
    total_tool_use_tokens: int
    total_tokens: int


class Interaction(TypedDict, total=False):
    """The whole run: what a request without a stream gives, and what some events carry. Times are ISO 8601.

    Neither `store` nor `background` of the request is repeated in it.
    """

    id: str
    object: str
    status: Status
    model: str
    agent: str
    created: str
    updated: str
    environment_id: str
    continuation_token: str
    steps: list[Step]
    outputs: list[Content | Step]
    usage: Usage
    errors: list[dict[str, Any]]


class StreamEvent(TypedDict, total=False):
    """One event; `event_id` is there where the stream can be resumed from behind it."""

    event_type: str
    event_id: str
    index: int
    interaction: Interaction
    interaction_id: str
    status: Status
    step: Step
    content: Content
    delta: dict[str, Any]
    metadata: dict[str, Any]
    usage: Usage
    error: dict[str, Any]


DONE: Final = "done"
WHOLE: Final = "interaction"
ERROR: Final = "error"
IDLE: Final = frozenset({"keepalive", "ping", "heartbeat"})
"""Names of events that keep the line open."""

_END_MARK: Final = "[DONE]"
_HEADS: Final = ("interaction.", "step.", "content.")


def read(event: WireEvent) -> dict[str, Any]:
    """The event's object; an error may be told in plain words, or as the one item of a list. Raises
    ValueError for anything else that is no JSON object.
    """
    if event.data.strip() == _END_MARK:
        return {"event_type": DONE}
    try:
        value = jsontext.loads(event.data)
    except ValueError:
        if event.name != ERROR:
            raise
        value = {"error": {"message": event.data}}
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise ValueError("an event of the Interactions API is a JSON object")
    return value


def kind_of(data: Json, name: str | None) -> str:
    """The event's type by its own word, else by the event's name, else by its members."""
    kind = text(data, "event_type")
    if kind:
        return kind
    if name and (name in (ERROR, DONE) or name in IDLE or name.startswith(_HEADS)):
        return name
    if data.get("object") == WHOLE or any(isinstance(data.get(n), list) for n in ("steps", "outputs")):
        return WHOLE
    if text(data, "id") and text(data, "status"):
        return WHOLE
    return ERROR if data.get("error") else ""
