"""Cohere and Ollama in their own protocols through the whole gateway, over real sockets, read by `openai`."""

import json
from pathlib import Path

import openai
import pytest

from fakes.serving import KEY, serving
from fakes.upstream import Upstream, Yield
from motes.executor.policy import Backoff, Policy

WIRE = Path(__file__).parents[1] / "wire"
AGAIN = Policy(http=Backoff(3, 0.0), connection=Backoff(3, 0.0))
USER = {"role": "user", "content": "How is the wind?"}
TOOLS = [{"type": "function", "function": {"name": "wind_at", "parameters": {"type": "object"}}}]
PNG = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture(scope="module")
def upstream():
    with Upstream() as running:
        yield running


@pytest.fixture
def client(upstream, tmp_path):
    upstream.forget()
    origin = upstream.base_url.removesuffix("/v1")
    toml = f'[vendors.cohere]\nbase_url = "{origin}"\nkey = "co-x"\n[vendors.ollama]\nbase_url = "{origin}"\n'
    with (
        serving(tmp_path, toml, AGAIN) as url,
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0) as opened,
    ):
        yield opened


def recorded(name):
    """A recording as an upstream plays it, a line at a time."""
    meta = json.loads((WIRE / name / "meta.json").read_text())
    head = f"HTTP/1.1 {meta['status']} Status\r\ncontent-type: {meta['content_type']}\r\nconnection: close\r\n\r\n"
    lines = (WIRE / name / "response.bin").read_bytes().splitlines(keepends=True)
    return [head.encode(), *(step for line in lines for step in (line, Yield()))]


def pieces(stream, name):
    return "".join(getattr(c.choices[0].delta, name, None) or "" for c in stream if c.choices)


def test_coheres_plan_is_shown_and_goes_back_as_the_plan_it_was(client, upstream):
    ask = {"model": "cohere/command-a-03-2025", "tools": TOOLS, "messages": [USER]}
    for name in ("cohere-tool-with-plan", "cohere-tool-with-plan", "cohere-tool-results-cited"):
        upstream.play(*recorded(f"cohere-chat/{name}"))
    assert pieces(client.chat.completions.create(**ask, stream=True), "reasoning_content") == (
        "I will ask for the wind."
    )
    answer = client.chat.completions.create(**ask)
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls"
    assert json.loads(message.tool_calls[0].function.arguments) == {"harbour": "Póvoa"}
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": '{"knots":12}'}
    ask["messages"] += [message.model_dump(exclude_none=True), result]
    cited = client.chat.completions.create(**ask)
    assert cited.choices[0].message.content == "Wind: 12 knots and falling."
    assert [d["document"] for d in cited.motes["documents"]] == ["wind_at_x:0"] * 3 + ["bulletin"]
    sent = upstream.received[-1]
    assert (sent.method, sent.path, sent.headers["authorization"]) == ("POST", "/v2/chat", "Bearer co-x")
    assert sent.json["messages"][1]["tool_plan"] == "I will ask for the wind."
    assert sent.json["messages"][2]["content"] == [{"type": "document", "document": {"data": {"knots": 12}}}]


def test_a_token_that_cohere_does_not_know_is_asked_with_once(client, upstream):
    upstream.play(*recorded("cohere-chat/cohere-invalid-token"))
    with pytest.raises(openai.InternalServerError) as failed:
        client.chat.completions.create(model="cohere/command-a-03-2025", messages=[USER])
    assert failed.value.status_code == 502
    assert failed.value.body["motes"]["kind"] == "authentication"
    assert len(upstream.received) == 1


def test_a_timeout_that_cohere_tells_before_anything_is_tried_again(client, upstream):
    upstream.play(*recorded("cohere-chat/cohere-timeout-at-once"))
    upstream.play(*recorded("cohere-chat/cohere-plain-text"))
    answer = client.chat.completions.create(model="cohere/command-a-03-2025", messages=[USER])
    assert answer.choices[0].message.content.startswith("The lamp of Cabo Raso")


def test_ollama_is_asked_in_its_own_protocol_by_who_wants_it(client, upstream):
    upstream.play(*recorded("ollama-chat/ollama-thinking"))
    shown = [{"type": "text", "text": "And this?"}, {"type": "image_url", "image_url": {"url": PNG}}]
    stream = client.chat.completions.create(
        model="ollama/qwen3:8b",
        messages=[{"role": "user", "content": shown}],
        stream=True,
        stream_options={"include_usage": True},
        extra_body={"motes": {"dialect": "ollama-chat"}, "num_ctx": 8192, "reasoning_effort": "high"},
    )
    chunks = list(stream)
    assert pieces(chunks, "reasoning_content") == "Tide tables first, then the moon."
    assert pieces(chunks, "content") == "High water is at 06:40."
    assert chunks[-1].usage.total_tokens == 74
    (sent,) = upstream.received
    assert (sent.path, sent.headers["accept"]) == ("/api/chat", "application/x-ndjson, application/json")
    assert "authorization" not in sent.headers
    assert sent.json == {
        "model": "qwen3:8b",
        "messages": [{"role": "user", "content": "And this?", "images": ["iVBORw0KGgo="]}],
        "think": True,
        "options": {"num_ctx": 8192},
        "stream": True,
    }


def test_ollama_speaks_the_compatible_protocol_unless_told_otherwise(client, upstream):
    upstream.play(*recorded("ollama-chat/ollama-no-such-model"))
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="ollama/barquinho", messages=[USER])
    assert upstream.received[0].path == "/v1/chat/completions"


def test_an_image_by_its_address_is_refused_before_ollama_is_asked(client, upstream):
    shown = [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model="ollama/llava",
            messages=[{"role": "user", "content": shown}],
            extra_body={"motes": {"dialect": "ollama-chat"}},
        )
    assert "data URL" in refused.value.message
    assert upstream.received == []
