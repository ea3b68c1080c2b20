"""Converse, both ways, for tests: events in and particles out, a caller's members in and a body out."""

import json
from collections.abc import Iterable
from typing import Any

from fakes.eventstream import event
from fakes.recordings import message, particles
from motes import particles as p
from motes.dialects.base import NO_TRAITS, Traits, UpstreamBody
from motes.dialects.bedrock_converse import DIALECT
from motes.fragments import Message
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS, Quirks

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "us.amazon.nova-pro-v1:0"
USER = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}

START = event("messageStart", {"role": "assistant"})
STOP = event("messageStop", {"stopReason": "end_turn"})
METADATA = event("metadata", {"usage": {"inputTokens": 7, "outputTokens": 9, "totalTokens": 16}})


def delta(index: Any, **held: Any) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": index, "delta": held})


def opened(index: Any, **held: Any) -> bytes:
    return event("contentBlockStart", {"contentBlockIndex": index, "start": held})


def closed(index: Any) -> bytes:
    return event("contentBlockStop", {"contentBlockIndex": index})


def stopped(reason: Any) -> bytes:
    return event("messageStop", {"stopReason": reason})


def said(*reads: bytes, quirks: Quirks = NO_QUIRKS) -> list[p.Particle]:
    """Every particle of one answer."""
    return particles(DIALECT, reads, quirks)


def whole(*reads: bytes) -> Message:
    return message(said(*reads))


def body(value: Any) -> list[p.Particle]:
    """Every particle of one whole body."""
    return said(json.dumps(value).encode())


def of(kind: type, run: Iterable[p.Particle]) -> list[Any]:
    return [particle for particle in run if isinstance(particle, kind)]


def build(model: str = CLAUDE, traits: Traits = NO_TRAITS, **members: Any) -> UpstreamBody:
    return DIALECT.body(parse_request({"messages": [USER], **members}), model, NO_QUIRKS, traits)


def sent(model: str = CLAUDE, **members: Any) -> dict[str, Any]:
    return build(model, **members).json


def turns(*raw: dict[str, Any], model: str = CLAUDE, **members: Any) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = sent(model, messages=list(raw), **members)["messages"]
    return out


def told(out: UpstreamBody) -> str:
    return "\n".join(out.warnings)


def call(*ids: str, name: str = "f", arguments: str = "{}", **members: Any) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **members}


def result(id: str, content: Any = "r", **members: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **members}
