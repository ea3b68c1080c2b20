"""A tool loop with reasoning over plain chat completions, with the official package, streamed and whole.

The upstreams are as strict as the vendors: a second turn that does not bring back what was signed, encrypted or
thought is answered with 400, and the loop breaks.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest

from fakes import interactions as gi
from fakes import responses_streams as rs
from fakes.serving import KEY, serving, vendor_row
from fakes.upstream import DONE, SSE_HEAD, Upstream, answer, chat_chunk, event

USER = [{"role": "user", "content": "What time is it?"}]
TOOLS = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]
SIGNATURE = "c2lnbmF0dXJl"
DETAILS = [
    {
        "type": "reasoning.text",
        "text": "let me see",
        "signature": SIGNATURE,
        "format": "anthropic-claude-v1",
        "index": 0,
    },
    {
        "type": "reasoning.encrypted",
        "data": "eHk=",
        "format": "openai-responses-v1",
        "id": "rs_1",
        "index": 1,
    },
]


@dataclass(frozen=True)
class Loop:
    """One vendor: what it thinks and calls, what it wants back, and what it says then."""

    model: str
    first: Iterable[bytes]
    accepts: Callable[[Any], bool]
    last: Iterable[bytes]
    asked: dict[str, Any] = field(default_factory=dict)


# Anthropic


def block(index, start, *deltas):
    yield event({"type": "content_block_start", "index": index, "content_block": start})
    for delta in deltas:
        yield event({"type": "content_block_delta", "index": index, "delta": delta})
    yield event({"type": "content_block_stop", "index": index})


def anthropic_message(stop, *blocks):
    usage = {"input_tokens": 3, "output_tokens": 1}
    start = {"id": "msg_1", "role": "assistant", "model": "m", "usage": usage}
    yield event({"type": "message_start", "message": start})
    for index, (begin, *deltas) in enumerate(blocks):
        yield from block(index, begin, *deltas)
    yield event({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}})
    yield event({"type": "message_stop"})


THOUGHT = (
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "let me "},
    {"type": "thinking_delta", "thinking": "see"},
    {"type": "signature_delta", "signature": SIGNATURE},
)
REDACTED = ({"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},)
USE = (
    {"type": "tool_use", "id": "toolu_1", "name": "get_time", "input": {}},
    {"type": "input_json_delta", "partial_json": "{}"},
)
SPOKEN = ({"type": "text", "text": ""}, {"type": "text_delta", "text": "Noon."})


def anthropic_accepts(body):
    """Thinking must come first and unchanged, and the result answers the call."""
    _, turn, result = body["messages"]
    return (
        turn["content"]
        == [
            {"type": "thinking", "thinking": "let me see", "signature": SIGNATURE},
            {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
            {"type": "tool_use", "id": "toolu_1", "name": "get_time", "input": {}},
        ]
        and result["content"][0]["tool_use_id"] == "toolu_1"
    )


# Google


def gemini_answer(*parts):
    for at, part in enumerate(parts):
        finish = {"finishReason": "STOP"} if at == len(parts) - 1 else {}
        yield event({"candidates": [{"content": {"role": "model", "parts": [part]}, **finish}]})


def gemini_accepts(body):
    """The first call of a step must have its signature; a second one in parallel must have none."""
    parts = [part for part in body["contents"][1]["parts"] if "functionCall" in part]
    return [part.get("thoughtSignature") for part in parts] == [SIGNATURE]


def interactions_first():
    yield gi.created()
    yield gi.start(0, "thought")
    yield gi.piece(0, "thought_signature", signature=SIGNATURE)
    yield gi.piece(0, "thought_summary", content={"type": "text", "text": "let me see"})
    yield gi.stop(0)
    yield gi.start(1, "function_call", id="call_1", name="get_time", arguments={})
    yield gi.stop(1)
    yield gi.completed("requires_action")


def interactions_accepts(body):
    """A thought goes back signed, before the call it led to."""
    steps = [step for step in body["input"] if step["type"] in ("thought", "function_call")]
    return [step["type"] for step in steps] == ["thought", "function_call"] and (
        steps[0]["signature"] == SIGNATURE
    )


# OpenAI's Responses API


def responses_first():
    spoken = rs.msg("I will look.", phase="commentary")
    call = rs.fc("{}", name="get_time")
    reasoning = rs.rs("let me see", encrypted_content="EC")
    yield rs.event("created", response=rs.response())
    yield rs.added(rs.rs())
    yield rs.thought("let me see")
    yield rs.done(reasoning)
    yield rs.added(rs.msg(phase="commentary"), 1)
    yield rs.text("I will look.", at=1)
    yield rs.done(spoken, 1)
    yield rs.added(rs.fc(name="get_time"), 2)
    yield rs.arguments("{}", at=2)
    yield rs.done(call, 2)
    yield rs.completed(reasoning, spoken, call)


def responses_last():
    spoken = rs.msg("Noon.", phase="final_answer")
    yield rs.event("created", response=rs.response())
    yield rs.added(rs.msg(phase="final_answer"))
    yield rs.text("Noon.")
    yield rs.done(spoken)
    yield rs.completed(spoken)


def responses_accepts(body):
    """A call must have the reasoning item it was thought of before it, encrypted, and the phase is kept."""
    items = body["input"][1:]
    said = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "EC"}
    kinds = ["reasoning", "message", "function_call", "function_call_output"]
    return (
        [item["type"] for item in items] == kinds and items[0] == said and items[1]["phase"] == "commentary"
    )


# DeepSeek and OpenRouter


def called():
    function = {"name": "get_time", "arguments": "{}"}
    return chat_chunk(
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
    )


def deepseek_accepts(body):
    """A turn with calls must have its reasoning, or the answer is 400."""
    turn = body["messages"][1]
    return turn["reasoning_content"] == "let me see" and turn["tool_calls"][0]["id"] == "call_1"


def openrouter_accepts(body):
    """The details as they were sent, in order."""
    return body["messages"][1].get("reasoning_details") == DETAILS


NOON = (chat_chunk({"role": "assistant", "content": "Noon."}), chat_chunk({}, "stop"), DONE)
CALLED = (called(), chat_chunk({}, "tool_calls"), DONE)
LOOPS = {
    "anthropic": Loop(
        "signed/claude-sonnet-4-5",
        tuple(anthropic_message("tool_use", THOUGHT, REDACTED, USE)),
        anthropic_accepts,
        tuple(anthropic_message("end_turn", SPOKEN)),
    ),
    "gemini": Loop(
        "thoughts/gemini-3-pro",
        tuple(
            gemini_answer(
                {"text": "let me see", "thought": True},
                {"functionCall": {"name": "get_time", "args": {}}, "thoughtSignature": SIGNATURE},
            )
        ),
        gemini_accepts,
        tuple(gemini_answer({"text": "Noon."})),
    ),
    "gemini interactions": Loop(
        "gemini/gemini-3-flash-preview",
        (gi.sse(*interactions_first()),),
        interactions_accepts,
        (gi.sse(gi.created(), *gi.said(0, "Noon."), gi.completed()),),
        {"extra_body": {"motes": {"dialect": "gemini-interactions"}}},
    ),
    "openai responses": Loop(
        "openai/gpt-5.4-pro",
        tuple(map(event, responses_first())),
        responses_accepts,
        tuple(map(event, responses_last())),
    ),
    "deepseek": Loop(
        "deepseek/deepseek-reasoner",
        (
            chat_chunk({"role": "assistant", "reasoning_content": "let me "}),
            chat_chunk({"reasoning_content": "see"}),
            *CALLED,
        ),
        deepseek_accepts,
        NOON,
    ),
    "openrouter": Loop(
        "openrouter/any/model",
        (
            chat_chunk({"role": "assistant", "reasoning": "let me see", "reasoning_details": DETAILS[:1]}),
            chat_chunk({"reasoning_details": DETAILS[1:]}),
            *CALLED,
        ),
        openrouter_accepts,
        NOON,
    ),
}


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def client(tmp_path_factory, upstream):
    host = upstream.base_url.removesuffix("/v1")
    toml = vendor_row(host, "signed", "anthropic-messages") + vendor_row(host, "thoughts", "gemini-generate")
    toml += f'[vendors.gemini]\nbase_url = "{host}"\nkey = "sk-x"\n'
    for name in ("openai", "deepseek", "openrouter"):
        toml += f'[vendors.{name}]\nbase_url = "{upstream.base_url}"\nkey = "sk-x"\n'
    with (
        serving(tmp_path_factory.mktemp("home"), toml) as url,
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0) as made,
    ):
        yield made


def said(client, asked, streamed):
    """The message of one turn."""
    if streamed:
        with client.chat.completions.stream(**asked) as stream:
            return stream.get_final_completion().choices[0].message
    return client.chat.completions.create(**asked).choices[0].message


def as_strict_as_its_vendor(loop):
    """The script of the second turn."""

    def judged(request):
        if loop.accepts(request.json):
            return SSE_HEAD + b"".join(loop.last)
        return answer(400, {"error": {"message": "what was thought did not come back as it was"}})

    return judged


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("name", LOOPS)
def test_the_loop_goes_on_with_what_was_thought(client, upstream, name, streamed):
    loop = LOOPS[name]
    upstream.forget()
    upstream.play(SSE_HEAD, *loop.first)
    upstream.play(as_strict_as_its_vendor(loop))
    asked = {"model": loop.model, "messages": USER, "tools": TOOLS, "reasoning_effort": "high", **loop.asked}
    first = said(client, asked, streamed)
    assert first.model_extra["reasoning_content"] == "let me see"
    (call,) = first.tool_calls
    assert (call.function.name, call.function.arguments) == ("get_time", "{}")
    result = {"role": "tool", "tool_call_id": call.id, "content": "12:00"}
    last = said(client, asked | {"messages": [*USER, first.to_dict(), result]}, streamed)
    assert last.content == "Noon."
    assert len(upstream.received) == 2


@pytest.mark.parametrize("name", LOOPS)
def test_the_upstreams_do_refuse_a_history_that_lost_its_reasoning(client, upstream, name):
    loop = LOOPS[name]
    upstream.forget()
    upstream.play(SSE_HEAD, *loop.first)
    upstream.play(as_strict_as_its_vendor(loop))
    asked = {"model": loop.model, "messages": USER, "tools": TOOLS, "reasoning_effort": "high", **loop.asked}
    (call,) = said(client, asked, False).tool_calls
    bare = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call.model_dump(include={"id", "type", "function"})],
    }
    result = {"role": "tool", "tool_call_id": call.id, "content": "12:00"}
    with pytest.raises(openai.BadRequestError):
        said(client, asked | {"messages": [*USER, bare, result]}, False)


@pytest.mark.parametrize("kept", ["reasoning_details", "extra_content"])
def test_geminis_signature_comes_back_by_either_way_a_client_keeps_of_a_stream(client, upstream, kept):
    loop = LOOPS["gemini"]
    upstream.forget()
    upstream.play(SSE_HEAD, *loop.first)
    upstream.play(as_strict_as_its_vendor(loop))
    asked = {"model": loop.model, "messages": USER, "tools": TOOLS, "reasoning_effort": "high"}
    message = said(client, asked, True).to_dict()
    if kept == "extra_content":
        del message["reasoning_details"]
    else:
        del message["tool_calls"][0]["extra_content"]
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "12:00"}
    assert said(client, asked | {"messages": [*USER, message, result]}, True).content == "Noon."
