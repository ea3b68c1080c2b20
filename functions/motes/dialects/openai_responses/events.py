"""What a Responses upstream sends, as types, and how one datum of the stream becomes a named event.

Description only: nothing is validated against it, every member may be missing, null or of another type, and
the readers take that. Sources: OpenAI API reference, "Responses" and "Streaming events"; xAI, OpenRouter,
LM Studio and Perplexity references of their Responses endpoints (all read 2026-11-29).
"""

from typing import Any, Final, Literal, TypedDict

from motes import jsontext
from motes.demux.base import WireEvent
from motes.dialects.openai_responses.fields import Json, text

Status = Literal["completed", "incomplete", "failed", "cancelled", "queued", "in_progress", "requires_action"]


class Annotation(TypedDict, total=False):
    """A source of a text. Places count characters of the part it stands in; xAI leaves the title out."""

    type: Literal["url_citation", "file_citation", "container_file_citation", "file_path"] | str
    url: str
    title: str
    start_index: int
    end_index: int
    index: int
    file_id: str
    container_id: str
    filename: str


class Part(TypedDict, total=False):
    """A part of a message or of a reasoning item."""

    type: Literal["output_text", "refusal", "reasoning_text", "summary_text"] | str
    text: str
    refusal: str
    annotations: list[Annotation]


class OutputItem(TypedDict, total=False):
    """One thing the model did: a message, a reasoning item, a call of a tool. Which members there are
    depends on `type`; `id` is what events refer to, `call_id` what the client's answer refers to.
    """

    type: str
    id: str
    call_id: str
    status: str
    role: str
    phase: Literal["commentary", "final_answer"] | None
    content: list[Part]
    summary: list[Part]
    encrypted_content: str | None
    name: str
    arguments: str | dict[str, Any]
    input: str
    action: dict[str, Any]
    queries: list[str]
    results: list[dict[str, Any]] | None
    code: str | None
    container_id: str
    outputs: list[dict[str, Any]] | None
    output: Any
    result: str | None
    output_format: str
    revised_prompt: str | None
    error: Any


class Usage(TypedDict, total=False):
    """Token counts. Input includes cached tokens, output includes reasoning. `cost` is OpenRouter's (a
    number, US dollars) or Perplexity's (an object), `cost_in_usd_ticks` xAI's.
    """

    input_tokens: int
    input_tokens_details: dict[str, int]
    output_tokens: int
    output_tokens_details: dict[str, int]
    total_tokens: int
    cost: float | dict[str, Any]
    cost_in_usd_ticks: int


class Response(TypedDict, total=False):
    """The whole answer: what a request without a stream gives, and what some events carry."""

    id: str
    object: str
    created_at: float
    status: Status
    background: bool
    store: bool
    model: str
    output: list[OutputItem]
    error: dict[str, Any] | None
    incomplete_details: dict[str, Any] | None
    input_transformations: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    usage: Usage | None


class StreamEvent(TypedDict, total=False):
    """One event. An item's events name it by `item_id` or `output_index`, its parts by their own index."""

    type: str
    sequence_number: int
    response: Response
    item: OutputItem
    item_id: str
    output_index: int
    content_index: int
    summary_index: int
    annotation_index: int
    annotation: Annotation
    part: Part
    delta: str
    text: str
    arguments: str
    error: Any
    code: str
    message: str


DONE: Final = "[DONE]"
WHOLE: Final = "response"
ERROR: Final = "error"
IDLE: Final = frozenset({"keepalive", "ping", "heartbeat"})
"""Types and names of events that keep the line open."""

# What a bare error may consist of: a proxy's, a load balancer's, FastAPI's.
_ERROR_KEYS: Final = ("detail", "message", "msg", "errors", "error_type", "title", "code")


def read(event: WireEvent) -> dict[str, Any]:
    """The event's object; an end marker, which some servers add, keeps the line open at most, and an error
    may be told in plain words. Raises ValueError for anything else that is no JSON object.
    """
    if event.data.strip() == DONE:
        return {"type": "keepalive"}
    try:
        value = jsontext.loads(event.data)
    except ValueError:
        if event.name != ERROR:
            raise
        value = {"message": event.data}
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise ValueError("an event of the Responses API is a JSON object")
    return value


def kind_of(data: Json, name: str | None) -> str:
    """The event's type by its own word, else by the event's name, else by its members."""
    kind = text(data, "type")
    if ERROR in (kind, name) or (kind.endswith("_error") and text(data, "message")):
        return ERROR
    if kind:
        return kind
    if name in IDLE or (name and name.startswith("response.")):
        return name
    if isinstance(data.get("output"), list) or (data.get("object") == WHOLE and data.get("status")):
        return WHOLE
    if data.get("error") or any(data.get(key) for key in _ERROR_KEYS):
        return ERROR
    return name or ""
