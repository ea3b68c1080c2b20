"""The grammar of Converse: one event in, what it means out.

A whole body is read as the stream it could have been. `metadata`, which holds the counts, comes after
`messageStop`: the end waits for it, or for the end of the body. Must never call an answer complete before
`messageStop`. Source: Amazon Bedrock API reference, "ConverseStreamOutput" (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from motes import jsontext
from motes import particles as p
from motes.demux.base import WireEvent
from motes.dialects.bedrock_converse import blocks, tool_blocks
from motes.dialects.bedrock_converse import events as wire
from motes.dialects.bedrock_converse.events import Json, count, obj, objects, text
from motes.dialects.bedrock_converse.finish import STOPS, failure_of, guardrail_of, say_metadata
from motes.errors import VendorError
from motes.quirks import Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt, from_body

_EVENTS: Final = (
    "contentBlockDelta",
    "contentBlockStart",
    "contentBlockStop",
    "messageStart",
    "messageStop",
    "metadata",
)

_KINDS: Final[Mapping[str, type[blocks.Block]]] = {
    "text": blocks.TextBlock,
    "citation": blocks.TextBlock,
    "reasoningContent": blocks.ReasoningBlock,
    "toolUse": tool_blocks.ToolBlock,
    "toolResult": tool_blocks.ResultBlock,
    "image": blocks.MediaBlock,
    "audio": blocks.AudioBlock,
    "video": blocks.VideoBlock,
}
# What a delta may open by itself; the others make no sense without what opened them.
_UNANNOUNCED: Final = ("text", "citation", "reasoningContent", "image")
_ERROR_KEYS: Final = ("error", "message", "Message", "__type")


class ConverseParser:
    """One per attempt."""

    def __init__(self, quirks: Quirks) -> None:
        self._answer = blocks.Answer(think_tags=quirks.think_tags)
        self._open: dict[object, blocks.Block] = {}
        self._latest: blocks.Block | None = None
        self._started = False
        self._counted = False
        self._stop = ""
        self._failure: VendorError | None = None

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """See `Parser`."""
        kind, data = _read(event)
        match kind:
            case "contentBlockDelta":
                self._on_delta(cast("wire.BlockDelta", data), out)
            case "contentBlockStart":
                self._on_start(cast("wire.BlockStart", data), out)
            case "contentBlockStop":
                self._on_block_stop(data, out)
            case "messageStart":
                self._on_message_start(out)
            case "messageStop":
                self._on_message_stop(cast("wire.MessageStop", data), out)
            case "metadata":
                self._on_metadata(cast("wire.Metadata", data), out)
            case "whole":
                self._on_whole(cast("wire.Whole", data), out)
            case "error":
                out.issue(from_body(data))
            case other:
                out.warn("unknown_event", f"an upstream event of type {excerpt(other, 40)!r} was skipped")

    def eof(self, out: Emitter) -> None:
        """See `Parser`. The counts may be lost, the answer is not."""
        if self._stop:
            self._finish(out)

    def _on_message_start(self, out: Emitter) -> None:
        if self._started:
            out.warn("repeated_message", "a second messageStart was skipped")
        self._started = True

    def _on_start(self, event: wire.BlockStart, out: Emitter) -> None:
        start = obj(event.get("start"))
        name = next((name for name in start if name in _KINDS), None)
        if name is None:
            names = excerpt(", ".join(start), 40)
            out.warn("unknown_block", f"a content block of type {names!r} was skipped")
            return
        self._add(count(event.get("contentBlockIndex")), name, obj(start[name]), out)

    def _on_delta(self, event: wire.BlockDelta, out: Emitter) -> None:
        index = count(event.get("contentBlockIndex"))
        for name, value in obj(event.get("delta")).items():
            if name in _KINDS:
                self._grow(index, name, {name: value}, out)
            else:
                out.warn("unknown_delta", f"a delta of type {excerpt(name, 40)!r} was skipped")

    def _grow(self, index: object, name: str, delta: Json, out: Emitter) -> None:
        block = self._open.get(index)
        if name in _UNANNOUNCED and not isinstance(block, _KINDS[name]):
            block = self._add(index, name, wire.NOTHING, out)
        if block is None:
            out.warn("orphan_delta", f"a delta of {name} without its block was skipped")
        else:
            block.grow(delta, out)

    def _add(self, index: object, name: str, start: Json, out: Emitter) -> blocks.Block:
        """Open a block. Blocks come one after the other, so the one before is complete."""
        self._settle(out)
        served = name == "toolUse" and start.get("type") == "server_tool_use"
        kind = tool_blocks.ServerToolBlock if served else _KINDS[name]
        block = kind(start, self._answer)
        block.open(out)
        self._answer.after_reasoning = block.reasons
        self._open[index] = self._open[None] = self._latest = block
        return block

    def _on_block_stop(self, data: Json, out: Emitter) -> None:
        block = self._open.pop(count(data.get("contentBlockIndex")), None)
        if block is not None:
            block.close(out)

    def _on_message_stop(self, event: wire.MessageStop, out: Emitter) -> None:
        self._settle(out)
        word = text(event.get("stopReason"))
        self._stop = word or "end_turn"
        self._failure = failure_of(word)
        if asked := obj(event.get("additionalModelResponseFields")):
            out.add(p.VendorState("bedrock", {"additionalModelResponseFields": asked}))
        if self._failure is None:
            if word not in STOPS:
                said = excerpt(word, 40)
                out.warn("unknown_stop_reason", f"the unknown stop reason {said!r} counts as a plain stop")
            out.stop(STOPS.get(word, "ok"), native=word or None)
        if self._counted:
            self._finish(out)

    def _on_metadata(self, metadata: wire.Metadata, out: Emitter) -> None:
        say_metadata(metadata, out)
        reason = guardrail_of(metadata)
        if reason and self._stop == "guardrail_intervened":
            out.stop(STOPS[self._stop], native=self._stop, detail=excerpt(reason))
        self._counted = True
        if self._stop:
            self._finish(out)

    def _on_whole(self, body: wire.Whole, out: Emitter) -> None:
        self._on_message_start(out)
        for number, item in enumerate(objects(obj(obj(body.get("output")).get("message")).get("content"))):
            self._on_item(number, item, out)
        self._on_message_stop(cast("wire.MessageStop", body), out)
        self._on_metadata(cast("wire.Metadata", body), out)

    def _on_item(self, number: int, item: Json, out: Emitter) -> None:
        """A block of a whole body, as the start and the deltas it could have come in."""
        name = next((name for name in (*_KINDS, "citationsContent") if name in item), None)
        if name is None:
            names = excerpt(", ".join(item), 40)
            out.warn("unknown_block", f"a content block of type {names!r} was skipped")
            return
        block = self._add(number, "text" if name == "citationsContent" else name, obj(item[name]), out)
        for delta in _deltas(name, item[name]):
            block.grow(delta, out)

    def _settle(self, out: Emitter) -> None:
        """Close the latest block where the vendor did not."""
        if self._latest is not None:
            self._latest.close(out)

    def _finish(self, out: Emitter) -> None:
        self._settle(out)
        if self._failure is not None:
            out.issue(self._failure)
        else:
            out.done()


def _deltas(name: str, value: object) -> list[Json]:
    """What a block of a whole body holds, as deltas."""
    held = obj(value)
    match name:
        case "citationsContent":
            said = [{"text": part.get("text")} for part in objects(held.get("content"))]
            return [*said, *({"citation": part} for part in objects(held.get("citations")))]
        case "reasoningContent":
            return [{name: held}, {name: held.get("reasoningText")}]
        case "toolResult":
            return [{name: held.get("content")}]
        case _:
            return [{name: value}]


def _read(event: WireEvent) -> tuple[str, dict[str, Any]]:
    """The event's kind and its object. InvokeModel has the kind inside, as the one member of the object."""
    data = jsontext.loads(event.data)
    if not isinstance(data, dict):
        raise ValueError("an event of Converse is a JSON object")
    if event.name is not None:
        return event.name, data
    for kind in _EVENTS:
        if isinstance(data.get(kind), dict):
            return kind, data[kind]
    if isinstance(data.get("output"), dict):
        return "whole", data
    return "error" if any(data.get(key) for key in _ERROR_KEYS) else ", ".join(data), data
