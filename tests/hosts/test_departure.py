"""The server says by itself when a client leaves: to every request whose answer is not whole, and no other."""

import asyncio
import socket
import time
from urllib.parse import urlsplit

from motes.api.envelope import DEPARTURE
from motes.hosts.local import running

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class App:
    """Keeps the departures. `ends` says whether it answers to the end."""

    def __init__(self, ends):
        self.ends = ends
        self.departures = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                kind = (await receive())["type"]
                await send({"type": f"{kind}.complete"})
                if kind == "lifespan.shutdown":
                    return
        departure = scope[DEPARTURE]
        self.departures.append(departure)
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


def test_who_asks_twice_at_once_and_leaves_is_missed_by_the_first_request():
    app = App(ends=False)
    with running(app) as base:
        with connected(base) as peer:
            peer.sendall(ASK + ASK)
            assert peer.recv(1000)
        until(app.departures[0].done)
