"""What a vendor signed goes back to it unchanged, through an OpenAI client that knows nothing of it: two turns
of a tool loop with the official package, streamed and whole.
"""

import openai
import pytest

from fakes.serving import KEY, serving, vendor_row
from fakes.upstream import DONE, SSE_HEAD, Upstream, chat_chunk, event

USER = [{"role": "user", "content": "What time is it?"}]
TOOLS = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]
SIGNATURE = "c2lnbmF0dXJl"
DETAILS = [
    {
        "type": "reasoning.text",
        "text": "hm",
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


def block(index, start, *deltas):
    yield event({"type": "content_block_start", "index": index, "content_block": start})
    for delta in deltas:
        yield event({"type": "content_block_delta", "index": index, "delta": delta})
    yield event({"type": "content_block_stop", "index": index})


def messages_stream():
    start = {
        "id": "msg_1",
        "role": "assistant",
        "model": "m",
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
    yield event({"type": "message_start", "message": start})
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    yield from block(
        0,
        thought,
        {"type": "thinking_delta", "thinking": "let me "},
        {"type": "thinking_delta", "thinking": "see"},
        {"type": "signature_delta", "signature": SIGNATURE},
    )
    yield from block(1, {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="})
    tool = {"type": "tool_use", "id": "toolu_1", "name": "get_time", "input": {}}
    yield from block(2, tool, {"type": "input_json_delta", "partial_json": "{}"})
    yield event(
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}
    )
    yield event({"type": "message_stop"})


def generate_stream():
    call = {"functionCall": {"name": "get_time", "args": {}}, "thoughtSignature": SIGNATURE}
    thought = {"text": "let me see", "thought": True}
    for parts, finish in (([thought], {}), ([call], {"finishReason": "STOP"})):
        yield event({"candidates": [{"content": {"role": "model", "parts": parts}, **finish}]})


def router_stream():
    yield chat_chunk({"role": "assistant", "reasoning": "hm", "reasoning_details": DETAILS[:1]})
    yield chat_chunk({"reasoning_details": DETAILS[1:]})
    function = {"name": "get_time", "arguments": "{}"}
    yield chat_chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    yield chat_chunk({}, "tool_calls")
    yield DONE


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def client(tmp_path_factory, upstream):
    host = upstream.base_url.removesuffix("/v1")
    toml = (
        vendor_row(host, "signed", "anthropic-messages")
        + vendor_row(host, "thoughts", "gemini-generate")
        + f'[vendors.openrouter]\nbase_url = "{upstream.base_url}"\nkey = "sk-x"\n'
    )
    with (
        serving(tmp_path_factory.mktemp("home"), toml) as url,
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0) as made,
    ):
        yield made


def second_turn(client, upstream, model, script, streamed):
    """The body of the request that carries the first answer back."""
    upstream.forget()
    upstream.play(SSE_HEAD, *script)
    asked = {"model": model, "messages": USER, "tools": TOOLS, "reasoning_effort": "high"}
    if streamed:
        with client.chat.completions.stream(**asked) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(**asked).choices[0].message
    (call,) = message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "12:00"}
    client.chat.completions.create(**asked | {"messages": [*USER, message.to_dict(), result]})
    return upstream.received[1].json


@pytest.mark.parametrize("streamed", [True, False])
def test_signed_and_redacted_blocks_go_back_in_order_before_the_call(client, upstream, streamed):
    body = second_turn(client, upstream, "signed/claude-sonnet-4-5", messages_stream(), streamed)
    assert body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "let me see", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        {"type": "tool_use", "id": "toolu_1", "name": "get_time", "input": {}},
    ]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "toolu_1"


@pytest.mark.parametrize("streamed", [True, False])
def test_a_thought_signature_goes_back_on_its_own_call(client, upstream, streamed):
    body = second_turn(client, upstream, "thoughts/gemini-3-pro", generate_stream(), streamed)
    (part,) = [part for part in body["contents"][1]["parts"] if "functionCall" in part]
    assert part["thoughtSignature"] == SIGNATURE


@pytest.mark.parametrize("streamed", [True, False])
def test_an_aggregators_details_go_back_as_they_came(client, upstream, streamed):
    body = second_turn(client, upstream, "openrouter/any/model", router_stream(), streamed)
    assert body["messages"][1]["reasoning_details"] == DETAILS
