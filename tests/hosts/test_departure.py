"""The server says by itself when a client leaves: to every request whose answer is not whole, and no other."""

import asyncio
import socket
import time
from urllib.parse import urlsplit

import pytest

from fakes.lifespan import lifespan
from motes.api.envelope import BODY_PIECES, DEPARTURE
from motes.hosts.local import running

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class App:
    """Keeps the departures. `ends` says whether it answers to the end."""

    def __init__(self, ends):
        self.ends = ends
        self.departures, self.pieces = [], []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        departure = scope[DEPARTURE]
        self.departures.append(departure)
        self.pieces.append(scope[BODY_PIECES])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"o", "more_body": True})
        if self.ends:
            await send({"type": "http.response.body", "body": b"k"})
        else:
            await asyncio.wait({departure}, timeout=20)


def connected(base):
    address = urlsplit(base)
    return socket.create_connection((address.hostname, address.port), timeout=20)


def until(is_so):
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


class Reader(App):
    """Reads the body, and has no more to ask for."""

    def __init__(self):
        super().__init__(ends=False)
        self.had = 0

    async def __call__(self, scope, receive, send):
        more = scope["type"] == "http"
        while more:
            message = await receive()
            self.had += len(message["body"])
            more = message["more_body"]
        await super().__call__(scope, receive, send)


@pytest.mark.parametrize("first", [0, 1, 100_000])
@pytest.mark.parametrize("size", [1_000, 70_000, 200_000, 400_000, 1_000_000, 6_000_000])
def test_who_leaves_after_a_long_question_is_missed(first, size):
    app = Reader()
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    with running(app) as base:
        with connected(base) as peer:
            # What comes while nobody works on it comes at once.
            peer.sendall(head + b"x" * min(first, size))
            until(lambda: app.had >= min(first, size))
            peer.sendall(b"x" * (size - first))
            assert peer.recv(1000)
        until(app.departures[0].done)


def test_who_leaves_in_the_middle_of_an_answer_is_missed():
    app = App(ends=False)
    with running(app) as base:
        with connected(base) as peer:
            peer.sendall(ASK)
            assert peer.recv(1000)
            assert not app.departures[0].done()
        until(app.departures[0].done)


def test_who_has_his_answer_may_leave():
    app = App(ends=True)
    with running(app) as base:
        with connected(base) as peer:
            for _ in range(3):
                peer.sendall(ASK)
                answer = b""
                while not answer.endswith(b"ok"):
                    answer += peer.recv(1000)
        with connected(base) as peer:
            peer.sendall(ASK)
            assert peer.recv(1000)
    assert len(app.departures) == 4
    assert not any(departure.done() for departure in app.departures)


class Talking(App):
    """Says more and more until the client has left, and a little beyond. A server that has a second request does
    not listen meanwhile: it hears of it where it writes.
    """

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        departure, left = scope[DEPARTURE], 20
        self.pieces.append(scope[BODY_PIECES])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while left:
            left -= departure.done()
            await send({"type": "http.response.body", "body": b"more", "more_body": True})
            await asyncio.sleep(0)
        self.departures.append(departure)


@pytest.mark.parametrize("asked", [1, 2])
def test_who_leaves_while_something_is_said_is_missed_and_no_error_follows(asked, caplog):
    app = Talking(ends=False)
    with running(app) as base:
        with connected(base) as peer:
            peer.sendall(ASK * asked)
            assert peer.recv(1000)
        until(lambda: app.departures)
    # Nothing can be written for him any more, nor was his second request begun.
    assert [pieces.is_open() for pieces in app.pieces] == [False]
    assert not [record for record in caplog.records if record.levelname != "INFO"]
