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
OWN = {
    "reasoning_details": [
        {
            "type": "reasoning.text",
            "text": "r1",
            "signature": "s1",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "x1", "format": "google-gemini-v1", "id": "a", "index": 0},
    ],
    "annotations": [{"type": "file", "file": {"hash": "h"}}],
}
RUNS = {
    "answer": ANSWER,
    "tools": TOOLS,
    "refusal": (p.Refusal("no"), p.Refusal(" way"), p.End("done-dialect", "filter-refusal")),
    "filtered": (p.Text("a"), p.End("done-dialect", "filter-content")),
    "nothing": (END,),
    "plan": (p.Reasoning("r"), p.Reasoning("I will", "plan"), p.ToolCall("a", "f", "{}"), END),
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
    "the vendor's own details": (
        p.Reasoning("r1"),
        p.ReasoningSignature("s1"),
        p.ReasoningRedacted("x1"),
        p.Text("t"),
        p.ToolCall("a", "f", "{}"),
        GEMINI,
        p.VendorState("openrouter", OWN),
        END,
    ),
    "garbage in a state": (
        p.Reasoning("r1"),
        p.ReasoningSignature("s1"),
        p.VendorState("openrouter", {"reasoning_details": 3, "annotations": [1, None]}),
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


@pytest.mark.parametrize("format", ["anthropic-claude-v1", "unknown"])
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "both", "none", "think-tags"])
@pytest.mark.parametrize("name", RUNS)
def test_stream_and_whole_answer_have_the_same_content(name, field, format):
    reply = replace(REPLY, include_usage=True, reasoning_field=field, signature_format=format)
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
    signed = [call.get("extra_content") for call in streamed["message"].get("tool_calls") or ()]
    assert signed == [call.get("extra_content") for call in message.get("tool_calls", ())]
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


def test_details_in_the_vendors_own_form_go_through_as_they_are_but_for_their_index():
    reply = replace(REPLY, signature_format="unknown")
    details = whole(RUNS["the vendor's own details"], reply)["choices"][0]["message"]["reasoning_details"]
    signature, *own = details
    assert (signature["data"], signature["id"]) == ("sig-g", "a")
    assert [row | {"index": 0} for row in own] == OWN["reasoning_details"]
    assert [row["index"] for row in details] == [0, 1, 2]


def test_signatures_without_a_form_of_the_vendors_own_are_told_at_the_end():
    reply = replace(REPLY, signature_format="unknown")
    (detail,) = whole(RUNS["garbage in a state"], reply)["choices"][0]["message"]["reasoning_details"]
    assert (detail["text"], detail["signature"], detail["format"]) == ("r1", "s1", "unknown")


def test_content_is_null_only_with_tool_calls_and_no_text():
    assert whole(TOOLS)["choices"][0]["message"]["content"] is None
    assert whole((END,))["choices"][0]["message"]["content"] == ""
    assert whole((p.Text("a"), *TOOLS))["choices"][0]["message"]["content"] == "a"


def test_tool_calls_are_absent_when_there_are_none_and_refusal_is_null():
    message = whole((p.Text("a"), END))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "a", "refusal": None}


def test_usage_is_the_same_as_in_the_stream():
    assert whole(ANSWER)["usage"]["total_tokens"] == 22
    estimate = p.Metrics(tokens_in=25, tokens_out=1, source="estimated")
    told = whole((p.RetryReset("srv-op", "none", "busy", 1, 3, 5), p.Text("abcd"), estimate, END))
    assert told["usage"] == {"prompt_tokens": 25, "completion_tokens": 1, "total_tokens": 26}
    assert (told["motes"]["usage_source"], told["motes"]["attempts"]) == ("estimated", 2)


def test_a_calls_thought_signature_is_where_googles_own_endpoint_puts_it():
    (call,) = whole(RUNS["signed call"])["choices"][0]["message"]["tool_calls"]
    assert call["extra_content"] == {"google": {"thought_signature": "sig-g"}}
    assert whole(TOOLS)["choices"][0]["message"]["tool_calls"][0].keys() == {"id", "type", "function"}
