"""The official `openai` package as the client, over real sockets, in lock-step: the vendor sends a piece only
after the client has confirmed the one before it, so nothing on the way can be holding anything back.
"""

import openai
import pytest

from fakes.serving import KEY, serving, vendor_row
from fakes.upstream import DONE, HELLO, SSE_HEAD, Gate, Reset, Sleep, Upstream, answer, chat_chunk, chat_usage
from motes.executor.policy import Backoff, Policy

USER = [{"role": "user", "content": "Hi"}]
TOOLS = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]
PIECES = ["One ", "two ", "thrée ", "四 ", "five."]
ARGUMENTS = ['{"ci', 'ty":"Zü', 'rich"}']
AGAIN = Policy(http=Backoff(2, 0.01), connection=Backoff(2, 0.01))


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def base_url(tmp_path_factory, upstream):
    with serving(tmp_path_factory.mktemp("home"), vendor_row(upstream.base_url)) as url:
        yield url


@pytest.fixture
def client(base_url, upstream):
    upstream.forget()
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=20) as made:
        yield made


def call_piece(index, arguments, **first):
    function = {"arguments": arguments} | ({"name": first.pop("name")} if "name" in first else {})
    return chat_chunk({"tool_calls": [{"index": index, "function": function, **first}]})


def play_text(upstream):
    script = [SSE_HEAD, chat_chunk({"role": "assistant", "content": ""})]
    for number, piece in enumerate(PIECES):
        script += [chat_chunk({"content": piece}), Gate(f"text {number}")]
    upstream.play(*script, chat_chunk({}, "stop"), chat_usage(5, 9), DONE)


def play_tools(upstream):
    script = [SSE_HEAD, chat_chunk({"role": "assistant", "content": None})]
    for call in (0, 1):
        script += [
            call_piece(call, "", id=f"call_{call}", type="function", name="get_time"),
            Gate(f"call {call}"),
        ]
        for number, piece in enumerate(ARGUMENTS):
            script += [call_piece(call, piece), Gate(f"arguments {call} {number}")]
    upstream.play(*script, chat_chunk({}, "tool_calls"), chat_usage(5, 9), DONE)


def confirm_calls(upstream, calls):
    """Open the gate after every piece that has been seen whole."""
    for index, call in calls.items():
        upstream.open(f"call {index}")
        for number in range(len(ARGUMENTS)):
            if call["arguments"] == "".join(ARGUMENTS[: number + 1]):
                upstream.open(f"arguments {index} {number}")


def test_text_streams_in_lock_step(client, upstream):
    play_text(upstream)
    seen, finishes, usage, roles = "", [], None, []
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model="fake/m", messages=USER, stream=True, stream_options=options
    ):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            seen += choice.delta.content or ""
            roles += [choice.delta.role] if choice.delta.role else []
            finishes += [choice.finish_reason] if choice.finish_reason else []
        for number in range(len(PIECES)):
            if seen == "".join(PIECES[: number + 1]):
                upstream.open(f"text {number}")
    assert seen == "".join(PIECES)
    assert (roles, finishes) == (["assistant"], ["stop"])
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (5, 9, 14)


def test_tool_calls_stream_in_lock_step(client, upstream):
    play_tools(upstream)
    calls, finish = {}, None
    for chunk in client.chat.completions.create(model="fake/m", messages=USER, tools=TOOLS, stream=True):
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            for piece in choice.delta.tool_calls or ():
                call = calls.setdefault(piece.index, {"ids": [], "names": [], "arguments": ""})
                call["ids"] += [piece.id] if piece.id else []
                call["names"] += [piece.function.name] if piece.function.name else []
                call["arguments"] += piece.function.arguments or ""
            confirm_calls(upstream, calls)
    arguments = "".join(ARGUMENTS)
    assert finish == "tool_calls"
    assert calls == {
        index: {"ids": [f"call_{index}"], "names": ["get_time"], "arguments": arguments} for index in (0, 1)
    }


def test_the_stream_helper_streams_text_in_lock_step(client, upstream):
    play_text(upstream)
    with client.chat.completions.stream(model="fake/m", messages=USER) as stream:
        for event in stream:
            if event.type == "content.delta":
                for number in range(len(PIECES)):
                    if event.snapshot == "".join(PIECES[: number + 1]):
                        upstream.open(f"text {number}")
        whole = stream.get_final_completion()
    assert whole.choices[0].message.content == "".join(PIECES)
    assert whole.choices[0].message.role == "assistant"
    assert whole.choices[0].finish_reason == "stop"


def test_the_stream_helper_streams_tools_in_lock_step(client, upstream):
    play_tools(upstream)
    with client.chat.completions.stream(model="fake/m", messages=USER, tools=TOOLS) as stream:
        for event in stream:
            if event.type == "chunk":
                calls = event.snapshot.choices[0].message.tool_calls or ()
                confirm_calls(
                    upstream, {i: {"arguments": call.function.arguments} for i, call in enumerate(calls)}
                )
        message = stream.get_final_completion().choices[0].message
    assert [call.id for call in message.tool_calls] == ["call_0", "call_1"]
    assert {call.function.name for call in message.tool_calls} == {"get_time"}
    assert {call.function.arguments for call in message.tool_calls} == {"".join(ARGUMENTS)}


def test_a_whole_answer_is_typed(client, upstream):
    upstream.play(*HELLO)
    whole = client.chat.completions.create(model="fake/m", messages=USER)
    assert whole.choices[0].message.content == "Hello there"
    assert whole.choices[0].message.tool_calls is None
    assert whole.usage.total_tokens == 7
    assert whole.id.startswith("chatcmpl-")


def test_a_whole_answer_with_tools_is_typed(client, upstream):
    call = call_piece(0, "{}", id="call_9", type="function", name="get_time")
    upstream.play(SSE_HEAD, call, chat_chunk({}, "stop"), DONE)
    choice = client.chat.completions.create(model="fake/m", messages=USER, tools=TOOLS).choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert choice.message.tool_calls[0].function.name == "get_time"


def test_two_turns_of_a_tool_loop_give_the_vendor_back_what_it_said(client, upstream):
    call = call_piece(0, '{"city":"Rome"}', id="call_9", type="function", name="get_time")
    upstream.play(SSE_HEAD, chat_chunk({"reasoning_content": "hm"}), call, chat_chunk({}, "tool_calls"), DONE)
    upstream.play(*HELLO)
    with client.chat.completions.stream(model="fake/m", messages=USER, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.reasoning_content == "hm"
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "12:00"}
    history = [*USER, message.to_dict(), result]
    told = client.chat.completions.create(model="fake/m", messages=history, tools=TOOLS)
    assert told.choices[0].message.content == "Hello there"
    sent = upstream.received[1].json["messages"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == "call_9"
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == '{"city":"Rome"}'


def test_a_cut_stream_raises_in_the_client(client, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "half"}), Sleep(0.05), Reset())
    with pytest.raises(openai.APIError, match="upstream"):
        list(client.chat.completions.create(model="fake/m", messages=USER, stream=True))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (401, openai.InternalServerError),
        (429, openai.RateLimitError),
        (503, openai.InternalServerError),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_an_early_error_is_the_packages_own_error(client, upstream, status, kind, stream):
    upstream.play(answer(status, {"error": {"message": "said"}}))
    with pytest.raises(kind) as caught:
        client.chat.completions.create(model="fake/m", messages=USER, stream=stream)
    assert caught.value.request_id
    assert caught.value.body["code"]


def test_a_wrong_key_and_an_unknown_model_are_the_packages_own_errors(client):
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="nobody/m", messages=USER)
    stranger = client.with_options(api_key="wrong")
    with pytest.raises(openai.AuthenticationError):
        stranger.models.list()


def test_models_are_listed_and_found(client):
    assert [model.id for model in client.models.list()] == ["fake/m"]
    assert client.models.retrieve("fake/m").owned_by == "fake"


async def test_the_asynchronous_client_reads_the_same(base_url, upstream):
    upstream.forget()
    upstream.play(*HELLO)
    async with openai.AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        stream = await client.chat.completions.create(model="fake/m", messages=USER, stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
    assert text == "Hello there"


def test_a_retry_is_the_gateways_and_the_client_sees_only_the_answer(tmp_path, upstream):
    upstream.forget()
    upstream.play(answer(503, {"error": {"message": "busy"}}))
    upstream.play(*HELLO)
    with (
        serving(tmp_path, vendor_row(upstream.base_url), policy=AGAIN) as url,
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0) as client,
    ):
        whole = client.chat.completions.create(model="fake/m", messages=USER)
    assert whole.choices[0].message.content == "Hello there"
    assert len(upstream.received) == 2
