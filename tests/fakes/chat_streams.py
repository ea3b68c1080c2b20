"""Chat-completions streams in the making, for tests: a few words for chunks, and readers of what comes out."""

import json
from collections.abc import Iterable
from typing import Any

from fakes.recordings import merged, message, particles
from motes import particles as p
from motes.dialects.openai_chat import DIALECT
from motes.fragments import Message
from motes.quirks import NO_QUIRKS, Quirks

DONE = "[DONE]"


def chunk(delta: Any = None, finish: Any = None, **members: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"id": "r1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]} | members


def call(index: int | None, name: Any = None, arguments: Any = None, **members: Any) -> dict[str, Any]:
    """A delta with one piece of a call."""
    function = {k: v for k, v in {"name": name, "arguments": arguments}.items() if v is not None}
    place = {} if index is None else {"index": index}
    return {"tool_calls": [{**place, "function": function, **members}]}


def sse(*events: Any) -> bytes:
    return b"".join(
        b"data: " + (e if isinstance(e, str) else json.dumps(e)).encode() + b"\n\n" for e in events
    )


def run(*events: Any, quirks: Quirks = NO_QUIRKS) -> list[p.Particle]:
    return merged(particles(DIALECT, [sse(*events)], quirks))


def read(*events: Any, quirks: Quirks = NO_QUIRKS) -> Message:
    return message(run(*events, quirks=quirks))


def body(value: Any, quirks: Quirks = NO_QUIRKS) -> Message:
    return message(particles(DIALECT, [json.dumps(value).encode()], quirks))


def completion(members: dict[str, Any], finish: Any = "stop", **top: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **members}, "finish_reason": finish}
    return {"id": "r1", "object": "chat.completion", "model": "m", "choices": [choice]} | top


def spoken(out: Iterable[p.Particle]) -> list[p.Particle]:
    """Without the names and the end."""
    return [x for x in out if not isinstance(x, p.ModelName | p.ResponseId | p.End | p.Warn | p.Metrics)]


def calls(m: Message) -> list[tuple[str, str, str]]:
    return [(c.id, c.name, c.arguments) for c in m.tool_calls]


def stop(m: Message) -> Any:
    assert m.end is not None
    return m.end.stop


def codes(m: Message) -> list[str]:
    return [w.code for w in m.warnings]


FINISHED = chunk(finish="stop")
CALLED = chunk(finish="tool_calls")
