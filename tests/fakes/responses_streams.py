"""Responses streams in the making, for tests: a few words for events, and readers of what comes out."""

import json
from typing import Any

from fakes.recordings import merged, message, particles
from motes import particles as p
from motes.dialects.openai_responses import DIALECT
from motes.fragments import Message
from motes.quirks import NO_QUIRKS, Quirks
from motes.vendors.responses_quirks import OPENAI, XAI

__all__ = ["NO_QUIRKS", "OPENAI", "XAI"]

Event = dict[str, Any]


def event(kind: str, **members: Any) -> Event:
    return {"type": f"response.{kind}", **members}


def response(status: str = "in_progress", **members: Any) -> Event:
    return {"id": "resp_1", "object": "response", "model": "m", "status": status, "output": []} | members


CREATED = event("created", response=response())


def completed(*output: Event, **members: Any) -> Event:
    return event("completed", response=response("completed", output=list(output), **members))


def incomplete(reason: Any, *output: Event) -> Event:
    members = {"incomplete_details": {"reason": reason}}
    return event("incomplete", response=response("incomplete", output=list(output), **members))


def failed(*output: Event, error: Any = None) -> Event:
    return event("failed", response=response("failed", output=list(output), error=error))


def added(item: Event, at: int = 0) -> Event:
    return event("output_item.added", output_index=at, item=item)


def done(item: Event, at: int = 0) -> Event:
    return event("output_item.done", output_index=at, item=item)


def step(kind: str, id: str, **members: Any) -> Event:
    return event(kind, item_id=id, output_index=0, **members)


def text(delta: str, id: str = "msg_1", at: int = 0, part: int = 0) -> Event:
    return event("output_text.delta", item_id=id, output_index=at, content_index=part, delta=delta)


def thought(delta: str, id: str = "rs_1", at: int = 0, part: int = 0) -> Event:
    return event("reasoning_summary_text.delta", item_id=id, output_index=at, summary_index=part, delta=delta)


def arguments(delta: str, id: str = "fc_1", at: int = 0) -> Event:
    return event("function_call_arguments.delta", item_id=id, output_index=at, delta=delta)


def msg(words: str = "", id: str = "msg_1", **members: Any) -> Event:
    content = [{"type": "output_text", "text": words, "annotations": []}] if words else []
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    } | members


def rs(*parts: str, id: str = "rs_1", **members: Any) -> Event:
    summary = [{"type": "summary_text", "text": part} for part in parts]
    return {"id": id, "type": "reasoning", "summary": summary} | members


def fc(given: Any = "", id: str = "fc_1", call_id: str = "call_1", name: str = "f", **members: Any) -> Event:
    head = {"id": id, "type": "function_call", "call_id": call_id, "name": name, "arguments": given}
    return head | members


def sse(*events: Any) -> bytes:
    data = (e if isinstance(e, str) else json.dumps(e) for e in events)
    return b"".join(f"data: {line}\n\n".encode() for line in data)


def run(*events: Any, quirks: Quirks = OPENAI) -> list[p.Particle]:
    return merged(particles(DIALECT, [sse(*events)], quirks))


def read(*events: Any, quirks: Quirks = OPENAI) -> Message:
    return message(run(*events, quirks=quirks))


def body(value: Any, quirks: Quirks = OPENAI) -> Message:
    return message(particles(DIALECT, [json.dumps(value).encode()], quirks))


def spoken(out: list[p.Particle]) -> list[p.Particle]:
    """Without the names, the counts and the end."""
    return [x for x in out if not isinstance(x, p.ModelName | p.ResponseId | p.Metrics | p.End)]


def calls(m: Message) -> list[tuple[str, str, str]]:
    return [(c.id, c.name, c.arguments) for c in m.tool_calls]


def codes(m: Message) -> list[str]:
    return [w.code for w in m.warnings]


def end(m: Message) -> p.End:
    assert m.end is not None
    return m.end
