"""The whole answer at once: the same content as the stream, as the official package reads it."""

from dataclasses import replace

import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from fakes.particle_runs import ANSWER, END, REPLY, TOOLS, chunks_of, stream_of
from motes import particles as p
from motes.egress.completion import completion
from motes.reassembly import Reassembler

GEMINI = p.VendorState("gemini", {"thoughtSignature": "sig-g"})
RUNS = {
    "answer": ANSWER,
    "tools": TOOLS,
    "refusal": (p.Refusal("no"), p.Refusal(" way"), p.End("done-dialect", "filter-refusal")),
    "filtered": (p.Text("a"), p.End("done-dialect", "filter-content")),
    "nothing": (END,),
    "signed call": (p.Reasoning("r"), p.ToolCall("a", "f", "{}"), GEMINI, p.Text("t"), GEMINI, END),
    "redacted": (
        p.Reasoning("r1"),
        p.ReasoningRedacted("x1"),
        p.ReasoningRedacted("x2"),
        p.Reasoning("r2"),
        p.ReasoningSignature("s2"),
        p.Reasoning("r3"),
        p.ReasoningSignature("s3"),
        p.Text("t"),
        END,
    ),
    "audio": (p.Audio("audio/wav", "QQ=="), p.Audio("audio/wav", "Qg=="), END),
}


def whole(particles, reply=REPLY):
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return completion(reassembler.finalize(), reply)


def accumulated(particles, reply):
    """What the package's `.stream()` helper makes of the chunks; it raises for what it cannot join."""
    state = ChatCompletionStreamState()
    for chunk in chunks_of(stream_of(particles, reply)):
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    return state.current_completion_snapshot.model_dump(exclude_unset=True)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "both", "none", "think-tags"])
@pytest.mark.parametrize("name", RUNS)
def test_stream_and_whole_answer_have_the_same_content(name, field):
    reply = replace(REPLY, include_usage=True, reasoning_field=field)
    streamed = accumulated(RUNS[name], reply)["choices"][0]
    told = whole(RUNS[name], reply)["choices"][0]
    assert streamed["finish_reason"] == told["finish_reason"]
    message = told["message"]
    for member in ("reasoning_content", "reasoning", "reasoning_details", "images", "annotations", "refusal"):
        assert streamed["message"].get(member) == message.get(member), member
    assert streamed["message"]["content"] == (message["content"] or "")
    calls = [
        (c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", ())
    ]
    assert calls == [
        (c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in streamed["message"].get("tool_calls") or ()
    ]


@pytest.mark.parametrize("name", RUNS)
def test_the_object_is_one_the_official_package_accepts_whole(name):
    told = whole(RUNS[name])
    ChatCompletion.model_validate(told, strict=True)
    assert told["object"] == "chat.completion"
    assert (told["id"], told["created"], told["model"]) == (REPLY.id, REPLY.created, REPLY.model)


def test_content_is_null_only_with_tool_calls_and_no_text():
    assert whole(TOOLS)["choices"][0]["message"]["content"] is None
    assert whole((END,))["choices"][0]["message"]["content"] == ""
    assert whole((p.Text("a"), *TOOLS))["choices"][0]["message"]["content"] == "a"


def test_tool_calls_are_absent_when_there_are_none_and_refusal_is_null():
    message = whole((p.Text("a"), END))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "a", "refusal": None}


def test_usage_is_always_there():
    assert whole((p.Text("abcd"), END))["usage"] == {
        "prompt_tokens": 25,
        "completion_tokens": 1,
        "total_tokens": 26,
    }
    assert whole(ANSWER)["usage"]["total_tokens"] == 22


def test_a_calls_thought_signature_is_where_googles_own_endpoint_puts_it():
    (call,) = whole(RUNS["signed call"])["choices"][0]["message"]["tool_calls"]
    assert call["extra_content"] == {"google": {"thought_signature": "sig-g"}}
    assert whole(TOOLS)["choices"][0]["message"]["tool_calls"][0].keys() == {"id", "type", "function"}
