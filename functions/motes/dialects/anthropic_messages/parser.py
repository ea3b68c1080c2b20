"""The grammar of the Messages API: one event in, what it means out.

The JSON's own `type` decides, the SSE event name only where there is none, because proxies drop names. A
whole body is read as the stream it could have been. Must never hold back text, and must never call an answer
complete before `message_delta` gave a stop reason or `message_stop` came. Source: "Streaming Messages",
"Handling stop reasons" and "Errors" (platform.claude.com/docs, read 2026-11-29).
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from motes import jsontext
from motes.demux.base import WireEvent
from motes.dialects.anthropic_messages import blocks, tool_blocks
from motes.dialects.anthropic_messages import events as wire
from motes.dialects.anthropic_messages.events import Json, count, obj, objects, text
from motes.emitter import Emitter, Verse
from motes.particles import StopReason
from motes.quirks import Quirks
from motes.vendor_errors import excerpt, from_body

_STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "ok",
    "stop_sequence": "ok",
    "pause_turn": "ok",
    "compaction": "ok",
    "tool_use": "ok-tool_invocations",
    "max_tokens": "out-of-tokens",
    "model_context_window_exceeded": "out-of-tokens",
    "refusal": "filter-refusal",
}

_BLOCKS: Final[Mapping[str, type[blocks.Block]]] = {
    "text": blocks.TextBlock,
    "thinking": blocks.ThinkingBlock,
    "redacted_thinking": blocks.RedactedBlock,
    "compaction": blocks.CompactionBlock,
    "tool_use": tool_blocks.ClientToolBlock,
    "server_tool_use": tool_blocks.ServerToolBlock,
    "mcp_tool_use": tool_blocks.ServerToolBlock,
    "container_upload": tool_blocks.UploadBlock,
}

# What a delta that comes without its block must belong to.
_BLOCK_OF_DELTA: Final = {"text_delta": "text", "citations_delta": "text", "thinking_delta": "thinking"}

# What is counted, and what we call it.
_COUNTS: Final = (
    ("input_tokens", "tokens_in"),
    ("cache_read_input_tokens", "tokens_cache_read"),
    ("cache_creation_input_tokens", "tokens_cache_write"),
    ("output_tokens", "tokens_out"),
)

_LONGEST_DONE: Final = 64

# Spaces that hide how long the words are.
_PADDING: Final = re.compile(rb"}( *)}")

# What an error says that has no type and no event name: a proxy's, a clone's, a load balancer's.
_ERROR_KEYS: Final = ("errors", "detail", "message", "Message", "msg", "base_resp", "code")


class MessagesParser:
    """One per attempt."""

    def __init__(self, quirks: Quirks) -> None:
        self._answer = blocks.Answer(think_tags=quirks.think_tags)
        self._blocks: list[blocks.Block] = []
        self._open: dict[object, blocks.Block] = {}
        self._started = False
        self._paused = False
        self._early_stop = ""

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """See `Parser`."""
        data, name = _read(event), event.name
        kind = data.get("type")
        if kind != "content_block_delta" or not self._went_on(data, name, out):
            if type(kind) is not str or not kind or name == "error" or "error" in data:
                kind = _kind(data, name)
            handler = _HANDLERS.get(kind)
            if handler is not None:
                handler(self, data, out)
            elif kind != "ping":
                out.warn("unknown_event", f"an upstream event of type {excerpt(kind, 40)!r} was skipped")

    def _went_on(self, data: Json, name: str | None, out: Emitter) -> bool:
        """Whether the event was more of a block of text, and nothing else; then it was said."""
        words = _plain_text(data)
        block = self._open.get(data["index"]) if words and name != "error" else None
        if type(block) is not blocks.TextBlock:
            return False
        block.say(words, out)
        out.verse(words, Verse(_plain_text, block.again, _PADDING))
        return True

    def eof(self, out: Emitter) -> None:
        """See `Parser`. A pause is a pause, also where the last event was lost."""
        if self._paused:
            self._on_stop({}, out)

    def _on_whole(self, body: Json, out: Emitter) -> None:
        if self._started:
            out.warn("repeated_message", "a whole message after its stream was skipped")
            return
        self._on_start(body, out)
        self._on_message_delta({"delta": cast("wire.StopDelta", body), "usage": body.get("usage", {})}, out)
        self._on_stop({}, out)

    def _on_message_start(self, data: Json, out: Emitter) -> None:
        self._on_start(obj(data.get("message")), out)

    def _on_error(self, data: Json, out: Emitter) -> None:
        out.issue(from_body(data))

    def _on_start(self, raw: Json, out: Emitter) -> None:
        if self._started:
            out.warn("repeated_message", "a second message_start was skipped")
            return
        self._started = True
        message = cast("wire.Message", raw)
        out.model(text(message.get("model")))
        out.response_id(text(message.get("id")))
        self._answer.hold(message.get("container"), out)
        _say_usage(message.get("usage"), out, partial=True)
        if objects(message.get("input_transformations")):
            out.warn(
                "input_transformed", "the vendor left out earlier reasoning that did not fit the history"
            )
        for block in objects(message.get("content")):
            self._add(None, block, out)
        self._settle(out)
        self._early_stop = text(message.get("stop_reason"))

    def _on_block(self, event: wire.BlockStart, out: Emitter) -> None:
        self._add(_index(event), obj(event.get("content_block")), out)

    def _add(self, index: object, raw: Json, out: Emitter) -> blocks.Block:
        """Open a block. Blocks come one after the other, so the one before is complete."""
        self._settle(out)
        kind = text(raw.get("type"))
        other = tool_blocks.ResultBlock if kind.endswith("_tool_result") else blocks.UnknownBlock
        block = _BLOCKS.get(kind, other)(raw, self._answer)
        block.open(out)
        self._answer.after_reasoning = block.reasons
        self._answer.has_pausable = self._answer.has_pausable or block.pauses
        self._blocks.append(block)
        self._open[index] = self._open[None] = block
        return block

    def _on_delta(self, event: wire.BlockDelta, out: Emitter) -> None:
        delta = obj(event.get("delta"))
        kind = text(delta.get("type"))
        index = _index(event)
        block = self._open.get(index)
        if block is None and kind in _BLOCK_OF_DELTA:
            out.warn("implicit_block", "a delta without its content_block_start opened a block")
            block = self._add(index, {"type": _BLOCK_OF_DELTA[kind]}, out)
        if block is None:
            out.warn("orphan_delta", f"a delta of type {excerpt(kind, 40)!r} without its block was skipped")
        else:
            block.grow(kind, delta, out)

    def _on_block_stop(self, data: Json, out: Emitter) -> None:
        block = self._open.get(_index(data))
        if block is not None:
            block.close(out)

    def _on_message_delta(self, event: wire.MessageDelta, out: Emitter) -> None:
        self._settle(out)
        delta = obj(event.get("delta"))
        self._answer.hold(delta.get("container"), out)
        _say_usage(event.get("usage"), out, partial=False)
        self._say_stop(text(delta.get("stop_reason")), obj(delta.get("stop_details")), out)

    def _say_stop(self, word: str, details: Json, out: Emitter) -> None:
        if not word:
            return
        self._early_stop = ""
        self._paused = word == "pause_turn"
        if word not in _STOPS:
            out.warn(
                "unknown_stop_reason", f"the unknown stop reason {excerpt(word, 40)!r} counts as a plain stop"
            )
        detail = text(details.get("explanation")) or text(details.get("category")) if details else ""
        out.stop(_STOPS.get(word, "ok"), native=word, detail=excerpt(detail) or None if detail else None)

    def _on_stop(self, _: Json, out: Emitter) -> None:
        self._settle(out)
        self._say_stop(self._early_stop, {}, out)
        if self._paused and not any(block.is_lost for block in self._blocks):
            out.resume(self._continuation(), "pause_turn")
            return
        if self._paused:
            out.warn("pause_not_continued", "the paused answer is too long to be sent back")
        out.done()

    def _continuation(self) -> dict[str, Any]:
        """What to lay over the request's body to go on; see `motes.continuation`."""
        content = [replayed for block in self._blocks if (replayed := block.replay()) is not None]
        patch: dict[str, Any] = {"messages+": [{"role": "assistant", "content": content}] if content else []}
        if self._answer.container:
            patch["container"] = self._answer.container
        return patch

    def _settle(self, out: Emitter) -> None:
        """Close the latest block where the vendor did not."""
        if self._blocks:
            self._blocks[-1].close(out)


_HANDLERS: Final[Mapping[str, Callable[[MessagesParser, Any, Emitter], None]]] = {
    "content_block_delta": MessagesParser._on_delta,
    "content_block_start": MessagesParser._on_block,
    "content_block_stop": MessagesParser._on_block_stop,
    "message_start": MessagesParser._on_message_start,
    "message_delta": MessagesParser._on_message_delta,
    "message_stop": MessagesParser._on_stop,
    "message": MessagesParser._on_whole,
    "error": MessagesParser._on_error,
}


def _plain_text(data: Json) -> str:
    """The text of a delta that holds nothing else; most do. Nothing for any other, which is read whole."""
    delta = data.get("delta")
    if len(data) != 3 or type(delta) is not dict or data.get("type") != "content_block_delta":
        return ""
    if len(delta) != 2 or delta.get("type") != "text_delta" or type(data.get("index")) is not int:
        return ""
    text = delta.get("text")
    return text if type(text) is str else ""


def _read(event: WireEvent) -> dict[str, Any]:
    """The event's object. OpenAI's end marker, which some clones add, says nothing here."""
    datum = event.data
    if len(datum) < _LONGEST_DONE and datum.strip() == "[DONE]":
        return {"type": "ping"}
    data = jsontext.loads(datum)
    if not isinstance(data, dict):
        raise ValueError("an event of the Messages API is a JSON object")
    return data


def _kind(data: Json, name: str | None) -> str:
    """The event's type; an error may come without one, and so may a whole answer."""
    kind = text(data.get("type"))
    if name == "error" or data.get("error"):
        return "error"
    if kind:
        return kind
    if isinstance(data.get("content"), list) and text(data.get("role")):
        return "message"
    return name or ("error" if any(data.get(key) for key in _ERROR_KEYS) else "")


def _index(event: Json | wire.BlockStart | wire.BlockDelta) -> object:
    """What a block is addressed by; None, or anything that is no number, means the latest one."""
    return count(event.get("index"))


def _say_usage(raw: object, out: Emitter, *, partial: bool) -> None:
    usage, told = obj(raw), dict[str, float | None]()
    for name, ours in _COUNTS:
        value = usage.get(name)
        if type(value) is int and 0 <= value < 2**53:
            told[ours] = value
    if "cache_creation" in usage:
        lasting = obj(usage["cache_creation"])
        split = [count(value) for value in lasting.values()]
        if any(split):
            told.setdefault("tokens_cache_write", sum(value for value in split if value is not None))
        told["tokens_cache_write_1h"] = count(lasting.get("ephemeral_1h_input_tokens"))
    if "output_tokens_details" in usage:
        told["tokens_out_reasoning"] = count(obj(usage["output_tokens_details"]).get("thinking_tokens"))
    if "cost" in usage:
        told["cost_cents"] = _cents(usage["cost"])
    out.usage(partial=partial, **told)


def _cents(dollars: object) -> float | None:
    """An aggregator's price in US cents."""
    if not isinstance(dollars, float) or not math.isfinite(dollars):
        return None
    return round(dollars * 100, 4)
