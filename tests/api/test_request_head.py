"""A request's head has an end; its body, and the requests behind it, are not counted with it."""

import socket
from urllib.parse import urlsplit

from fakes.lifespan import lifespan
from motes.hosts.local import running


async def _echo(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"8")]})
    await send({"type": "http.response.body", "body": b"%08d" % size})


def _connected(base):
    address = urlsplit(base)
    return socket.create_connection((address.hostname, address.port), timeout=20)


def test_a_head_without_end_is_refused() -> None:
    with running(_echo) as base, _connected(base) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        sent = 0
        try:
            while sent < 64 * 1024 * 1024:
                sent += peer.send(b"x-a: " + b"b" * 4000 + b"\r\n")
        except OSError:
            pass
        assert sent < 64 * 1024 * 1024


def test_a_head_that_is_too_large_is_answered_with_431() -> None:
    with running(_echo) as base, _connected(base) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nx-a: " + b"b" * 65_536)
        assert peer.recv(100).startswith(b"HTTP/1.1 431 ")


def test_large_bodies_and_many_requests_on_one_connection_are_served() -> None:
    with running(_echo) as base, _connected(base) as peer:
        for _ in range(3):
            head = b"POST / HTTP/1.1\r\nHost: x\r\nx-a: %s\r\nContent-Length: 300000\r\n\r\n"
            peer.sendall(head % (b"b" * 30_000) + b"c" * 300_000)
            answer = b""
            while not answer.endswith(b"00300000"):
                piece = peer.recv(1000)
                assert piece
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200 ")


def test_many_small_requests_in_one_read_are_all_served() -> None:
    with running(_echo) as base, _connected(base) as peer:
        peer.sendall((b"GET / HTTP/1.1\r\nHost: x\r\nx-a: %s\r\n\r\n" % (b"b" * 2000)) * 60)
        answer = b""
        while answer.count(b"00000000") < 60:
            piece = peer.recv(10_000)
            assert piece
            answer += piece
        assert answer.count(b"HTTP/1.1 200 ") == 60


def test_who_says_that_nothing_more_comes_is_still_answered() -> None:
    peers = list[socket.socket]()

    async def answer(scope, receive, send):
        await _echo(scope, receive, send)
        if scope["type"] == "http":
            # In the turn in which the answer was written.
            peers[0].shutdown(socket.SHUT_WR)

    with running(answer) as base, _connected(base) as peer:
        peers.append(peer)
        peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answered = b""
        while piece := peer.recv(1000):
            answered += piece
        assert answered.endswith(b"00000000")
