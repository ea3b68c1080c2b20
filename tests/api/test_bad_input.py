"""What callers send that cannot be meant: the right status, OpenAI's shape, nothing leaked, server alive."""

import gzip
import http.client
import json
import socket

import pytest

from fakes.serving import ASK, AUTH, KEY, VENDOR_KEY, client, serving, vendor_row
from fakes.upstream import HELLO

CHAT = "/chat/completions"
USER = [{"role": "user", "content": "Hi"}]
MIB = 1024 * 1024


def nested(depth):
    return '{"a":' * depth + "1" + "}" * depth


BAD = {
    "nothing": (b"", 400, "invalid_json"),
    "no json": (b"{", 400, "invalid_json"),
    "no utf-8": (b"\xff\xfe{}", 400, "invalid_json"),
    "a list": (b"[]", 400, "invalid_json"),
    "null": (b"null", 400, "invalid_json"),
    "no messages": (b'{"model":"fake/m"}', 400, "invalid_value"),
    "messages is text": (b'{"model":"fake/m","messages":"hi"}', 400, "invalid_value"),
    "messages is empty": (b'{"model":"fake/m","messages":[]}', 400, "invalid_value"),
    "message is a number": (b'{"model":"fake/m","messages":[1]}', 400, "invalid_value"),
    "role unknown": (b'{"model":"fake/m","messages":[{"role":"king"}]}', 400, "invalid_value"),
    "model is a number": (json.dumps(ASK | {"model": 3}).encode(), 400, "invalid_value"),
    "stream is text": (json.dumps(ASK | {"stream": "maybe"}).encode(), 400, "invalid_value"),
    "temperature high": (json.dumps(ASK | {"temperature": 9}).encode(), 400, "invalid_value"),
    "tools is text": (json.dumps(ASK | {"tools": "f"}).encode(), 400, "invalid_value"),
    "tool without function": (
        json.dumps(ASK | {"tools": [{"type": "function"}]}).encode(),
        400,
        "invalid_value",
    ),
    "n": (json.dumps(ASK | {"n": 2}).encode(), 400, "unsupported"),
    "logprobs": (json.dumps(ASK | {"logprobs": True}).encode(), 400, "unsupported"),
    "context long": (json.dumps(ASK | {"motes": {"context": "x" * 65}}).encode(), 400, "invalid_value"),
    "dialect unknown": (json.dumps(ASK | {"motes": {"dialect": "latin"}}).encode(), 400, "unsupported"),
    "no model": (json.dumps({"messages": USER}).encode(), 400, "missing_model"),
    "bare model": (json.dumps(ASK | {"model": "gpt-x"}).encode(), 404, "model_not_found"),
    "half a character": (b'{"model":"fake/\\ud83d","messages":[{"role":"user"}]}', 404, "model_not_found"),
    "unknown vendor": (json.dumps(ASK | {"model": "nobody/x"}).encode(), 404, "model_not_found"),
    "missing key": (json.dumps(ASK | {"model": "openai/x"}).encode(), 500, "missing_vendor_key"),
    "no address": (json.dumps(ASK | {"model": "openai-compatible/x"}).encode(), 500, "not_configured"),
    "input is a number": (b'{"model":"fake/m","input":3}', 400, "invalid_value"),
    "deep": (nested(100_000).encode(), 400, "too_deep"),
}


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    toml = vendor_row("http://127.0.0.1:9/v1")
    with serving(tmp_path_factory.mktemp("home"), toml) as url, client(url) as made:
        yield made


PLACES = {
    b"": ": it is empty",
    b" \n": ": it is empty",
    b"{": " at line 1, column 2",
    b'{"model": "fake/m",\n "messages": [,]}': " at line 2, column 15",
    b'{"a": very-secret}': " at line 1, column 7",
}


@pytest.mark.parametrize("body", PLACES)
def test_who_sends_no_json_hears_where_it_is_none_and_not_what_stands_there(caller, body):
    response = caller.post(CHAT, content=body, headers={"content-type": "application/json"})
    error = response.json()["error"]
    assert error["message"] == f"the request body is not valid JSON{PLACES[body]}"
    assert error["code"] == "invalid_json"


def check(response, status, code):
    assert response.status_code == status
    error = response.json()["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    assert error["code"] == code
    assert len(error["message"]) < 1500
    assert response.headers["x-request-id"]
    assert VENDOR_KEY not in response.text
    assert KEY not in response.text
    assert "Traceback" not in response.text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, "/particles"])
@pytest.mark.parametrize("name", BAD)
def test_a_request_that_cannot_be_meant_is_refused_in_openais_shape(caller, name, path, stream):
    body, status, code = BAD[name]
    if stream and body.startswith(b'{"'):
        body = b'{"stream":true,' + body[1:]
    if name == "stream is text":
        body = BAD[name][0]
    check(caller.post(path, content=body, headers={"content-type": "application/json"}), status, code)
    assert caller.get("/models").status_code == 200


@pytest.mark.parametrize("depth", [100, 250, 260, 500, 900, 1100])
def test_deep_nesting_is_served_or_refused_but_never_breaks(caller, depth):
    tool = {"type": "function", "function": {"name": "f", "parameters": "DEEP"}}
    body = json.dumps(ASK | {"tools": [tool]}).replace('"DEEP"', nested(depth))
    response = caller.post(CHAT, content=body.encode())
    assert response.status_code in (400, 502)
    assert response.json()["error"]["message"]


def test_json_is_json_whatever_its_label_and_a_wrong_label_on_nonsense_is_415(caller):
    form = {"content-type": "application/x-www-form-urlencoded"}
    labelled = caller.post(CHAT, content=json.dumps(ASK | {"n": 2}).encode(), headers=form)
    check(labelled, 400, "unsupported")
    check(caller.post(CHAT, content=b"a=b", headers=form), 415, "unsupported_media_type")
    check(
        caller.post(CHAT, content=b"a=b", headers={"content-type": "application/json"}), 400, "invalid_json"
    )


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "gzip, gzip", "x" * 500])
def test_a_compressed_body_is_415_and_names_the_encoding(caller, encoding):
    body = gzip.compress(json.dumps(ASK).encode())
    response = caller.post(CHAT, content=body, headers={"content-encoding": encoding})
    check(response, 415, "unsupported_media_type")
    assert encoding[:40] in response.json()["error"]["message"]
    assert response.headers["accept-encoding"] == "identity"
    assert caller.get("/models").status_code == 200


def test_an_encoding_that_changes_nothing_and_a_byte_order_mark_are_taken(gateway, upstream):
    body = b"\xef\xbb\xbf" + json.dumps(ASK).encode()
    for headers in ({}, {"content-encoding": "identity"}, {"content-type": "text/plain"}):
        upstream.play(*HELLO)
        assert gateway.post(CHAT, content=body, headers=headers).status_code == 200


def test_a_body_above_the_limit_is_413_told_in_advance_or_not(caller):
    big = b'{"messages":"' + b"x" * (20 * MIB) + b'"}'
    check(caller.post(CHAT, content=big), 413, "request_too_large")
    pieces = (big[at : at + 65536] for at in range(0, len(big), 65536))
    check(caller.post(CHAT, content=pieces), 413, "request_too_large")
    assert caller.get("/models").status_code == 200


@pytest.mark.parametrize("close", ["close", "keep-alive"])
@pytest.mark.parametrize("key", [KEY, "wrong"])
def test_a_client_that_sends_everything_before_it_reads_still_learns_why(caller, key, close):
    for _ in range(3):
        line = http.client.HTTPConnection(caller.base_url.host, caller.base_url.port, timeout=20)
        headers = {"x-api-key": key, "connection": close}
        line.request("POST", "/v1/chat/completions", b"x" * (20 * MIB), headers)
        assert line.getresponse().status == (413 if key == KEY else 401)
        line.close()


def test_a_body_just_below_the_limit_is_read(caller):
    body = json.dumps(ASK | {"n": 2, "user": "x" * (10 * MIB - 200)}).encode()
    check(caller.post(CHAT, content=body), 400, "unsupported")


@pytest.mark.parametrize("key", [KEY, "wrong"])
def test_a_client_that_asks_before_it_sends_is_answered_at_once(caller, key):
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\nexpect: 100-continue\r\n"
    with socket.create_connection((caller.base_url.host, caller.base_url.port), timeout=2) as line:
        line.sendall(head.encode() + b"content-length: 90000000\r\n\r\n")
        assert line.recv(4096).split()[1] == (b"413" if key == KEY else b"401")


def test_nobody_can_make_the_gateway_wait_for_a_body_for_long(caller):
    with socket.create_connection((caller.base_url.host, caller.base_url.port), timeout=8) as line:
        line.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 900\r\n\r\n")
        assert line.recv(4096).split()[1] == b"401"


def test_a_client_that_leaves_while_it_is_sending_does_no_harm(caller):
    host, port = caller.base_url.host, caller.base_url.port
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: {AUTH['authorization']}\r\n"
    with socket.create_connection((host, port), timeout=5) as line:
        line.sendall(head.encode() + b"content-length: 900\r\n\r\n{")
    assert caller.get("/models").status_code == 200


def test_in_strict_mode_an_unknown_member_is_refused(tmp_path):
    toml = "strict_requests = true\n" + vendor_row("http://127.0.0.1:9/v1")
    with serving(tmp_path, toml) as url, client(url) as caller:
        response = caller.post(CHAT, json=ASK | {"temperatur": 1})
        check(response, 400, "unknown_parameter")
        assert response.json()["error"]["param"] == "temperatur"


def test_the_body_of_another_endpoint_is_understood(gateway, upstream):
    upstream.play(*HELLO)
    body = {
        "model": "fake/m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Time?"}]},
            {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "12:00"},
        ],
        "tools": [{"type": "function", "name": "now", "parameters": {"type": "object"}}],
        "max_output_tokens": 9,
    }
    assert gateway.post(CHAT, json=body).status_code == 200
    sent = upstream.received[0].json
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "tool"]
    assert sent["messages"][2]["tool_calls"][0]["function"] == {"name": "now", "arguments": "{}"}
    assert sent["tools"][0]["function"]["name"] == "now"
    assert gateway.post(CHAT, json={"model": "fake/m", "input": "Hi"}).status_code == 200


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"OPENAI_API_KEY": "sk-not\x0bshown"}, "its key must have no line break"),
        ({"OPENAI_API_KEY": "sk-not-shown-海"}, "its key must have no characters beyond Latin-1"),
        (
            {"OPENAI_API_KEY": "sk", "OPENAI_BASE_URL": "http://127.0.0.1:99999/v1"},
            "its base URL must have a port",
        ),
        ({"OPENAI_API_KEY": "sk", "OPENAI_BASE_URL": "not-shown"}, "its base URL must be an address"),
    ],
)
def test_what_cannot_be_sent_is_our_own_fault_and_said_to_be(tmp_path, environ, told):
    with serving(tmp_path, "", **environ) as url, client(url) as caller:
        for body in (ASK, ASK | {"stream": True}):
            response = caller.post(CHAT, json=body | {"model": "openai/x"})
            check(response, 500, "not_configured")
            assert told in response.json()["error"]["message"]
            assert "shown" not in response.text
            assert response.headers["x-should-retry"] == "false"
        assert caller.get("/models").status_code == 200


def test_more_messages_than_a_request_may_have_are_refused_before_they_are_read(gateway, upstream):
    upstream.play(*HELLO)
    message = {"role": "user", "content": "x"}
    assert gateway.post(CHAT, json=ASK | {"messages": [message] * 10_000}).status_code == 200
    response = gateway.post(CHAT, json=ASK | {"messages": [message] * 10_001})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "too_many_messages")
    assert response.json()["error"]["param"] == "messages"
    assert len(upstream.received) == 1
