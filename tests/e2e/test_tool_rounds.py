"""What a client puts together of a stream with tool calls is a history that every house takes back as it was.

The first turn is a recording of each dialect, written as OpenAI chunks and put together as a client does; the
second turn is the request made of it.
"""

import json
from typing import Any, get_args

import pytest

from fakes.joined_chunks import joined
from fakes.recordings import WIRE, load, particles
from motes.dialects.base import NO_TRAITS, DialectName
from motes.dialects.registry import resolve
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.reply import Reply, signature_format
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS

RECORDED: dict[DialectName, tuple[str, str]] = {
    "openai-chat": ("openai-parallel-tools", "m"),
    "openai-responses": ("openai-reasoning-tools", "m"),
    "anthropic-messages": ("anthropic-parallel-tools", "m"),
    "gemini-generate": ("gemini-parallel-calls", "m"),
    "gemini-interactions": ("gemini-function-calls", "m"),
    "bedrock-converse": ("bedrock-parallel-tools", "m"),
    "bedrock-invoke": ("claude-parallel-tools", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "cohere-chat": ("cohere-parallel-tools", "m"),
    "ollama-chat": ("ollama-parallel-tools", "m"),
}
USER = {"role": "user", "content": "When can we sail?"}


def turn_of(dialect: DialectName) -> dict[str, Any]:
    """The assistant's turn, as a client keeps it."""
    recording = load(WIRE / dialect / RECORDED[dialect][0])
    reply = Reply(
        id="chatcmpl-1",
        created=1,
        model="asked",
        vendor="vendor",
        upstream_model="model",
        signature_format=signature_format(dialect),
    )
    encoder = ChunkEncoder(reply)
    run = particles(recording.dialect, [recording.body], recording.quirks)
    whole = joined(encoder.open() + b"".join(map(encoder.encode, run)))
    assert whole["finish_reason"] == "tool_calls"
    turn: dict[str, Any] = whole["message"]
    return turn


def values_in(value: Any) -> list[Any]:
    """Every value of a body in its order, JSON in a text among them."""
    if isinstance(value, dict):
        return [value, *(inner for member in value.values() for inner in values_in(member))]
    if isinstance(value, list):
        return [inner for member in value for inner in values_in(member)]
    if isinstance(value, str) and value[:1] == "{":
        return [value, json.loads(value)]
    return [value]


@pytest.mark.parametrize("dialect", get_args(DialectName))
def test_a_streamed_turn_with_calls_goes_back_whole(dialect: DialectName) -> None:
    turn = turn_of(dialect)
    calls = turn["tool_calls"]
    assert all(call["id"] and call["type"] == "function" and call["function"]["name"] for call in calls)
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": f"result {at}"}
        for at, call in enumerate(calls)
    ]
    names = dict.fromkeys(call["function"]["name"] for call in calls)
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    request = parse_request({"messages": [USER, turn, *results, USER], "tools": tools})
    body = resolve(dialect).body(request, RECORDED[dialect][1], NO_QUIRKS, NO_TRAITS)
    assert body.warnings == ()
    history = next(body.json[name] for name in ("messages", "contents", "input") if name in body.json)
    said = values_in(history)
    for at, call in enumerate(calls):
        assert said.count(call["function"]["name"]) >= 1
        assert json.loads(call["function"]["arguments"]) in said
        assert [value for value in said if value == f"result {at}"] == [f"result {at}"]
        assert said.index(call["function"]["name"]) < said.index(f"result {at}")
    order = [value for value in said if isinstance(value, str) and value.startswith("result ")]
    assert order == [f"result {at}" for at in range(len(calls))]
