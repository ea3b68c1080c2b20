"""The head of a streamed answer is the one that uvicorn writes, byte for byte, or left to it."""

import re
import socket
from urllib.parse import urlsplit

import pytest

from fakes.lifespan import lifespan
from motes.api.envelope import HEAD_SEND
from motes.hosts.local import running

OWN = [(b"Content-Type", b"text/event-stream"), (b"x-request-id", b"req_1"), (b"x-empty", b"")]
LEFT_TO_UVICORN = {
    "length": (200, [(b"content-length", b"2")]),
    "framing": (200, [(b"transfer-encoding", b"chunked")]),
    "connection": (200, [(b"connection", b"close")]),
    "status": (404, OWN),
    "name": (200, [(b"x y", b"1")]),
    "value": (200, [(b"x", b"1\r\nset-cookie: a")]),
}


class App:
    """Answers by the short way where the path says so; keeps what that gave."""

    def __init__(self):
        self.given = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        name, begin = scope["path"][1:], scope[HEAD_SEND]
        if name in LEFT_TO_UVICORN:
            self.given.append(begin(*LEFT_TO_UVICORN[name]))
        if name == "short":
            self.given += [begin(200, OWN), begin(200, OWN)]
        else:
            await send({"type": "http.response.start", "status": 200, "headers": OWN})
        await send({"type": "http.response.body", "body": b"ok", "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def answered(base, path, more=b"", method=b"GET"):
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port), timeout=20) as peer:
        peer.sendall(b"%b /%b HTTP/1.1\r\nHost: x\r\n%b\r\n" % (method, path.encode(), more))
        told = b""
        while not told.endswith(b"0\r\n\r\n"):
            more = peer.recv(4096)
            assert more
            told += more
    return re.sub(rb"date: [^\r]*", b"date:", told)


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_it_is_the_same_as_uvicorns_and_written_once(more):
    app = App()
    with running(app) as base:
        assert answered(base, "short", more) == answered(base, "long", more)
    assert app.given == [True, False]


@pytest.mark.parametrize("name", LEFT_TO_UVICORN)
def test_what_says_how_the_answer_is_framed_or_is_no_header_is_left_to_uvicorn(name):
    app = App()
    with running(app) as base:
        assert answered(base, name) == answered(base, "long")
    assert app.given == [False]
