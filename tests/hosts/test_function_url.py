"""The gateway through a Function URL: what clients get, chunk by chunk."""

import json
import threading
import time

import pytest
from openai import OpenAI

from fakes.lambda_environment import Limits
from fakes.serving import ASK, AUTH, KEY, STREAM
from fakes.upstream import DONE, HELLO, SSE_HEAD, Gate, chat_chunk
from hosts.commands import caller, events, http_event, odd

CHAT = "/v1/chat/completions"
CHUNKS = 200


@pytest.fixture(scope="module")
def strange(launch):
    """An app that answers in odd ways."""
    return launch(odd(), limits=Limits(timeout=3.0)).warm()


def test_two_hundred_chunks_arrive_one_by_one(gateway, upstream):
    steps = [step for n in range(CHUNKS) for step in (Gate(str(n)), chat_chunk({"content": f"<{n}>"}))]
    upstream.play(SSE_HEAD, *steps, chat_chunk({}, "stop"), DONE)
    upstream.open("0")  # No status without something to show.
    with caller(gateway) as client, client.stream("POST", CHAT, json=STREAM) as response:
        pieces, seen = response.iter_raw(), b""
        for n in range(CHUNKS):
            upstream.open(str(n))
            while f"<{n}>".encode() not in seen:
                seen += next(pieces)
            assert f"<{n + 1}>".encode() not in seen
        assert b"".join(pieces).endswith(b"data: [DONE]\n\n")


def test_each_message_of_the_app_is_one_chunk_for_the_platform(gateway, upstream):
    upstream.play(*HELLO)
    with caller(gateway) as client:
        client.post(CHAT, json=STREAM)
    sizes = [size for _, size in gateway.calls[-1].pieces]
    assert len(sizes) >= 3  # The head, what one read of the upstream gave, the end.
    assert "responding" not in {call.state for call in gateway.calls}


def test_the_openai_package_streams_through_it(gateway, upstream):
    upstream.play(*HELLO)
    client = OpenAI(base_url=f"{gateway.url}/v1", api_key=KEY, max_retries=0)
    stream = client.chat.completions.create(
        model="fake/m", messages=[{"role": "user", "content": "Hi"}], stream=True
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices) == "Hello there"
    whole = client.chat.completions.create(model="fake/m", messages=[{"role": "user", "content": "Hi"}])
    assert whole.choices[0].message.content == "Hello there"
    assert whole.usage.total_tokens == 7


def test_an_error_has_its_status_and_its_headers(gateway, upstream):
    with caller(gateway) as client:
        refused = client.post(CHAT, json=ASK, headers={"authorization": "Bearer mk-wrong"})
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert client.get("/v1/nothing").json()["error"]["code"] == "unknown_url"
        assert (
            client.post(CHAT, content=b"{", headers={"content-type": "application/json"}).status_code == 400
        )


def test_a_browser_may_ask(gateway):
    with caller(gateway) as client:
        asked = {"origin": "https://a.example", "access-control-request-method": "POST"}
        answer = client.options(CHAT, headers=asked)
    assert answer.is_success
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "POST" in answer.headers["access-control-allow-methods"]


def test_a_body_that_is_not_text_comes_whole(gateway, upstream):
    upstream.play(*HELLO)
    with caller(gateway) as client:
        headers = {"content-type": "application/octet-stream"}
        answer = client.post(CHAT, content=json.dumps(ASK).encode(), headers=headers)
    assert answer.json()["choices"][0]["message"]["content"] == "Hello there"
    assert json.loads(gateway.calls[-1].event)["isBase64Encoded"]


def test_a_request_is_a_scope_of_plain_asgi(strange):
    with caller(strange) as client:
        cookies = {"cookie": "a=1; b=2"}
        told = client.post("/echo/%C3%A9?x=1&y=%20", content=b"\x00\xff", headers=cookies).json()
    assert (told["method"], told["path"], told["query_string"]) == ("POST", "/echo/é", "x=1&y=%20")
    assert (told["scheme"], told["client"]) == ("https", ["192.0.2.7", 0])
    assert told["body"] == "00ff"
    assert ["cookie", "a=1; b=2"] in told["headers"]
    assert ["authorization", AUTH["authorization"]] in told["headers"]
    assert 0 < told["left"] < strange.limits.timeout
    assert told["state"] == {"startups": 1}
    assert not [name for name in told["names"] if "aws" in name]


def test_cookies_travel_apart_and_repeated_headers_together(strange):
    with caller(strange) as client:
        answer = client.get("/cookies")
    assert answer.status_code == 201
    assert answer.headers.get_list("set-cookie") == [
        "a=1; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT",
        "b=2",
    ]
    assert answer.headers["x-twice"] == "one, two"
    assert "connection" not in answer.headers


@pytest.mark.parametrize("status", [200, 204, 205, 302, 304, 404])
def test_no_answer_is_empty_so_that_no_client_waits_for_the_time_limit(strange, status):
    started = time.monotonic()
    with caller(strange) as client:
        answer = client.get(f"/nothing/{status}")
    assert time.monotonic() - started < strange.limits.timeout / 2
    assert answer.status_code == (200 if status in (204, 205) else status)
    assert strange.calls[-1].pieces


def test_an_answer_whose_head_went_ahead_is_not_empty_either(strange):
    with caller(strange) as client:
        assert client.get("/nothing-slowly").content == b"\n"


def test_a_head_request_is_answered_without_its_body(strange):
    with caller(strange) as client:
        answer = client.head("/echo")
    assert (answer.status_code, answer.content) == (200, b"")
    assert strange.calls[-1].sizes_taken < 200


def test_a_request_beyond_six_megabytes_never_reaches_the_function(gateway):
    calls = len(gateway.calls)
    with caller(gateway) as client:
        answer = client.post(CHAT, json=ASK | {"user": "x" * (6 * 1024 * 1024)})
    assert answer.status_code == 413
    assert len(gateway.calls) == calls


def test_a_request_of_five_megabytes_does(gateway, upstream):
    upstream.play(*HELLO)
    long = [{"role": "user", "content": "é" * (2 * 1024 * 1024)}]
    with caller(gateway) as client:
        assert client.post(CHAT, json=ASK | {"messages": long}).status_code == 200
    assert len(upstream.received[0].body) > 4 * 1024 * 1024


def test_nothing_that_comes_over_http_is_taken_for_an_event(gateway):
    with caller(gateway) as client:
        for path in ("/", "/events", "/2015-03-31/functions/function/invocations"):
            answer = client.post(path, json={"motes": "ping"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_url")


def test_an_event_that_is_not_http_is_answered_in_one_piece(gateway):
    body, error = gateway.invoke({"motes": "ping"})
    assert error is None
    assert json.loads(body)["status"] == "ok"
    assert f"POST /invocation/{gateway.calls[-1].id}/response" in gateway.environments[-1].requests


def test_an_unknown_event_is_an_error_of_the_invocation(gateway):
    body, error = gateway.invoke({"source": "aws.events"})
    assert error == "Motes.UnknownEvent"
    assert json.loads(body)["errorType"] == error
    assert gateway.line("event_refused", requestId=gateway.calls[-1].id)["level"] == "ERROR"


@pytest.mark.parametrize("event", [b"not json", b'{"version":"2.0","requestContext":{"http":{}}}'])
def test_an_event_that_makes_no_sense_is_an_error_and_not_the_end(gateway, event):
    assert gateway.invoke(event)[1].startswith("Motes.")
    assert gateway.invoke({"motes": "ping"})[1] is None


def test_the_platforms_id_goes_back_with_every_answer(gateway, upstream):
    upstream.play(*HELLO)
    with caller(gateway) as client:
        client.post(CHAT, json=STREAM)
    gateway.invoke({"motes": "ping"})
    gateway.invoke({})
    assert [call.echoed for call in gateway.calls[-3:]] == [call.echo for call in gateway.calls[-3:]]


def test_an_invocation_through_the_api_sees_prelude_body_and_a_plain_end(gateway, upstream):
    *pieces, last = gateway.invoke_with_response_stream(http_event("/healthz"))
    payload = b"".join(piece["PayloadChunk"]["Payload"] for piece in pieces)
    prelude, _, body = payload.partition(bytes(8))
    assert json.loads(prelude)["statusCode"] == 200
    assert json.loads(body)["status"] == "ok"
    assert last == {"InvokeComplete": {}}


def test_every_line_of_the_log_names_its_invocation_and_trace(gateway, upstream):
    upstream.play(*HELLO)
    with caller(gateway) as client:
        client.post(CHAT, json=STREAM, headers={"x-request-id": "r-log"})
    call = gateway.calls[-1]
    for event, own in (("request", {"request_id": "r-log"}), ("run_ended", {})):
        assert gateway.line(event, requestId=call.id, **own)["traceId"] == f"1-{call.id[:8]}"
    assert all(json.loads(line) for line in gateway.log)


def test_a_client_that_leaves_is_not_noticed_and_the_answer_goes_on(gateway, upstream):
    upstream.play(SSE_HEAD, chat_chunk({"content": "one"}), Gate("on"), *HELLO[1:])
    with caller(gateway) as client, client.stream("POST", CHAT, json=STREAM) as response:
        next(response.iter_raw())
    upstream.open("on")
    assert gateway.line("run_ended", requestId=gateway.calls[-1].id)["reason"] == "done-dialect"


def test_work_after_the_last_byte_delays_no_client_and_is_done(strange):
    with caller(strange) as client:
        assert client.get("/tail").text == "done"
    assert not any("tail_over" in line for line in strange.log)
    assert strange.invoke({"motes": "ping"})[1] is None
    assert strange.line("tail_over")


def test_the_platforms_word_on_the_tenant_is_in_the_log(gateway):
    gateway.invoke(http_event("/nothing"), {"Lambda-Runtime-Aws-Tenant-Id": "tenant-7"})
    assert gateway.line("request", requestId=gateway.calls[-1].id)["tenantId"] == "tenant-7"


def test_what_is_too_large_ends_and_the_app_is_told(launch):
    small = launch(odd(), limits=Limits(response=1024 * 1024)).warm()
    with caller(small) as client, pytest.raises(Exception, match="incomplete chunked read"):
        # More than all sockets on the way hold: the app cannot be through before it is told.
        client.get("/flood/64")
    assert small.line("departed")["type"] == "http.disconnect"
    assert "Runtime API" in small.line("response_refused")["reason"]
    assert small.invoke({"motes": "ping"})[1] is None


def test_the_platforms_speed_is_the_apps(launch):
    """A burst, and then so many bytes a second."""
    slow = launch(odd(), limits=Limits(burst=384 * 1024, rate=512 * 1024)).warm()
    started = time.monotonic()
    with caller(slow) as client:
        assert len(client.get("/flood/1").content) == 1024 * 1024
    assert time.monotonic() - started > 1.0


def test_answers_wait_for_their_turn(gateway, upstream):
    upstream.play(SSE_HEAD, Gate("go"), *HELLO[1:])
    done = []

    def ask():
        with caller(gateway) as client:
            done.append(events(client.post(CHAT, json=STREAM).text)[-1])

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    upstream.open("go")
    for thread in threads:
        thread.join(20)
    assert done == ["[DONE]"] * 3
