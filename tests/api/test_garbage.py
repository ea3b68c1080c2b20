"""What a request leaves behind: nothing that refers to itself, which only the collector would find."""

import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from urllib.parse import urlsplit

import pytest

from fakes.serving import ASK, KEY, STREAM
from fakes.upstream import HELLO, SSE_HEAD, Sleep, UntilGone, answer, chat_chunk

MANY = 20
ALONE = "MOTES_TESTS_ALONE"
alone = pytest.mark.skipif(ALONE not in os.environ, reason="runs in a process of its own, see the last test")
NOT_FOUND = answer(404, {"error": {"message": "no such model", "code": "model_not_found"}})
PARTICLES, CHAT = "/v1/particles", "/v1/chat/completions"


def asked(base_url, path, body, key=KEY, until=None, times=1):
    """One request over a connection of its own, or some at once, read to its end or `until` something came.
    httpx would leave rings of its own.
    """
    written = json.dumps(body).encode()
    fields = (
        "host: motes",
        "connection: close" if times == 1 else "connection: keep-alive",
        f"authorization: Bearer {key}",
        f"content-length: {len(written)}",
    )
    head = "\r\n".join((f"POST {path} HTTP/1.1", *fields, "", "")).encode()
    where = urlsplit(base_url)
    told = b""
    with socket.create_connection((where.hostname, where.port), timeout=20) as line:
        line.sendall((head + written) * times)
        while (until is None or until not in told) and (data := line.recv(65536)):
            told += data
    return told


def left_by(work):
    """The kinds of what is left and refers to itself, after many times the same."""
    for _ in range(3):
        work()
    time.sleep(0.5)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(MANY):
            work()
        time.sleep(0.5)
        gc.collect()
        gc.set_debug(0)
        return Counter(type(one).__qualname__ for one in ours(gc.garbage))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def ours(garbage):
    """Without the transports of the scripted upstream and the loops of tests before, which refer to
    themselves, and what they hold.
    """
    known = {id(one) for one in garbage}
    theirs = [
        one for one in garbage if type(one).__qualname__ in ("_SelectorSocketTransport", "VirtualTimeLoop")
    ]
    for one in theirs:
        known.discard(id(one))
        for held in gc.get_referents(one):
            if id(held) in known:
                known.discard(id(held))
                theirs.append(held)
    return [one for one in garbage if id(one) in known]


@alone
@pytest.mark.parametrize(
    ("path", "body", "key", "script"),
    [
        (CHAT, STREAM, KEY, HELLO),
        (CHAT, ASK, KEY, HELLO),
        (PARTICLES, ASK, KEY, HELLO),
        (CHAT, STREAM, KEY, [NOT_FOUND]),
        (CHAT, STREAM, KEY, [SSE_HEAD, chat_chunk({"content": "Hal"})]),
        (CHAT, {"model": "fake/m", "messages": 1}, KEY, HELLO),
        (CHAT, STREAM, "another", HELLO),
    ],
    ids=["streamed", "whole", "particles", "refused upstream", "cut", "bad body", "wrong key"],
)
def test_a_request_leaves_nothing_that_refers_to_itself(served, upstream, path, body, key, script):
    upstream.play(*script)
    left = left_by(lambda: asked(served, path, body, key))
    # What a timer or a chore of the gateway leaves now and then is not of a request.
    assert left.total() < MANY, left


@alone
@pytest.mark.parametrize("times", [1, 2])
def test_a_reader_who_leaves_leaves_nothing_that_refers_to_itself(served, upstream, times):
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hal"}), UntilGone())
    left = left_by(lambda: asked(served, CHAT, STREAM, until=b"Hal", times=times))
    assert left.total() < MANY, left


@alone
@pytest.mark.parametrize("path", [CHAT, PARTICLES])
def test_words_on_their_short_way_leave_nothing_that_refers_to_itself(served, upstream, path):
    words = [step for n in range(4) for step in (chat_chunk({"content": f"w{n}"}), Sleep(0.005))]
    upstream.play(*HELLO[:3], *words, *HELLO[3:])
    left = left_by(lambda: asked(served, path, STREAM))
    assert left.total() < MANY, left


@pytest.mark.skipif(ALONE in os.environ, reason="is the one that starts the others")
def test_no_request_leaves_anything_in_a_process_that_has_done_nothing_else():
    """The collector finds what all of a process has left, and other tests leave loops and their parts."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=os.environ | {ALONE: "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
