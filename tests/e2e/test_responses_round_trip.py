"""Through an OpenAI client that speaks chat completions only: models that live on the Responses API alone, and
two turns of a tool loop that carry encrypted reasoning and phases back.
"""

import openai
import pytest

from fakes.responses_streams import (
    added,
    arguments,
    completed,
    done,
    event,
    fc,
    msg,
    response,
    rs,
    text,
    thought,
)
from fakes.serving import KEY, serving
from fakes.upstream import SSE_HEAD, Upstream
from fakes.upstream import event as sse

USER = [{"role": "user", "content": "What time is it?"}]
TOOLS = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]


def script():
    reasoning = rs("hm", encrypted_content="EC")
    spoken = msg("I will look.", phase="commentary")
    call = fc("{}", name="get_time")
    yield event("created", response=response())
    yield added(rs())
    yield thought("hm")
    yield done(reasoning)
    yield added(msg(phase="commentary"), 1)
    yield text("I will look.", at=1)
    yield done(spoken, 1)
    yield added(fc(name="get_time"), 2)
    yield arguments("{}", at=2)
    yield done(call, 2)
    yield completed(reasoning, spoken, call)


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def client(tmp_path_factory, upstream):
    toml = "".join(
        f'[vendors.{name}]\nbase_url = "{upstream.base_url}"\nkey = "sk-x"\n' for name in ("openai", "xai")
    )
    with (
        serving(tmp_path_factory.mktemp("home"), toml) as url,
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0) as made,
    ):
        yield made


def second_turn(client, upstream, asked, streamed):
    """The body of the request that carries the first answer back."""
    upstream.forget()
    upstream.play(SSE_HEAD, *(sse(item) for item in script()))
    asked = {"messages": USER, "tools": TOOLS, "reasoning_effort": "high", **asked}
    if streamed:
        with client.chat.completions.stream(**asked) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(**asked).choices[0].message
    (call,) = message.tool_calls
    assert (message.content, call.function.arguments) == ("I will look.", "{}")
    result = {"role": "tool", "tool_call_id": call.id, "content": "12:00"}
    client.chat.completions.create(**asked | {"messages": [*USER, message.to_dict(), result]})
    assert [request.path for request in upstream.received] == ["/v1/responses"] * 2
    return upstream.received[1].json["input"]


@pytest.mark.parametrize("streamed", [True, False])
def test_reasoning_and_phase_go_back_before_the_call(client, upstream, streamed):
    spoken = [{"type": "output_text", "text": "I will look."}]
    assert second_turn(client, upstream, {"model": "openai/gpt-5.4-pro"}, streamed)[1:] == [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "EC"},
        {"type": "message", "role": "assistant", "content": spoken, "phase": "commentary"},
        {"type": "function_call", "call_id": "call_1", "name": "get_time", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "12:00"},
    ]


@pytest.mark.parametrize("streamed", [True, False])
def test_the_caller_may_ask_for_this_surface_himself(client, upstream, streamed):
    asked = {"model": "xai/grok-4.7", "extra_body": {"motes": {"dialect": "openai-responses"}}}
    kinds = [item["type"] for item in second_turn(client, upstream, asked, streamed)]
    assert kinds == ["message", "reasoning", "message", "function_call", "function_call_output"]
