"""What is written to the Runtime API, byte for byte, and what an event is taken for."""

import base64
import json

import pytest

from hosts.commands import http_event
from motes.hosts.events import UnknownEvent, answer_to, is_http, request_of
from motes.hosts.exchange import chunk, head, last_chunk
from motes.hosts.runtime import Failure, prelude

NULS = bytes(8)


def read(data: bytes) -> dict:
    text, _, rest = data.partition(NULS)
    assert rest == b""
    return json.loads(text)


def test_a_chunk_has_its_length_in_hex_and_an_empty_one_is_none():
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
    assert chunk(b"") == b""


def test_the_last_chunk_carries_trailers():
    assert last_chunk() == b"0\r\n\r\n"
    assert last_chunk([("A", "1"), ("B", "2")]) == b"0\r\nA: 1\r\nB: 2\r\n\r\n"


def test_a_head_is_a_line_and_its_fields():
    assert head("GET", "/x", [("Host", "h")]) == b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"


def test_the_prelude_has_one_value_a_header_and_the_cookies_apart():
    headers = [(b"X-A", b"1"), (b"x-a", b"2"), (b"Set-Cookie", b"c=1, d"), (b"set-cookie", b"e=2")]
    told = read(prelude(201, [*headers, (b"Content-Type", b"text/plain")]))
    assert told == {
        "statusCode": 201,
        "headers": {"x-a": "1, 2", "content-type": "text/plain"},
        "cookies": ["c=1, d", "e=2"],
    }


def test_the_prelude_always_names_a_content_type_and_no_header_of_the_connection():
    headers = [(b"Transfer-Encoding", b"chunked"), (b"connection", b"close"), (b"keep-alive", b"1")]
    assert read(prelude(200, headers)) == {
        "statusCode": 200,
        "headers": {"content-type": "application/octet-stream"},
    }


def test_no_header_can_end_the_prelude():
    data = prelude(200, [(b"x-odd", bytes(9)), (b"x-high", b"\xe9\xff")])
    assert data.count(NULS) == 1
    assert data.isascii()


def test_a_failure_is_told_without_a_stack():
    assert json.loads(Failure("Motes.X", "why\nnow").json) == {
        "errorType": "Motes.X",
        "errorMessage": "why\nnow",
        "stackTrace": [],
    }


def test_only_the_request_context_makes_an_event_a_request():
    assert is_http(http_event("/"))
    for event in (None, [], "x", 5, {}, {"version": "2.0"}, {"version": "2.0", "requestContext": None}):
        assert not is_http(event)
    for context in ([], {}, {"http": None}, {"http": "GET"}):
        assert not is_http({"version": "2.0", "requestContext": context})
    assert not is_http({**http_event("/"), "version": "1.0"})


def test_a_request_becomes_a_scope():
    event = http_event("/a%20b/%C3%A9", "POST", rawQueryString="x=1&x=2", cookies=["a=1", "b=2"])
    scope, body = request_of(
        {**event, "body": base64.b64encode(b"\x00\xff").decode(), "isBase64Encoded": True}
    )
    assert (scope["type"], scope["method"], scope["path"]) == ("http", "POST", "/a b/é")
    assert (scope["raw_path"], scope["query_string"]) == (b"/a%20b/%C3%A9", b"x=1&x=2")
    assert (scope["scheme"], scope["client"]) == ("https", ("192.0.2.7", 0))
    assert [b"cookie", b"a=1; b=2"] in [list(pair) for pair in scope["headers"]]
    assert body == b"\x00\xff"
    assert not [name for name in scope if name.startswith("aws.")]


def test_a_request_without_a_body_has_an_empty_one():
    assert request_of(http_event("/"))[1] == b""


@pytest.mark.parametrize(
    "event", [None, [], "ping", {}, {"motes": None}, {"motes": ["ping"]}, {"motes": "x"}]
)
def test_what_nothing_is_for_is_refused(event):
    with pytest.raises(UnknownEvent):
        answer_to(event)


def test_a_ping_is_answered():
    assert answer_to({"motes": "ping"})["status"] == "ok"
