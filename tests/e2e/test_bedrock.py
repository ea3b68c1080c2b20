"""Bedrock through the whole gateway, over real sockets: what is signed is what arrives, what it signed goes back."""

import json

import openai
import pytest

from fakes.converse import METADATA, START, closed, delta, opened, stopped
from fakes.eventstream import exception
from fakes.serving import KEY, serving
from fakes.sigv4 import expected_signature, signature_of
from fakes.upstream import Upstream, Yield, answer
from motes.executor.policy import Backoff, Policy

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nconnection: close\r\n\r\n"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
MODEL = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PAIR = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": "to/k+en=="}
TOOLS = [{"type": "function", "function": {"name": "get_tide", "parameters": {"type": "object"}}}]
USER = [{"role": "user", "content": "High tide?"}]
AGAIN = Policy(http=Backoff(3, 0.0), connection=Backoff(3, 0.0))
THINKS = (
    START,
    delta(0, reasoningContent={"text": "Need "}),
    delta(0, reasoningContent={"text": "the tide."}),
    delta(0, reasoningContent={"signature": "c2lnbmVk"}),
    closed(0),
    delta(1, reasoningContent={"redactedContent": "b3BhcXVl"}),
    closed(1),
    opened(2, toolUse={"toolUseId": "tooluse_1", "name": "get_tide"}),
    delta(2, toolUse={"input": '{"port": "Fa'}),
    delta(2, toolUse={"input": 'ro"}'}),
    closed(2),
    stopped("tool_use"),
    METADATA,
)
SAYS = (START, delta(0, text="At noon."), closed(0), stopped("end_turn"), METADATA)


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as running:
        yield running


@pytest.fixture
def client(upstream, tmp_path):
    upstream.forget()
    origin = upstream.base_url.removesuffix("/v1")
    with serving(tmp_path, "", AGAIN, BEDROCK_BASE_URL=origin, AWS_REGION="eu-west-1", **PAIR) as url:
        yield openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)


def script(*events):
    return [HEAD, *(step for event in events for step in (event, Yield()))]


def is_valid(upstream, request):
    url = f"http://127.0.0.1:{upstream.port}{request.path}"
    signed = expected_signature(request.method, url, request.headers, request.body, SECRET)
    return signature_of(request.headers) == signed


def test_the_request_that_arrives_is_the_one_that_was_signed(client, upstream):
    upstream.play(*script(*SAYS))
    stream = client.chat.completions.create(
        model=MODEL, messages=USER, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "At noon."
    assert chunks[-1].usage.total_tokens == 16
    (request,) = upstream.received
    assert request.path == "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    assert "/eu-west-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.headers["x-amz-security-token"] == "to/k+en=="
    assert request.headers["user-agent"].startswith("motes/")
    assert is_valid(upstream, request)


def test_an_exception_before_anything_was_said_is_tried_again_with_a_new_signature(client, upstream):
    upstream.play(*script(START, exception("throttlingException", {"message": "slow down"})))
    upstream.play(answer(503, {"message": "not now"}, x_amzn_errortype="ServiceUnavailableException"))
    upstream.play(*script(*SAYS))
    said = client.chat.completions.create(model=MODEL, messages=USER)
    assert said.choices[0].message.content == "At noon."
    assert [is_valid(upstream, request) for request in upstream.received] == [True] * 3


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_what_was_signed_goes_back_to_it_unchanged(client, upstream, streamed):
    upstream.play(*script(*THINKS))
    upstream.play(*script(*SAYS))
    turn = first_turn(client, streamed)
    history = [*USER, turn, {"role": "tool", "tool_call_id": "tooluse_1", "content": "12:00"}]
    said = client.chat.completions.create(
        model=MODEL, messages=history, tools=TOOLS, extra_body={"reasoning_effort": "low"}
    )
    assert said.choices[0].message.content == "At noon."
    body = json.loads(upstream.received[1].body)
    assert body["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Need the tide.", "signature": "c2lnbmVk"}}},
        {"reasoningContent": {"redactedContent": "b3BhcXVl"}},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "get_tide", "input": {"port": "Faro"}}},
    ]
    assert body["messages"][2]["content"] == [
        {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "12:00"}]}}
    ]
    assert body["additionalModelRequestFields"]["thinking"]["type"] == "enabled"


def first_turn(client, streamed):
    """The assistant's turn as a client keeps it that knows nothing of signatures but keeps what it got."""
    asked = {"model": MODEL, "messages": USER, "tools": TOOLS}
    if not streamed:
        return client.chat.completions.create(**asked).choices[0].message.model_dump(exclude_none=True)
    with client.chat.completions.stream(**asked) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion().choices[0].message.model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("status", "name", "text", "expected"),
    [
        (
            400,
            "ValidationException",
            "Input is too long for requested model.",
            (400, "context_length_exceeded"),
        ),
        (403, "AccessDeniedException", f"The key AKIDEXAMPLE {SECRET} may not", (502, "upstream_auth")),
        (400, "ServiceQuotaExceededException", "Too many models.", (429, "insufficient_quota")),
        (424, "ModelErrorException", "The model failed on it.", (502, "upstream_error")),
        (404, "ResourceNotFoundException", f"No such model. {SECRET}", (404, "model_not_found")),
    ],
)
def test_a_refusal_is_told_by_its_kind_and_without_the_keys(client, upstream, status, name, text, expected):
    upstream.play(
        answer(status, {"message": text}, x_amzn_errortype=f"{name}:http://x", x_amzn_requestid="req-1")
    )
    with pytest.raises(openai.APIStatusError) as refused:
        client.chat.completions.create(model=MODEL, messages=USER)
    error = refused.value.response.json()["error"]
    assert (refused.value.status_code, error["code"]) == expected
    assert error["motes"]["upstream_type"] == name
    assert error["motes"]["upstream_request_id"] == "req-1"
    assert SECRET not in refused.value.response.text
    assert "AKIDEXAMPLE" not in refused.value.response.text
    assert len(upstream.received) == 1
