"""The Messages API's events, built by hand, and one attempt fed with them."""

import itertools
import json
from typing import Any

from fakes.recordings import message
from fakes.recordings import particles as fed
from motes import particles as p
from motes.dialects.anthropic_messages import DIALECT
from motes.fragments import Message
from motes.pump import Pump
from motes.quirks import NO_QUIRKS, Quirks
from motes.transmitter import Transmitter


def sse(*events: dict[str, Any], names: bool = True) -> bytes:
    lines = [(f"event: {e.get('type')}\n" if names else "") + f"data: {json.dumps(e)}\n\n" for e in events]
    return "".join(lines).encode()


def start(**message_fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": []}
    return {"type": "message_start", "message": {**base, "usage": usage, **message_fields}}


def block(index: int, *deltas: dict[str, Any], stop: bool = True, **fields: Any) -> list[dict[str, Any]]:
    events = [{"type": "content_block_start", "index": index, "content_block": fields}]
    events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [*events, *([{"type": "content_block_stop", "index": index}] if stop else [])]


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, *deltas, type="text", text="")


def tool(index: int, *pieces: str, **fields: Any) -> list[dict[str, Any]]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, *deltas, **({"type": "tool_use", "id": "t1", "name": "f", "input": {}} | fields))


def end(reason: str | None = "end_turn", usage: Any = None, **delta: Any) -> list[dict[str, Any]]:
    stop = {"type": "message_delta", "delta": {"stop_reason": reason, **delta}}
    return [stop | ({"usage": usage} if usage is not None else {}), {"type": "message_stop"}]


def pumped(body: bytes, quirks: Quirks = NO_QUIRKS) -> tuple[list[p.Particle], Any]:
    """The particles of one attempt, and its verdict as it is."""
    numbers = itertools.count(1)
    pump = Pump(
        DIALECT.demuxer(1 << 20), DIALECT.parser(quirks), Transmitter(lambda: f"made_{next(numbers)}")
    )
    return [*pump.feed(body), *pump.close()], pump.verdict


def said(*events: Any) -> list[p.Particle]:
    """The particles of a stream that begins and ends in good order, without those every stream has."""
    flat = [e for item in events for e in (item if isinstance(item, list) else [item])]
    out, _ = pumped(sse(start(), *flat, *end()))
    return [x for x in out if not isinstance(x, p.ModelName | p.ResponseId | p.Metrics)]


def answer(*events: Any) -> Message:
    """The message such a stream comes to."""
    flat = [e for item in events for e in (item if isinstance(item, list) else [item])]
    return message(fed(DIALECT, [sse(start(), *flat, *end())]))


def codes(particles: list[p.Particle]) -> list[str]:
    return [x.code for x in particles if isinstance(x, p.Warn)]


def last_metrics(particles: list[p.Particle]) -> p.Metrics:
    return [x for x in particles if isinstance(x, p.Metrics)][-1]
