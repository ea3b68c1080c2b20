"""The local server between requests: how it ends, and what it does meanwhile."""

import asyncio
import http.client
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from starlette.responses import PlainTextResponse

from fakes.lifespan import lifespan
from motes.hosts.local import LocalServer, bind

NEVER = 3600.0
PATIENCE = 20.0
ALONE = """
import asyncio
from starlette.applications import Starlette
from motes.hosts.local import LocalServer, bind
ready = lambda: print("ready", flush=True)
asyncio.run(LocalServer(Starlette(), ready).serve([bind()]))
"""


async def app(scope, receive, send):
    if scope["type"] == "http":
        await PlainTextResponse("here")(scope, receive, send)
        return
    await lifespan(receive, send)


@contextmanager
def serving(tick):
    """A server in a thread; gives it, its port and the thread."""
    listener, started = bind(), threading.Event()
    server = LocalServer(app, started.set, tick=tick)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield server, listener.getsockname()[1], thread
    finally:
        server.stop()
        thread.join(PATIENCE)
        listener.close()


def date_of(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/")
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.getheader("date")


def test_it_ends_as_soon_as_it_is_told_to():
    with serving(NEVER) as (server, port, thread):
        assert date_of(port)
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        # Whoever tells it once more disturbs nothing.
        server.stop()


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_process_that_sleeps(word):
    with subprocess.Popen(
        [sys.executable, "-c", ALONE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(word)
            process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    # Who runs the tests in the background may have SIGINT ignored: then it ends as if by itself.
    assert process.returncode in (-word, 0)


def test_the_date_goes_on():
    with serving(0.01) as (_, port, _):
        first, until = date_of(port), time.monotonic() + PATIENCE
        while date_of(port) == first:
            assert time.monotonic() < until
