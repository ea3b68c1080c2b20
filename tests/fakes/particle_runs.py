"""Runs of particles for the egress, and what a client makes of the bytes."""

import json

from motes import particles as p
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.reply import Reply

REPLY = Reply(
    id="chatcmpl-1",
    created=1_790_000_000,
    model="fast",
    vendor="anthropic",
    upstream_model="m-1",
    signature_format="anthropic-claude-v1",
)
END = p.End("done-dialect", "ok", None, "end_turn")
CLOSED = p.End("done-dispatch-closed")
ANSWER = (
    p.Heartbeat(),
    p.ModelName("m-1-2026"),
    p.Metrics(tokens_in=10, tokens_cache_read=5),
    p.Reasoning("let me "),
    p.Reasoning("see"),
    p.ReasoningSignature("sig"),
    p.Text(""),
    p.Text("Hello"),
    p.Operation("op", "searching", "search-web"),
    p.Text(" wörld"),
    p.Citation("A", "http://a", start=0, end=5),
    p.Image("image/png", "aaaa"),
    p.Metrics(tokens_in=10, tokens_cache_read=5, tokens_out=7, tokens_out_reasoning=3),
    END,
)
TOOLS = (
    p.ToolCall("a", "f", '{"x":'),
    p.ToolCall("b", "g"),
    p.ToolCallArguments("{}"),
    p.ToolCallArguments("1}", "a"),
    p.End("done-dialect", "ok-tool_invocations", None, "tool_use"),
)


def stream_of(particles, reply=REPLY):
    """The bytes of a whole stream."""
    encoder = ChunkEncoder(reply)
    return b"".join(encoder.encode(particle) for particle in particles)


def events_of(raw):
    """The data of every event, parsed; `[DONE]` as it is."""
    blocks = raw.decode("utf-8").split("\n\n")[:-1]
    data = [block.removeprefix("data: ") for block in blocks]
    return [item if item == "[DONE]" else json.loads(item) for item in data]


def chunks_of(raw):
    """The chunks, without errors and `[DONE]`."""
    return [event for event in events_of(raw) if event != "[DONE]" and "error" not in event]


def deltas_of(raw):
    """The delta of every chunk that has one."""
    return [chunk["choices"][0]["delta"] for chunk in chunks_of(raw) if chunk["choices"]]
