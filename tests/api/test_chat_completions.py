"""POST /v1/chat/completions over real sockets: streams, whole answers, and what the vendor does wrong."""

import itertools
import json
import time

import httpx
import pytest

from fakes.particle_runs import chunks_of, deltas_of, events_of
from fakes.serving import ASK, STREAM, VENDOR_KEY, client, serving, vendor_row
from fakes.upstream import (
    DONE,
    HELLO,
    SSE_HEAD,
    Gate,
    Reset,
    Sleep,
    UntilGone,
    answer,
    chat_chunk,
    chat_usage,
    event,
)

CHAT = "/chat/completions"
RATE_LIMIT = {"error": {"message": "slow down", "type": "tokens", "code": "rate_limit_exceeded"}}


def text_of(raw):
    return "".join(delta.get("content") or "" for delta in deltas_of(raw))


def error_of(response):
    """The error of an HTTP answer, once its shape is checked."""
    error = response.json()["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    assert isinstance(error["message"], str)
    assert error["message"]
    assert response.headers["x-request-id"]
    assert response.headers["content-type"] == "application/json"
    assert VENDOR_KEY not in response.text
    return error


def test_a_stream_has_the_headers_that_keep_proxies_from_holding_it(gateway, upstream):
    upstream.play(*HELLO)
    response = gateway.post(CHAT, json=STREAM)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    assert "content-length" not in response.headers
    assert "content-encoding" not in response.headers
    assert response.headers["x-request-id"].startswith("req_")
    assert text_of(response.content) == "Hello there"
    assert events_of(response.content)[-1] == "[DONE]"


def test_the_model_in_every_chunk_is_what_the_client_asked_for(tmp_path, upstream):
    upstream.play(*HELLO)
    toml = 'default_model = "fake/m"\n[aliases]\nfast = "fake/big/model"\n' + vendor_row(upstream.base_url)
    with serving(tmp_path, toml) as url, client(url) as caller:
        aliased = chunks_of(caller.post(CHAT, json=STREAM | {"model": "fast"}).content)
        unnamed = caller.post(CHAT, json={"messages": ASK["messages"]}).json()
    assert {chunk["model"] for chunk in aliased} == {"fast"}
    assert {chunk["id"] for chunk in aliased} == {aliased[0]["id"]}
    assert aliased[0]["id"].startswith("chatcmpl-")
    assert unnamed["model"] == "fake/m"
    assert [request.json["model"] for request in upstream.received] == ["big/model", "m"]


def test_the_vendors_key_and_ours_never_meet(gateway, upstream):
    upstream.play(*HELLO)
    gateway.post(CHAT, json=STREAM)
    (request,) = upstream.received
    assert request.headers["authorization"] == f"Bearer {VENDOR_KEY}"
    assert request.headers["user-agent"].startswith("motes/")
    assert request.path == "/v1/chat/completions"


def test_usage_comes_only_if_asked_for_and_upstream_is_always_asked(gateway, upstream):
    upstream.play(*HELLO)
    without = chunks_of(gateway.post(CHAT, json=STREAM).content)
    asked = chunks_of(gateway.post(CHAT, json=STREAM | {"stream_options": {"include_usage": True}}).content)
    assert all("usage" not in chunk for chunk in without)
    assert asked[-1]["usage"] == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    assert all(request.json["stream_options"]["include_usage"] for request in upstream.received)


def test_a_whole_answer_has_the_content_of_the_stream(gateway, upstream):
    upstream.play(*HELLO)
    told = gateway.post(CHAT, json=ASK).json()
    assert told["object"] == "chat.completion"
    assert told["choices"][0]["message"] == {"role": "assistant", "content": "Hello there", "refusal": None}
    assert told["choices"][0]["finish_reason"] == "stop"
    assert told["usage"]["total_tokens"] == 7
    assert upstream.received[0].json["stream"] is True


def test_every_piece_reaches_the_client_before_the_next_one_is_sent(gateway, upstream):
    pieces = ["one ", "two ", "three"]
    script = [SSE_HEAD, chat_chunk({"role": "assistant"})]
    for number, piece in enumerate(pieces):
        script += [chat_chunk({"content": piece}), Gate(f"after {number}")]
    upstream.play(*script, chat_chunk({}, "stop"), DONE)
    seen = ""
    with gateway.stream("POST", CHAT, json=STREAM) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                seen += json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
            for number in range(len(pieces)):
                if seen == "".join(pieces[: number + 1]):
                    upstream.open(f"after {number}")
    assert seen == "one two three"


def test_what_was_changed_in_a_request_is_told_in_the_head_of_any_answer(gateway, upstream):
    long = "größer\u2028\r\nx-injected: 1 " * 40
    body = {"messages": [*ASK["messages"], {"role": "tool", "tool_call_id": long, "content": "late"}]}
    upstream.play(*HELLO)
    upstream.play(answer(400, {"error": {"message": "bad"}}))
    for asked in (STREAM | body, STREAM | body, ASK):
        response = gateway.post(CHAT, json=asked)
        told = response.headers.get("x-motes-warnings")
        assert "x-injected" not in response.headers
        assert "x-motes-warnings" in response.headers["access-control-expose-headers"]
        if asked is ASK:
            assert told is None
        else:
            assert told
            assert len(told) <= 600


# Errors known early are HTTP errors, those known late are events.


@pytest.mark.parametrize("body", [ASK, STREAM])
@pytest.mark.parametrize(
    ("status", "answered", "outcome"),
    [
        (400, {"error": {"message": "bad"}}, (400, "invalid_request")),
        (401, {"error": {"message": f"Incorrect API key provided: {VENDOR_KEY}"}}, (502, "upstream_auth")),
        (403, {"error": {"message": "no"}}, (502, "upstream_auth")),
        (404, {"error": {"message": "no such model"}}, (404, "model_not_found")),
        (429, RATE_LIMIT, (429, "rate_limit_exceeded")),
        (429, {"error": {"code": "insufficient_quota", "message": "pay"}}, (429, "insufficient_quota")),
        (500, b"<html><title>Oops</title></html>", (502, "upstream_error")),
        (503, b"", (503, "overloaded")),
        (504, b"", (504, "upstream_timeout")),
        (302, b"", (502, "upstream_protocol")),
    ],
)
def test_a_refusal_of_the_vendor_has_a_status_and_a_shape(gateway, upstream, body, status, answered, outcome):
    upstream.play(answer(status, answered))
    response = gateway.post(CHAT, json=body)
    assert (response.status_code, error_of(response)["code"]) == outcome


def test_a_model_that_the_vendor_does_not_have_is_named_as_openai_does(gateway, upstream):
    upstream.play(answer(404, {"error": {"message": "no such model"}}))
    error = error_of(gateway.post(CHAT, json=ASK))
    assert (error["type"], error["param"]) == ("invalid_request_error", "model")
    assert error["motes"]["upstream_status"] == 404


@pytest.mark.parametrize(
    ("delta", "begun"),
    [({"content": "half"}, True), ({"reasoning_content": "hm"}, True), ({"role": "assistant"}, False)],
)
def test_what_had_begun_is_not_to_be_asked_for_again_unasked(gateway, upstream, delta, begun):
    """The package tries a 502 again by itself, and the caller would pay for both."""
    upstream.play(SSE_HEAD, chat_chunk(delta), Reset())
    response = gateway.post(CHAT, json=ASK)
    assert response.status_code == 502
    assert response.headers.get("x-should-retry") == ("false" if begun else None)
    assert error_of(response)["motes"]["retryable"] is True


def test_the_client_is_told_when_to_come_back_and_when_not_to(gateway, upstream):
    upstream.play(answer(429, RATE_LIMIT, retry_after="1.2"))
    upstream.play(answer(400, {"error": {"message": "bad"}}))
    limited = gateway.post(CHAT, json=STREAM)
    assert limited.headers["retry-after"] == "2"
    assert limited.headers["retry-after-ms"] == "1200"
    assert "x-should-retry" not in limited.headers
    assert gateway.post(CHAT, json=STREAM).headers["x-should-retry"] == "false"


@pytest.mark.parametrize("body", [ASK, STREAM])
@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        ([SSE_HEAD, event({"error": {"message": "boom", "code": 503}})], 503, "overloaded"),
        ([SSE_HEAD, chat_chunk({"role": "assistant"}), Reset()], 502, "stream_truncated"),
        ([SSE_HEAD], 502, "stream_truncated"),
        ([answer(200, b"")], 502, "stream_truncated"),
        (
            [answer(200, {"error": {"message": "no", "type": "invalid_request_error"}})],
            400,
            "invalid_request",
        ),
        ([answer(200, b"<html>hi</html>", content_type="text/html")], 502, "upstream_protocol"),
        ([Reset()], 502, "stream_truncated"),
        ([b"garbage\r\n\r\n"], 502, "upstream_protocol"),
    ],
)
def test_a_failure_before_anything_visible_is_an_http_error(gateway, upstream, body, script, status, code):
    upstream.play(*script)
    response = gateway.post(CHAT, json=body)
    assert response.status_code == status
    assert error_of(response)["code"] == code


CUT = [SSE_HEAD, chat_chunk({"content": "half an "}), chat_chunk({"content": "answer"}), Sleep(0.05), Reset()]


def test_a_failure_after_the_first_word_is_an_event_and_then_done(gateway, upstream):
    upstream.play(*CUT)
    response = gateway.post(CHAT, json=STREAM)
    assert response.status_code == 200
    events = events_of(response.content)
    assert text_of(response.content) == "half an answer"
    assert events[-1] == "[DONE]"
    assert events[-2]["error"]["code"] == "stream_truncated"
    assert all(not chunk["choices"][0]["finish_reason"] for chunk in chunks_of(response.content))


def test_a_whole_answer_that_failed_is_an_error_with_the_text_so_far(gateway, upstream):
    upstream.play(*CUT)
    response = gateway.post(CHAT, json=ASK)
    assert response.status_code == 502
    assert error_of(response)["motes"]["partial"] == "half an answer"


def test_a_vendor_that_cannot_be_reached_is_a_clear_error(tmp_path):
    toml = vendor_row("http://127.0.0.1:9/v1") + vendor_row("http://nowhere.invalid/v1", "lost")
    with serving(tmp_path, toml) as url, client(url) as caller:
        for model, word in (("fake/m", "refused"), ("lost/m", "resolved")):
            response = caller.post(CHAT, json=STREAM | {"model": model})
            assert response.status_code == 502
            assert word in error_of(response)["message"]


def test_a_plain_text_port_asked_for_tls_is_a_clear_error(tmp_path, upstream):
    upstream.play(answer(200, {}))
    toml = vendor_row(upstream.base_url.replace("http:", "https:"))
    with serving(tmp_path, toml) as url, client(url) as caller:
        assert error_of(caller.post(CHAT, json=STREAM))["motes"]["code"] == "tls_failed"


# Time


def test_the_status_is_held_no_longer_than_told_and_a_late_error_is_an_event(tmp_path, upstream):
    upstream.play(SSE_HEAD, Sleep(1.0), event({"error": {"message": "boom", "code": 500}}))
    # No sign of life is due before the error, however late it comes.
    toml = "commit_after_s = 0.4\nheartbeat_s = 2\n" + vendor_row(upstream.base_url)
    with serving(tmp_path, toml) as url, client(url) as caller:
        asked_at = time.monotonic()
        with caller.stream("POST", CHAT, json=STREAM) as response:
            held = time.monotonic() - asked_at
            raw = b"".join(response.iter_raw())
    assert 0.2 <= held <= 0.8
    assert response.status_code == 200
    assert deltas_of(raw) == [{"role": "assistant", "content": ""}]
    assert events_of(raw)[-2]["error"]["message"] == "boom"


def test_no_silence_is_longer_than_the_heartbeat_even_while_the_upstream_says_what_is_not_told(
    tmp_path, upstream
):
    upstream.play(
        SSE_HEAD,
        chat_chunk({"content": "a"}),
        *(step for _ in range(8) for step in (Sleep(0.25), chat_chunk({"reasoning_content": "hm"}))),
        chat_chunk({"content": "b"}),
        chat_chunk({}, "stop"),
        DONE,
    )
    toml = 'heartbeat_s = 0.6\nreasoning_field = "none"\n' + vendor_row(upstream.base_url)
    with (
        serving(tmp_path, toml) as url,
        client(url) as caller,
        caller.stream("POST", CHAT, json=STREAM) as got,
    ):
        arrivals, raw = [time.monotonic()], b""
        for piece in got.iter_raw():
            arrivals.append(time.monotonic())
            raw += piece
    assert max(late - early for early, late in itertools.pairwise(arrivals)) < 0.9
    assert raw.count(b": keepalive\n") >= 2
    assert text_of(raw.replace(b": keepalive\n", b"")) == "ab"


@pytest.mark.parametrize("body", [ASK, STREAM])
def test_when_the_client_goes_the_upstream_is_closed_within_a_second(gateway, upstream, body):
    upstream.play(SSE_HEAD, chat_chunk({"content": "a"}), UntilGone())
    try:
        with gateway.stream("POST", CHAT, json=body, timeout=0.5) as response:
            for _ in response.iter_raw():
                break
    except httpx.ReadTimeout:
        pass
    left_at = time.monotonic()
    gateway.close()
    assert upstream.wait_until_gone() - left_at < 1.0


def test_a_client_that_goes_before_the_answer_begins_closes_the_upstream_too(gateway, upstream):
    upstream.play(UntilGone())
    with pytest.raises(httpx.ReadTimeout):
        gateway.post(CHAT, json=STREAM, timeout=0.3)
    left_at = time.monotonic()
    assert upstream.wait_until_gone() - left_at < 1.0


def test_usage_and_context_of_a_run_do_not_change_its_answer(gateway, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "a"}, "stop"), chat_usage(1, 1), DONE)
    body = ASK | {"motes": {"context": "nightly job"}, "metadata": {"x": "y"}, "unknown_field": 1}
    assert gateway.post(CHAT, json=body).json()["choices"][0]["message"]["content"] == "a"
    assert "motes" not in upstream.received[0].json


# How reasoning is told


REASONED = (
    SSE_HEAD,
    chat_chunk({"reasoning": "hm"}),
    chat_chunk({"content": "yes"}),
    chat_chunk({}, "stop"),
    DONE,
)


@pytest.mark.parametrize(
    ("extra", "member"),
    [
        ({}, "reasoning_content"),
        ({"motes": {"reasoning_field": "reasoning"}}, "reasoning"),
        ({"motes": {"reasoning_field": "none"}}, None),
        ({"reasoning": {"exclude": True}}, None),
    ],
)
def test_a_caller_chooses_where_reasoning_goes(gateway, upstream, extra, member):
    upstream.play(*REASONED)
    message = gateway.post(CHAT, json=ASK | extra).json()["choices"][0]["message"]
    assert message["content"] == "yes"
    assert {name for name in message if name.startswith("reasoning")} == ({member} if member else set())


def test_a_choice_that_does_not_exist_is_refused(gateway):
    response = gateway.post(CHAT, json=ASK | {"motes": {"reasoning_field": "loud"}})
    assert response.status_code == 400
    assert error_of(response)["param"] == "motes.reasoning_field"
    told = "must be one of reasoning_content, reasoning, both, none, think-tags"
    assert error_of(response)["message"] == f"motes.reasoning_field: {told}"
