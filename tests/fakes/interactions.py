"""Streams and requests of the Interactions API, in a few words."""

import json
from typing import Any

from fakes.recordings import message, particles
from motes import particles as p
from motes.chat import ChatRequest
from motes.dialects.base import NO_TRAITS, Traits, UpstreamBody
from motes.dialects.gemini_interactions import DIALECT
from motes.fragments import Message
from motes.vendors.google import INTERACTIONS

ID = "v1_abc"
MODEL = "gemini-3-flash-preview"
RESEARCH = "deep-research-preview-04-2026"
AGENT = "antigravity-preview-09-2026"
USER = {"role": "user", "content": "hi"}
TOOL = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}


def event(kind: str, **members: Any) -> dict[str, Any]:
    return {"event_type": kind, **members}


def interaction(status: str = "completed", by: str = MODEL, **members: Any) -> dict[str, Any]:
    who = "agent" if by in (RESEARCH, AGENT) else "model"
    return {"id": ID, "object": "interaction", "status": status, who: by, **members}


def created(by: str = MODEL, **members: Any) -> dict[str, Any]:
    return event("interaction.created", interaction=interaction("in_progress", by, **members))


def status(word: str, **members: Any) -> dict[str, Any]:
    return event("interaction.status_update", interaction_id=ID, status=word, **members)


def completed(word: str = "completed", by: str = MODEL, **members: Any) -> dict[str, Any]:
    return event("interaction.completed", interaction=interaction(word, by, **members))


def start(index: int, type: str, **step: Any) -> dict[str, Any]:
    return event("step.start", index=index, step={"type": type, **step})


def piece(index: int, type: str, **delta: Any) -> dict[str, Any]:
    return event("step.delta", index=index, delta={"type": type, **delta})


def stop(index: int) -> dict[str, Any]:
    return event("step.stop", index=index)


def said(index: int, *words: str) -> list[dict[str, Any]]:
    return [start(index, "model_output"), *(piece(index, "text", text=word) for word in words), stop(index)]


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {e['event_type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def run(*events: dict[str, Any]) -> list[p.Particle]:
    return particles(DIALECT, [sse(*events)])


def read(*events: dict[str, Any]) -> Message:
    return message(run(*events))


def whole(body: Any) -> list[p.Particle]:
    return particles(DIALECT, [json.dumps(body).encode()])


def of(kind: type[p.Particle], out: list[p.Particle]) -> list[Any]:
    return [x for x in out if isinstance(x, kind)]


def end(out: list[p.Particle]) -> p.End:
    (last,) = of(p.End, out)
    assert out[-1] is last
    return last


def codes(out: list[p.Particle]) -> list[str]:
    return [x.code for x in of(p.Warn, out)]


def build(by: str = MODEL, traits: Traits = NO_TRAITS, **request: Any) -> UpstreamBody:
    asked = ChatRequest.model_validate({"messages": [USER], **request})
    assert INTERACTIONS.quirks is not None
    return DIALECT.body(asked, by, INTERACTIONS.quirks, traits)


def sent(by: str = MODEL, **request: Any) -> dict[str, Any]:
    return build(by, **request).json


def told(by: str = MODEL, **request: Any) -> str:
    return "\n".join(build(by, **request).warnings)
