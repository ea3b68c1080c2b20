"""One upstream with habits of its own behind one path, as a preset and as a generic row with the same words.

The upstream streams only, wants a system message, reads schemas with a plain parser and fills its chunks with empty
members. Each test is one row of the contract for such an upstream (C1 to C24).
"""

import re
import time

import pytest

from fakes.particle_runs import chunks_of, deltas_of, events_of
from fakes.serving import KEY, client, serving
from fakes.upstream import (
    DONE,
    HELLO,
    SSE_HEAD,
    UntilGone,
    Upstream,
    answer,
    chat_chunk,
    chat_usage,
    event,
)
from motes.errors import PrepareError
from motes.settings import load_settings
from motes.vendors.catalogue import build_catalogue
from motes.vendors.table import ALIASES, VENDORS

CHAT = "/chat/completions"
SECRET = "ck_secret_of_the_upstream_1234"
USER = {"role": "user", "content": "Hi"}
CALL = {"id": "tooluse_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
WORDS = """
[vendors.plain]
dialect = "openai-chat"
base_url = "{base}/"
key = "{key}"
models = ["m"]
[vendors.plain.quirks]
force_stream = true
tool_choice_string = true
schema_drop = true
require_system = true
scrub_empty = true
idle_s = 0.4
thinking_by_prefix = {{ Deep = {{ reasoning_effort = "high" }}, deep-r = {{ enable_thinking = true }} }}
search_intercept = {{ path = "agenttool/v1/search", in_place_of = "/v2" }}
[vendors.plain.quirks.extra_headers]
x-api-key = "{{key}}"
x-conversation-id = "{{conversation_id}}"
x-request-id = "{{request_id}}"
b3 = "{{trace_id}}-{{span_id}}-1-{{parent_id}}"
"""


@pytest.fixture(scope="module")
def listening():
    with Upstream() as running:
        yield running


@pytest.fixture
def upstream(listening):
    listening.forget()
    return listening


@pytest.fixture(scope="module")
def served(tmp_path_factory, listening):
    base = listening.base_url.removesuffix("/v1") + "/v2"
    toml = 'default_model = "codebuddy/default"\nheartbeat_s = 0.2\nmax_body_bytes = 100000\n'
    toml += WORDS.format(base=base, key=SECRET)
    toml += f'[vendors.codebuddy]\nbase_url = "{base}/"\nkey = "{SECRET}"\n'
    with serving(tmp_path_factory.mktemp("home"), toml) as url:
        yield url


@pytest.fixture(params=["codebuddy", "plain"])
def vendor(request):
    """The preset, and a row of the operator's own that says the same in motes.toml."""
    return request.param


@pytest.fixture
def gateway(served, upstream):
    with client(served) as caller:
        yield caller


def ask(vendor, model="m", **members):
    return {"model": f"{vendor}/{model}", "messages": [USER], **members}


def tool(parameters, name="now"):
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def sent(upstream, at=0):
    return upstream.received[at].json


# C1


def test_the_one_path_takes_post_and_says_so(gateway):
    refused = gateway.get(CHAT)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    unknown = gateway.post("/chat/nothing", json={})
    assert unknown.status_code == 404
    assert {"message", "type", "param", "code"} <= unknown.json()["error"].keys()


# C2


def test_the_model_is_the_callers_or_the_default_and_is_told_as_asked(gateway, upstream):
    upstream.play(*HELLO)
    assert gateway.post(CHAT, json=ask("plain", "a/b")).json()["model"] == "plain/a/b"
    assert gateway.post(CHAT, json={"messages": [USER]}).json()["model"] == "codebuddy/default"
    assert [sent(upstream, at)["model"] for at in (0, 1)] == ["a/b", "default"]


# C3


def test_the_upstream_is_always_asked_for_a_stream_with_usage_and_the_client_gets_what_it_asked_for(
    gateway, upstream, vendor
):
    upstream.play(*HELLO)
    whole = gateway.post(CHAT, json=ask(vendor, stream=False))
    plain = gateway.post(CHAT, json=ask(vendor, stream=True))
    counted = gateway.post(CHAT, json=ask(vendor, stream=True, stream_options={"include_usage": True}))
    assert whole.headers["content-type"] == "application/json"
    assert whole.json()["choices"][0]["message"]["content"] == "Hello there"
    assert all("usage" not in chunk for chunk in chunks_of(plain.content))
    assert chunks_of(counted.content)[-1]["usage"]["total_tokens"] == 7
    for at in range(3):
        assert sent(upstream, at)["stream"] is True
        assert sent(upstream, at)["stream_options"] == {"include_usage": True}


# C4


@pytest.mark.parametrize(
    ("choice", "word", "tools"),
    [
        ({"type": "function", "function": {"name": "later"}}, "required", ["later"]),
        ({"type": "function", "function": {"name": "nobody"}}, "auto", ["now", "later"]),
        ({"type": "auto"}, "auto", ["now", "later"]),
        ("required", "required", ["now", "later"]),
    ],
)
def test_a_choice_of_tools_is_a_word_and_a_forced_tool_stays_forced(
    gateway, upstream, vendor, choice, word, tools
):
    upstream.play(*HELLO)
    offered = [tool({"type": "object"}), tool({"type": "object"}, "later")]
    response = gateway.post(CHAT, json=ask(vendor, tools=offered, tool_choice=choice))
    told = response.json()["motes"]
    assert sent(upstream)["tool_choice"] == word
    assert [entry["function"]["name"] for entry in sent(upstream)["tools"]] == tools
    warned = any("tool_choice" in warning["text"] for warning in told.get("warnings", ()))
    assert warned is ("function" in choice)
    assert ("tool_choice" in response.headers.get("x-motes-warnings", "")) is warned


# C5


def test_schemas_are_put_into_words_that_a_plain_parser_reads(gateway, upstream, vendor):
    upstream.play(*HELLO)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "fixed": {"const": "x"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "either": {
                "oneOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}}},
                    {"type": "object", "properties": {"b": {"const": 1}}},
                ]
            },
            "deep": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/d"}]}},
            "map": {"type": "object", "additionalProperties": {"const": True}},
            "pair": {"type": "array", "prefixItems": [{"const": "p"}]},
        },
        "required": ["fixed", "maybe"],
        "$defs": {"d": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    }
    gateway.post(CHAT, json=ask(vendor, tools=[tool(schema), tool({}, "empty")]))
    first, empty = (entry["function"]["parameters"] for entry in sent(upstream)["tools"])
    for word in ("anyOf", "oneOf", "allOf", "const", "$schema", "$ref", "$defs", "prefixItems"):
        assert f'"{word}"' not in str(first).replace("'", '"')
    members = first["properties"]
    assert members["fixed"]["enum"] == ["x"]
    assert members["maybe"]["type"] == "string"
    assert first["required"] == ["fixed"]
    assert set(members["either"]["properties"]) == {"a", "b"}
    assert members["either"]["properties"]["b"]["enum"] == [1]
    assert members["deep"]["items"]["type"] == "integer"
    assert members["map"]["additionalProperties"]["enum"] == [True]
    assert members["pair"]["items"]["enum"] == ["p"]
    assert (empty["type"], empty["properties"]) == ("object", {})


# C6


def test_history_is_text_and_json_text_and_keeps_its_reasoning(gateway, upstream):
    upstream.play(*HELLO)
    given = {"id": "tooluse_1", "type": "function", "function": {"name": "now", "arguments": {"at": 1}}}
    history = [
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "I "}, {"type": "text", "text": "look"}]},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [given]},
        {"role": "tool", "tool_call_id": "tooluse_1", "content": "12:00"},
        {"role": "assistant", "content": ""},
        USER,
    ]
    assert gateway.post(CHAT, json=ask("codebuddy") | {"messages": history}).status_code == 200
    _, _, first, called, result, empty, _ = sent(upstream)["messages"]
    assert isinstance(first["content"], str)
    assert called["tool_calls"][0]["function"]["arguments"] == '{"at":1}'
    assert called["reasoning_content"] == "hm"
    assert result["tool_call_id"] == "tooluse_1"
    assert empty["content"] == ""


# C7


def test_there_is_always_a_system_message_and_the_callers_own_is_kept(gateway, upstream, vendor):
    upstream.play(*HELLO)
    gateway.post(CHAT, json=ask(vendor))
    gateway.post(CHAT, json=ask(vendor) | {"messages": [{"role": "developer", "content": "Brief."}, USER]})
    assert sent(upstream, 0)["messages"] == [{"role": "system", "content": ""}, USER]
    assert sent(upstream, 1)["messages"] == [{"role": "system", "content": "Brief."}, USER]


def test_only_the_operator_replaces_system_text(tmp_path, upstream):
    upstream.play(*HELLO)
    base = upstream.base_url.removesuffix("/v1") + "/v2"
    toml = f'[vendors.codebuddy]\nbase_url = "{base}"\nkey = "k"\n[vendors.codebuddy.quirks]\n'
    toml += 'system_policy = "replace"\nsystem_text = "Ours."\n'
    with serving(tmp_path, toml) as url, client(url) as caller:
        caller.post(CHAT, json=ask("codebuddy") | {"messages": [{"role": "system", "content": "X"}, USER]})
    assert sent(upstream)["messages"] == [{"role": "system", "content": "Ours."}, USER]


# C8


def test_a_filter_of_words_is_off_unless_set_and_never_takes_a_turn_out(tmp_path, gateway, upstream):
    upstream.play(*HELLO)
    history = [
        USER,
        {"role": "assistant", "content": "a 敏感内容 b", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "tooluse_1", "content": "敏感内容"},
        USER,
    ]
    gateway.post(CHAT, json=ask("codebuddy") | {"messages": history})
    assert sent(upstream)["messages"][2]["content"] == "a 敏感内容 b"
    base = upstream.base_url.removesuffix("/v1") + "/v2"
    toml = f'[vendors.codebuddy]\nbase_url = "{base}"\nkey = "k"\n[vendors.codebuddy.quirks.content_policy]\n'
    with serving(tmp_path, toml + '"敏感内容" = "…"\n') as url, client(url) as caller:
        caller.post(CHAT, json=ask("codebuddy") | {"messages": history})
    _, _, answered, result, _ = sent(upstream, 1)["messages"]
    assert (answered["content"], answered["tool_calls"], result["content"]) == ("a … b", [CALL], "敏感内容")


# C9


@pytest.mark.parametrize(
    ("vendor_", "model", "members"),
    [
        ("plain", "DEEP-x", {"reasoning_effort": "high"}),
        ("plain", "deep-r1", {"enable_thinking": True}),
        ("plain", "other", {}),
        ("codebuddy", "Qwen3-max", {"reasoning_effort": "high", "reasoning_summary": "auto"}),
        ("codebuddy", "gpt-5.5", {}),
    ],
)
def test_thinking_is_switched_on_by_the_longest_head_of_the_models_name(
    gateway, upstream, vendor_, model, members
):
    upstream.play(*HELLO)
    gateway.post(CHAT, json=ask(vendor_, model))
    names = ("reasoning_effort", "reasoning_summary", "enable_thinking", "thinking", "reasoning")
    assert {name: sent(upstream)[name] for name in names if name in sent(upstream)} == members


@pytest.mark.parametrize(
    "said",
    [
        {"reasoning_effort": "low"},
        {"thinking": {"type": "disabled"}},
        {"reasoning": {"enabled": False}},
    ],
)
def test_who_says_anything_of_reasoning_is_taken_at_his_word(gateway, upstream, said):
    upstream.play(*HELLO)
    gateway.post(CHAT, json=ask("plain", "deep-x", **said))
    assert sent(upstream).get("reasoning_effort") != "high"


def test_the_two_accounts_of_what_switches_thinking_on_are_two_presets():
    one, other = (VENDORS[id].quirks.thinking_by_prefix["deepseek"] for id in ("codebuddy", "codebuddy-cn"))
    assert one == {"reasoning_effort": "high", "reasoning_summary": "auto"}
    assert other == {"enable_thinking": True}


# C10


SEARCH = "Perform a web search for the query: tides in Faro"
RESULTS = {
    "results": [
        {"title": "Tides", "snippet": "High at 10.", "url": "https://tides.example/faro"},
        {"title": "Faro", "snippet": "", "url": "https://faro.example"},
    ]
}


def searching(vendor, content=SEARCH, tools=("web_search",), **members):
    offered = [tool({"type": "object"}, name) for name in tools]
    return ask(vendor, tools=offered, **members) | {"messages": [USER, {"role": "user", "content": content}]}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("content", [SEARCH, [{"type": "text", "text": SEARCH}]])
def test_a_search_and_nothing_else_is_answered_by_the_search(gateway, upstream, vendor, content, stream):
    upstream.play(answer(200, RESULTS))
    asked = searching(vendor, content, stream=stream, stream_options={"include_usage": True})
    response = gateway.post(CHAT, json=asked)
    if stream:
        assert response.headers["content-type"].startswith("text/event-stream")
        chunks = chunks_of(response.content)
        assert events_of(response.content)[-1] == "[DONE]"
        text = "".join(delta.get("content") or "" for delta in deltas_of(response.content))
        told, counted = chunks[-1]["motes"], any(chunk.get("usage") for chunk in chunks)
    else:
        body = response.json()
        text, told, counted = body["choices"][0]["message"]["content"], body["motes"], "usage" in body
    assert "1. Tides\nhttps://tides.example/faro\nHigh at 10." in text
    assert "2. Faro\nhttps://faro.example" in text
    assert (told["synthetic"], told["usage_source"], counted) == (True, "none", False)
    (request,) = upstream.received
    assert (request.path, request.json) == ("/agenttool/v1/search", {"query": "tides in Faro"})
    assert request.headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    "asked",
    [
        searching("plain", tools=("web_search", "now")),
        searching("plain", tools=("now",)),
        searching("plain", "What are the tides in Faro?"),
        searching("plain", "Perform a web search for the query: "),
    ],
)
def test_whatever_is_more_than_a_search_goes_to_the_model(gateway, upstream, asked):
    upstream.play(*HELLO)
    body = gateway.post(CHAT, json=asked).json()
    assert body["choices"][0]["message"]["content"] == "Hello there"
    assert "synthetic" not in body["motes"]
    assert [request.path for request in upstream.received] == ["/v2/chat/completions"]


@pytest.mark.parametrize(
    "failed",
    [
        answer(500, {}),
        answer(200, b"<html>"),
        answer(200, {"results": []}),
        answer(200, {"results": [1, {}]}),
    ],
)
def test_a_search_that_fails_or_finds_nothing_falls_through_to_the_model(gateway, upstream, failed):
    upstream.play(failed)
    upstream.play(*HELLO)
    body = gateway.post(CHAT, json=searching("plain")).json()
    assert body["choices"][0]["message"]["content"] == "Hello there"
    assert body["usage"]["total_tokens"] == 7
    assert "search_failed" in [warning["code"] for warning in body["motes"]["warnings"]]
    assert [request.path for request in upstream.received] == ["/agenttool/v1/search", "/v2/chat/completions"]


# C11


def test_chat_and_search_have_one_host_and_no_doubled_slash(gateway, upstream, vendor):
    upstream.play(answer(500, {}))
    upstream.play(*HELLO)
    gateway.post(CHAT, json=searching(vendor))
    assert [request.path for request in upstream.received] == ["/agenttool/v1/search", "/v2/chat/completions"]


# C12


def headers_of(upstream, at):
    return upstream.received[at].headers


def test_each_request_has_names_of_its_own_and_a_conversation_keeps_its_name(gateway, upstream, vendor):
    upstream.play(*HELLO)
    later = ask(vendor) | {"messages": [USER, {"role": "assistant", "content": "Yes?"}, USER]}
    other = ask(vendor) | {"messages": [{"role": "user", "content": "Something else"}]}
    for body in (ask(vendor), later, other, ask(vendor, motes={"conversation": "mine-1"})):
        assert gateway.post(CHAT, json=body).status_code == 200
    gateway.post(CHAT, json=ask(vendor), headers={"x-motes-conversation": "mine-2"})
    told = [headers_of(upstream, at) for at in range(5)]
    conversations = [headers["x-conversation-id"] for headers in told]
    assert conversations[0] == conversations[1] != conversations[2]
    assert conversations[3:] == ["mine-1", "mine-2"]
    assert len({headers["x-request-id"] for headers in told}) == 5
    for headers in told:
        assert headers["authorization"] == f"Bearer {headers['x-api-key']}" == f"Bearer {SECRET}"
        assert re.fullmatch(r"[0-9a-f]{32}-[0-9a-f]{16}-1-[0-9a-f]{16}", headers["b3"])
        assert re.fullmatch(r"[0-9a-f]{32}", headers["x-request-id"])


def test_motes_names_itself_and_no_other_program(gateway, upstream):
    upstream.play(*HELLO)
    gateway.post(CHAT, json=ask("codebuddy"))
    headers = headers_of(upstream, 0)
    assert headers["user-agent"].startswith("motes/")
    assert not any(name.startswith(("x-stainless", "x-ide", "x-product", "x-agent")) for name in headers)


@pytest.mark.parametrize("name", ["a b", "x" * 129, "", "{key}", "a\u00e9"])
def test_a_conversation_has_a_name_that_can_stand_in_a_header(gateway, name):
    response = gateway.post(CHAT, json=ask("plain", motes={"conversation": name}))
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "motes.conversation"


# C13


@pytest.mark.parametrize(
    "reframed",
    [
        lambda raw: raw.replace(b"data: ", b"data:"),
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.replace(b"data: ", b"event: message\ndata: "),
        lambda raw: raw.replace(b"data: ", b": note\nid: 7\nretry: 1\ndata: "),
        lambda raw: raw.rstrip(b"\n"),
    ],
)
def test_any_framing_of_the_stream_is_read_and_none_is_passed_on(gateway, upstream, reframed):
    upstream.play(SSE_HEAD, reframed(b"".join(HELLO[1:])))
    raw = gateway.post(CHAT, json=ask("codebuddy", stream=True)).content
    assert "".join(delta.get("content") or "" for delta in deltas_of(raw)) == "Hello there"
    assert all(line == b"" or line.startswith(b"data: ") for line in raw.split(b"\n"))


# C14


def test_done_is_said_once_however_often_the_upstream_says_it(gateway, upstream):
    upstream.play(*HELLO, DONE, DONE, chat_chunk({"content": "after"}))
    raw = gateway.post(CHAT, json=ask("codebuddy", stream=True)).content
    assert raw.count(b"[DONE]") == 1
    assert raw.endswith(b"data: [DONE]\n\n")
    assert b"after" not in raw


# C15


EMPTY = {
    "content": "",
    "reasoning_content": "",
    "function_call": {"name": "", "arguments": ""},
    "tool_calls": [],
    "refusal": "",
    "extra_fields": None,
}


def test_empty_members_and_broken_chunks_of_the_upstream_never_reach_the_client(gateway, upstream, vendor):
    upstream.play(
        SSE_HEAD,
        chat_chunk({"role": "assistant", **EMPTY}, ""),
        chat_chunk(EMPTY | {"content": "Hello"}, ""),
        event('{"choices": [{"del'),
        chat_chunk(EMPTY, ""),
        chat_chunk(EMPTY, "stop"),
        chat_usage(5, 1),
        DONE,
    )
    raw = gateway.post(CHAT, json=ask(vendor, stream=True)).content
    assert deltas_of(raw) == [{"role": "assistant", "content": ""}, {"content": "Hello"}, {}]
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks_of(raw)]
    assert reasons == [None, None, "stop"]


# C16


def test_an_upstream_that_falls_silent_ends_in_band_after_signs_of_life(gateway, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hel"}), UntilGone())
    started = time.monotonic()
    raw = gateway.post(CHAT, json=ask("plain", stream=True)).content
    assert 0.3 < time.monotonic() - started < 5
    assert b": keepalive\n" in raw
    *_, failure, last = events_of(raw.replace(b": keepalive\n", b""))
    assert (failure["error"]["code"], last) == ("upstream_timeout", "[DONE]")
    assert not any(
        chunk["choices"][0]["finish_reason"] for chunk in chunks_of(raw.replace(b": keepalive\n", b""))
    )


def test_the_preset_waits_for_two_minutes():
    for id in ("codebuddy", "codebuddy-cn"):
        assert (VENDORS[id].timeouts.first_byte, VENDORS[id].timeouts.idle) == (120, 120)


# C17


def test_a_client_that_goes_takes_the_upstream_with_it(gateway, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hel"}), UntilGone())
    with gateway.stream("POST", CHAT, json=ask("codebuddy", stream=True)) as response:
        next(response.iter_lines())
    assert upstream.wait_until_gone() <= time.monotonic()


# C18


@pytest.mark.parametrize(("finish", "is_whole"), [("stop", True), (None, False)])
def test_done_is_added_to_a_stream_that_finished_and_an_error_to_one_that_did_not(
    gateway, upstream, finish, is_whole
):
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hello"}), chat_chunk({}, finish))
    events = events_of(gateway.post(CHAT, json=ask("codebuddy", stream=True)).content)
    assert events[-1] == "[DONE]"
    assert ("error" not in events[-2]) is is_whole
    if not is_whole:
        assert events[-2]["error"]["code"] == "stream_truncated"


# C19


def test_nothing_of_an_answer_or_a_key_is_in_the_log(gateway, upstream, caplog):
    upstream.play(SSE_HEAD, chat_chunk({"content": "a very private answer"}), chat_chunk({}, "stop"), DONE)
    with caplog.at_level("DEBUG", logger="motes"):
        gateway.post(CHAT, json=ask("codebuddy"))
    assert "run_ended" in caplog.text
    assert "a very private answer" not in caplog.text
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


# C20


def test_a_whole_answer_is_put_together_from_all_chunks(gateway, upstream, vendor):
    call = {"index": 0, "id": "tooluse_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    upstream.play(
        SSE_HEAD,
        chat_chunk({"role": "assistant", "reasoning_content": "hm"}),
        chat_chunk({"tool_calls": [call]}),
        chat_chunk({}, "tool_calls"),
        chat_chunk({}, ""),
        chat_usage(5, 2),
        event({"choices": [], "usage": None}),
        DONE,
    )
    body = gateway.post(CHAT, json=ask(vendor, tools=[tool({"type": "object"})])).json()
    (choice,) = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["tool_calls"] == [CALL]
    assert body["usage"]["total_tokens"] == 7


def test_usage_that_was_not_told_is_an_estimate_and_said_to_be(gateway, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hello"}), chat_chunk({}, "stop"), DONE)
    body = gateway.post(CHAT, json=ask("codebuddy")).json()
    assert body["usage"]["completion_tokens"] > 0
    assert body["motes"]["usage_source"] == "estimated"


# C21


@pytest.mark.parametrize(
    ("status", "body", "answered", "code"),
    [
        (429, {"error": {"message": "slow"}}, 429, "rate_limit_exceeded"),
        (401, {"error": {"message": f"no {SECRET}"}}, 502, "upstream_auth"),
        (403, {"error": {"message": "no"}}, 502, "upstream_auth"),
        (400, {"error": {"message": "no system", "code": 11101}}, 400, "invalid_request"),
        (400, {"error": {"message": "no credits", "code": "6004"}}, 429, "insufficient_quota"),
        (503, b"<html>busy</html>", 503, "overloaded"),
    ],
)
def test_an_error_of_the_upstream_has_a_status_of_its_kind_and_openais_shape(
    gateway, upstream, status, body, answered, code
):
    upstream.play(answer(status, body, retry_after="7"))
    response = gateway.post(CHAT, json=ask("codebuddy", stream=True))
    assert (response.status_code, response.json()["error"]["code"]) == (answered, code)
    assert SECRET not in response.text
    if answered == 429:
        assert response.headers["retry-after"] == "7"


# C22


def test_models_are_listed_with_seconds_and_what_is_known_of_them(gateway):
    listed = gateway.get("/models").json()["data"]
    rows = {row["id"]: row for row in listed if row["owned_by"] in ("codebuddy", "plain")}
    assert {"codebuddy/default", "codebuddy/gpt-5.5", "plain/m"} <= rows.keys()
    assert all(1_700_000_000 < row["created"] < 10_000_000_000 for row in rows.values())


# C24


def test_a_body_that_is_too_large_is_413_in_openais_shape(gateway):
    body = ask("codebuddy") | {"messages": [{"role": "user", "content": "x" * 200_000}]}
    response = gateway.post(CHAT, json=body)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "request_too_large"
    assert response.headers["content-type"] == "application/json"


# The words of motes.toml


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("force_stream = false", ".quirks.force_stream: cannot be false: the upstream is always asked"),
        ("scrub_empty = false", ".quirks.scrub_empty: cannot be false: empty members"),
        ("require_system = 1", ".quirks.require_system: must be true or false"),
        ("requir_system = true", "did you mean 'require_system'?"),
        ('idle_s = "soon"', ".quirks.idle_s: must be a number"),
        ("idle_s = -1", ".quirks.idle_s: must be more than 0"),
        ('extra_headers = "x"', ".quirks.extra_headers: must be a table"),
        ("extra_headers = { a = 1 }", ".quirks.extra_headers.a: must be a string"),
        ('system_policy = "drop"', ".quirks.system_policy"),
    ],
)
def test_a_word_that_cannot_be_meant_is_named(tmp_path, line, told):
    (tmp_path / "motes.toml").write_text(f"[vendors.groq.quirks]\n{line}\n")
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(PrepareError) as raised:
        build_catalogue(VENDORS, ALIASES, settings)
    assert told in str(raised.value)


# Names of tools that are too long


@pytest.mark.parametrize("stream", [True, False])
def test_a_long_name_of_a_tool_goes_short_and_comes_back_as_it_was(tmp_path, upstream, stream):
    long = "look_up_the_tides_of_a_port"

    def called(request):
        name = request.json["tools"][0]["function"]["name"]
        assert len(name) == 20
        function = {"name": name, "arguments": "{}"}
        one = {"index": 0, "id": "c1", "type": "function", "function": function}
        return b"".join(
            (
                SSE_HEAD,
                chat_chunk({"tool_calls": [one]}),
                chat_chunk({}, "tool_calls"),
                chat_usage(1, 1),
                DONE,
            )
        )

    upstream.play(called)
    toml = f'[vendors.fake]\ndialect = "openai-chat"\nbase_url = "{upstream.base_url}"\nkey = "{SECRET}"\n'
    with serving(tmp_path, toml + "quirks = { max_tool_name = 20 }\n") as url, client(url) as caller:
        raw = caller.post(CHAT, json=ask("fake", tools=[tool({"type": "object"}, long)], stream=stream))
    if stream:
        (first, *_) = [delta["tool_calls"][0] for delta in deltas_of(raw.content) if "tool_calls" in delta]
        told = chunks_of(raw.content)[-1]["motes"]
    else:
        (first,) = raw.json()["choices"][0]["message"]["tool_calls"]
        told = raw.json()["motes"]
    assert first["function"]["name"] == long
    assert any("comes back as it was" in warning["text"] for warning in told["warnings"])
