"""The grammar of Cohere's Chat API: one event in, what it means out.

The JSON's own `type` decides, the SSE event name only where there is none. A whole body is read as the stream
it could have been. `message-end` is the evidence of completion and the end; a `[DONE]` behind it says
nothing. Must never take any other end for one. Source: "Chat with Streaming" and "Streaming guide"
(docs.cohere.com, read 2026-11-29).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from motes import jsontext
from motes.demux.base import WireEvent
from motes.dialects.cohere_chat import citations
from motes.dialects.cohere_chat import events as wire
from motes.dialects.cohere_chat.events import Json, count, obj, objects, text
from motes.dialects.cohere_chat.finish import STOPS, failure_of, say_usage
from motes.quirks import NO_QUIRKS, Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt, from_body

_DONE: Final = "[DONE]"
_CONTENT: Final = ("text", "thinking")
_SILENT: Final = ("content-end", "tool-call-end", "citation-end", "debug")


class ChatParser:
    """One per attempt. No host of this protocol differs in what it sends, so the quirks are not asked."""

    def __init__(self, _: Quirks = NO_QUIRKS) -> None:
        self._spoken = 0
        """Characters of answer text so far."""
        self._begins: dict[int | None, int] = {}
        """Where in it each content block begins."""
        self._calls: dict[int | None, str] = {}
        self._thought = False

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """See `Parser`; `_HANDLERS` is the table of contents."""
        if event.data.strip() == _DONE:
            return
        data = _read(event)
        kind = _kind(data, event.name)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, data, out)
        elif kind not in _SILENT:
            out.warn("unknown_event", f"an upstream event of type {excerpt(kind, 40)!r} was skipped")

    def eof(self, out: Emitter) -> None:
        """See `Parser`. `message-end` says that it is over; without it nothing is."""

    def _on_start(self, data: Json, out: Emitter) -> None:
        out.response_id(text(data.get("id")))

    def _on_content_start(self, data: Json, out: Emitter) -> None:
        self._open(_index(data), _message(data).get("content"), out)

    def _on_content(self, data: Json, out: Emitter) -> None:
        self._grow(_index(data), _message(data).get("content"), out)

    def _on_plan(self, data: Json, out: Emitter) -> None:
        out.plan(text(_message(data).get("tool_plan")))

    def _on_call(self, data: Json, out: Emitter) -> None:
        for call in objects(_message(data).get("tool_calls")):
            self._call(_index(data), call, out)

    def _on_arguments(self, data: Json, out: Emitter) -> None:
        for call in objects(_message(data).get("tool_calls")):
            if piece := _arguments(obj(call.get("function")).get("arguments")):
                out.tool_call_arguments(piece, self._calls.get(_index(data)))

    def _on_citation(self, data: Json, out: Emitter) -> None:
        self._cite(_message(data).get("citations"), out)

    def _on_end(self, data: Json, out: Emitter) -> None:
        _end(cast("wire.EndDelta", obj(data.get("delta"))), out)

    def _on_error(self, data: Json, out: Emitter) -> None:
        out.issue(from_body(data))

    def _on_whole(self, body: Json, out: Emitter) -> None:
        self._on_start(body, out)
        message = obj(body.get("message"))
        out.plan(text(message.get("tool_plan")))
        content = message.get("content")
        for index, block in enumerate(objects(content) or [{"text": content}]):
            self._open(index, block, out)
        for index, call in enumerate(objects(message.get("tool_calls"))):
            self._call(index, call, out)
        self._cite(message.get("citations"), out)
        _end(cast("wire.EndDelta", body), out)

    def _open(self, index: int | None, raw: object, out: Emitter) -> None:
        """A content block begins. A second one of reasoning is a block of its own."""
        kind = text(obj(raw).get("type"))
        if kind and kind not in _CONTENT:
            out.warn("unknown_block", f"a content block of type {excerpt(kind, 40)!r} was skipped")
        if kind == "thinking" and self._thought:
            out.reasoning("", restart=True)
        self._thought = kind == "thinking"
        self._grow(index, raw, out)

    def _grow(self, index: int | None, raw: object, out: Emitter) -> None:
        """More of a block; the first piece of it tells where it begins."""
        self._begins.setdefault(index, self._spoken)
        for content in objects(raw):
            if thinking := text(content.get("thinking")):
                out.reasoning(thinking)
            if said := text(content.get("text")):
                self._spoken += len(said)
                out.text(said)

    def _call(self, index: int | None, call: Json, out: Emitter) -> None:
        """A call, whole or the beginning of one."""
        function = obj(call.get("function"))
        arguments = _arguments(function.get("arguments")) or None
        made = out.tool_call(text(call.get("id")) or None, text(function.get("name")), arguments)
        self._calls[index] = self._calls[None] = made

    def _cite(self, raw: object, out: Emitter) -> None:
        for citation in objects(raw):
            before = self._begin_of(count(citation.get("content_index")))
            for particle in citations.particles(citation, before):
                out.add(particle)

    def _begin_of(self, block: int | None) -> int | None:
        """Where a cited block begins in the text; one that is not known, only if there is no choice."""
        alone = None if any(self._begins.values()) else 0
        return alone if block is None else self._begins.get(block, alone)


_HANDLERS: Final[Mapping[str, Callable[[ChatParser, Json, Emitter], None]]] = {
    "message-start": ChatParser._on_start,
    "content-start": ChatParser._on_content_start,
    "content-delta": ChatParser._on_content,
    "tool-plan-delta": ChatParser._on_plan,
    "tool-call-start": ChatParser._on_call,
    "tool-call-delta": ChatParser._on_arguments,
    "citation-start": ChatParser._on_citation,
    "message-end": ChatParser._on_end,
    "whole": ChatParser._on_whole,
    "error": ChatParser._on_error,
}


def _end(delta: wire.EndDelta, out: Emitter) -> None:
    say_usage(obj(delta.get("usage")), out)
    word, told = text(delta.get("finish_reason")), text(delta.get("error"))
    failure = failure_of(word, told)
    if failure is not None:
        out.issue(failure)
        return
    if word and word not in STOPS:
        out.warn(
            "unknown_stop_reason",
            f"the unknown finish reason {excerpt(word, 40)!r} counts as a plain stop",
        )
    if word:
        out.stop(STOPS.get(word, "ok"), native=word)
    out.done()


def _read(event: WireEvent) -> dict[str, Any]:
    data = jsontext.loads(event.data)
    if not isinstance(data, dict):
        raise ValueError("an event of Cohere's Chat API is a JSON object")
    return data


def _kind(data: Json, name: str | None) -> str:
    """The event's type. A whole answer has none, nor has an error."""
    kind = text(data.get("type"))
    if data.get("error") or "error" in (kind, name):
        return "error"
    if kind:
        return kind
    if isinstance(data.get("message"), dict):
        return "whole"
    return name or ("error" if data.get("message") or data.get("detail") else "")


def _message(data: Json) -> Json:
    """What an event is about."""
    return obj(obj(data.get("delta")).get("message"))


def _index(data: Json) -> int | None:
    return count(data.get("index"))


def _arguments(value: object) -> str:
    """The JSON text of a call's arguments; an object is taken as its text."""
    if isinstance(value, str):
        return value
    return jsontext.dumps(value) if isinstance(value, dict) and value else ""
