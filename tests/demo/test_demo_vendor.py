"""The demo vendor over real sockets: each wire as its vendor writes it, read by clients that are not ours."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest

from motes.demo.rows import demo_rows
from motes.demo.scripts import SCRIPTS
from motes.demo.server import DemoServer

ASK = [{"role": "user", "content": "Who goes there?"}]
ANTHROPIC = {"anthropic-version": "2023-06-01"}


@pytest.fixture
async def vendor() -> AsyncIterator[DemoServer]:
    async with DemoServer(pace=0) as server:
        yield server


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


def chat(model: str, *, stream: bool = True, **members: Any) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}
    return {"model": model, "messages": ASK, "stream": stream, "tools": [tool], **members}


def messages(model: str, *, stream: bool = True) -> dict[str, Any]:
    tools = [{"name": "get_time", "input_schema": {"type": "object"}}]
    return {"model": model, "messages": ASK, "stream": stream, "max_tokens": 100, "tools": tools}


def contents(text: str = "Who goes there?") -> dict[str, Any]:
    tools = [{"functionDeclarations": [{"name": "get_time"}]}]
    return {"contents": [{"role": "user", "parts": [{"text": text}]}], "tools": tools}


def events(text: str) -> list[dict[str, Any]]:
    lines = text.replace("\r\n", "\n").split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


async def test_openais_own_client_reads_the_chat_stream(vendor: DemoServer) -> None:
    async with openai.AsyncOpenAI(api_key="none", base_url=vendor.base_urls["demo"]) as client:
        stream = await client.chat.completions.create(**chat("hello", stream_options={"include_usage": True}))
        chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert "Who goes there?" in text
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "tool_calls"
    assert chunks[-1].usage.completion_tokens_details.reasoning_tokens > 0
    assert len({c.id for c in chunks}) == 1


async def test_streamed_and_whole_answers_say_the_same(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    url = vendor.base_urls["demo"] + "/chat/completions"
    streamed = events((await http.post(url, json=chat("hello"))).text)
    whole = (await http.post(url, json=chat("hello", stream=False))).json()["choices"][0]["message"]
    deltas = [e["choices"][0]["delta"] for e in streamed]
    assert "".join(d.get("content") or "" for d in deltas) == whole["content"]
    assert "".join(d.get("reasoning_content") or "" for d in deltas) == whole["reasoning_content"]
    calls = [piece for d in deltas for piece in d.get("tool_calls", [])]
    assert (
        "".join(c["function"]["arguments"] for c in calls) == whole["tool_calls"][0]["function"]["arguments"]
    )
    assert [a for d in deltas for a in d.get("annotations", [])] == whole["annotations"]
    url_citation = whole["annotations"][0]["url_citation"]
    cited = whole["content"][url_citation["start_index"] : url_citation["end_index"]]
    assert cited.startswith("A mote is")
    assert cited.endswith("beam of light.")


async def test_usage_is_told_only_where_it_was_asked_for(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    answer = await http.post(vendor.base_urls["demo"] + "/chat/completions", json=chat("echo"))
    assert all("usage" not in event for event in events(answer.text))


async def test_messages_blocks_open_and_close_in_order(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    url = vendor.base_urls["demo-anthropic"] + "/messages"
    stream = events((await http.post(url, json=messages("hello"), headers=ANTHROPIC)).text)
    assert [stream[0]["type"], stream[-2]["type"], stream[-1]["type"]] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    opened = [(e["index"], e["content_block"]["type"]) for e in stream if e["type"] == "content_block_start"]
    closed = [e["index"] for e in stream if e["type"] == "content_block_stop"]
    assert [index for index, _ in opened] == closed == list(range(len(opened)))
    kinds = [kind for _, kind in opened]
    assert kinds == [
        "thinking",
        "server_tool_use",
        "web_search_tool_result",
        "text",
        "text",
        "text",
        "tool_use",
    ]
    whole = (await http.post(url, json=messages("hello", stream=False), headers=ANTHROPIC)).json()
    assert [block["type"] for block in whole["content"]] == kinds
    assert whole["content"][-1]["input"] == {"city": "Zürich", "format": "24h"}
    assert whole["stop_reason"] == stream[-2]["delta"]["stop_reason"] == "tool_use"


async def test_gemini_streams_events_or_one_array(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    url = vendor.base_urls["demo-gemini"] + "/models/hello:"
    sse = await http.post(url + "streamGenerateContent?alt=sse", json=contents())
    array = await http.post(url + "streamGenerateContent", json=contents())
    whole = await http.post(url + "generateContent", json=contents())
    assert sse.headers["content-type"] == "text/event-stream"
    assert b"\r\n\r\n" in sse.content
    assert len(events(sse.text)) == len(array.json())

    def answer(responses: list[dict[str, Any]]) -> tuple[str, list[Any]]:
        parts = [part for r in responses for part in r["candidates"][0]["content"]["parts"]]
        text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
        return text, [part["functionCall"] for part in parts if "functionCall" in part]

    assert answer(events(sse.text)) == answer(array.json()) == answer([whole.json()])
    assert events(sse.text)[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize("wire", ["demo", "demo-anthropic", "demo-gemini"])
async def test_an_unknown_model_is_refused_as_the_vendor_would(
    vendor: DemoServer, http: httpx.AsyncClient, wire: str
) -> None:
    answer = await ask(vendor, http, wire, "nobody")
    assert answer.status_code == 404
    error = answer.json()["error"]
    told = {"demo": "code", "demo-anthropic": "type", "demo-gemini": "status"}[wire]
    assert (
        error[told]
        == {"demo": "model_not_found", "demo-anthropic": "not_found_error", "demo-gemini": "NOT_FOUND"}[wire]
    )


async def ask(vendor: DemoServer, http: httpx.AsyncClient, wire: str, model: str) -> httpx.Response:
    base = vendor.base_urls[wire]
    if wire == "demo":
        return await http.post(base + "/chat/completions", json=chat(model))
    if wire == "demo-anthropic":
        return await http.post(base + "/messages", json=messages(model), headers=ANTHROPIC)
    return await http.post(f"{base}/models/{model}:streamGenerateContent?alt=sse", json=contents())


@pytest.mark.parametrize("wire", ["demo", "demo-anthropic", "demo-gemini"])
async def test_flaky_refuses_first_and_answers_then(
    vendor: DemoServer, http: httpx.AsyncClient, wire: str
) -> None:
    first, second = await ask(vendor, http, wire, "flaky"), await ask(vendor, http, wire, "flaky")
    assert (first.status_code, first.headers["retry-after"], second.status_code) == (429, "1", 200)


@pytest.mark.parametrize("wire", ["demo", "demo-anthropic", "demo-gemini"])
async def test_cut_breaks_the_connection_in_the_middle(
    vendor: DemoServer, http: httpx.AsyncClient, wire: str
) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(vendor, http, wire, "cut")


async def test_cut_also_breaks_a_whole_body(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await http.post(vendor.base_urls["demo"] + "/chat/completions", json=chat("cut", stream=False))


@pytest.mark.parametrize("wire", ["demo", "demo-anthropic", "demo-gemini"])
async def test_error_comes_in_band_after_text(vendor: DemoServer, http: httpx.AsyncClient, wire: str) -> None:
    answer = await ask(vendor, http, wire, "error")
    assert answer.status_code == 200
    assert "goes" in answer.text
    assert "error" in events(answer.text)[-1]
    assert "verloaded" in events(answer.text)[-1]["error"]["message"]


async def test_error_is_a_status_where_nothing_streams(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    url = vendor.base_urls["demo-anthropic"] + "/messages"
    answer = await http.post(url, json=messages("error", stream=False), headers=ANTHROPIC)
    assert (answer.status_code, answer.json()["error"]["type"]) == (529, "overloaded_error")


async def test_echo_says_what_was_asked(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    url = vendor.base_urls["demo-gemini"] + "/models/echo:generateContent"
    answer = await http.post(url, json=contents("Ære og “ros” 😀"))
    assert answer.json()["candidates"][0]["content"]["parts"] == [{"text": "Ære og “ros” 😀"}]


@pytest.mark.parametrize(
    ("path", "headers", "body"),
    [
        ("/v1/chat/completions", {}, b"not json"),
        ("/v1/chat/completions", {}, b"[]"),
        ("/v1/chat/completions", {}, b'{"model": "hello"}'),
        ("/v1/messages", {}, b"{}"),
        ("/v1/messages", ANTHROPIC, b'{"model": "hello", "messages": [1]}'),
        ("/v1beta/models/hello:streamGenerateContent", {}, b'{"contents": 3}'),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused(
    vendor: DemoServer, http: httpx.AsyncClient, path: str, headers: dict[str, str], body: bytes
) -> None:
    answer = await http.post(f"http://127.0.0.1:{vendor.port}{path}", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


async def test_another_path_is_not_found(vendor: DemoServer, http: httpx.AsyncClient) -> None:
    for method, path in (
        ("GET", "/v1/chat/completions"),
        ("POST", "/v2"),
        ("POST", "/v1beta/models/x:count"),
    ):
        answer = await http.request(method, f"http://127.0.0.1:{vendor.port}{path}", content=b"{}")
        assert answer.status_code == 404


async def test_what_speaks_no_http_is_dropped_and_the_server_lives(
    vendor: DemoServer, http: httpx.AsyncClient
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", vendor.port)
    writer.write(b"\x16\x03\x01 this is no request\r\n\r\n")
    assert await reader.read() == b""
    writer.close()
    assert (await ask(vendor, http, "demo", "echo")).status_code == 200


async def test_pieces_arrive_while_the_answer_is_still_being_written(http: httpx.AsyncClient) -> None:
    async with DemoServer(pace=1) as vendor:
        url = vendor.base_urls["demo"] + "/chat/completions"
        async with http.stream("POST", url, json=chat("hello")) as answer:
            times = [time.monotonic() async for _ in answer.aiter_raw()]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert max(gaps) > 1
    assert len(times) > 20


async def test_leaving_the_block_closes_open_streams(http: httpx.AsyncClient) -> None:
    async with DemoServer() as vendor:
        url = vendor.base_urls["demo"] + "/chat/completions"
        request = http.build_request("POST", url, json=chat("slow"))
        answer = await http.send(request, stream=True)
    with pytest.raises(httpx.RemoteProtocolError):
        await answer.aread()
    with pytest.raises(httpx.ConnectError):
        await http.post(url, json=chat("echo"))


def test_there_is_a_row_for_every_dialect_with_every_model() -> None:
    rows = demo_rows(
        {"demo": "http://a/v1", "demo-anthropic": "http://b/v1", "demo-gemini": "http://c/v1beta"}
    )
    assert [row.surfaces[0].dialect for row in rows.values()] == [
        "openai-chat",
        "anthropic-messages",
        "gemini-generate",
    ]
    assert all(not row.key_required and set(row.models) == set(SCRIPTS) for row in rows.values())
