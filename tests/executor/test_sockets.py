"""The same laws over real sockets, where the network has its own mind."""

import asyncio
import socket
import struct
import time
from contextlib import aclosing, asynccontextmanager

import pytest

from fakes.tiny import GOOD, Listener, line, tiny_dispatch
from fakes.tiny_runs import options
from motes import particles as p
from motes.executor.connection import open_client
from motes.executor.pipeline import run
from motes.executor.policy import Backoff, Policy
from motes.vendors.vendor import Timeouts

ONCE = Policy(http=Backoff(1, 0.01), connection=Backoff(1, 0.01))
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Server:
    """Reads each request whole and hands the connection to the script."""

    def __init__(self, script):
        self.script = script
        self.connections = 0
        self.requests = []
        self.closed_at = []
        self.url = ""

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append((head, await reader.readexactly(length)))
                await self.script(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed_at.append(time.monotonic())
        finally:
            writer.close()


@asynccontextmanager
async def served(script):
    server = Server(script)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    async with listener:
        yield server


async def said_at(url, policy=ONCE, timeouts=None):
    said = []
    dispatch = tiny_dispatch(url=url, timeouts=timeouts or Timeouts(first_byte=5.0, idle=5.0))
    async with (
        open_client(trust_env=False) as http,
        aclosing(run(dispatch, http, options(policy=policy))) as particles,
    ):
        async for particle in particles:
            said.append(particle)
    assert [type(particle) for particle in said].count(p.End) == 1
    assert isinstance(said[-1], p.End)
    return said


def issue_of(said):
    (issue,) = [particle for particle in said if isinstance(particle, p.Issue)]
    return issue


def reset(writer):
    """Close with RST instead of FIN."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


async def test_an_answer_in_one_piece_over_a_socket():
    async def script(_, writer):
        writer.write(HEAD + chunk(b"".join(GOOD)) + b"0\r\n\r\n")

    async with served(script) as server:
        said = await said_at(server.url)
        assert said[-1] == p.End("done-dialect", "ok")
        head, body = server.requests[0]
        assert b"\r\nuser-agent: motes/" in head.lower()
        assert b"\r\naccept-encoding: identity\r\n" in head.lower()
        assert body == b'{"messages":[]}'


async def test_the_connection_serves_again():
    async def script(_, writer):
        writer.write(HEAD + chunk(b"".join(GOOD)))
        await writer.drain()
        await asyncio.sleep(0.005)
        writer.write(b"0\r\n\r\n")

    async with served(script) as server, open_client(trust_env=False) as http:
        for _ in range(3):
            async with aclosing(run(tiny_dispatch(url=server.url), http)) as particles:
                assert [x async for x in particles][-1].stop == "ok"
        assert (server.connections, len(server.requests)) == (1, 3)


async def test_a_connection_that_went_stale_in_the_pool_is_replaced():
    async def script(_, writer):
        writer.write(HEAD + chunk(b"".join(GOOD)) + b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with served(script) as server, open_client(trust_env=False) as http:
        for _ in range(3):
            async with aclosing(run(tiny_dispatch(url=server.url), http)) as particles:
                assert [x async for x in particles][-1].stop == "ok"
        assert len(server.requests) == 3


async def test_particles_arrive_while_the_upstream_waits_for_them():
    confirmed = asyncio.Event()

    async def script(_, writer):
        writer.write(HEAD)
        for letter in "abcdef":
            writer.write(chunk(line(text=letter)))
            await writer.drain()
            await asyncio.wait_for(confirmed.wait(), 5)
            confirmed.clear()
        writer.write(chunk(line(stop="ok")) + b"0\r\n\r\n")

    async with served(script) as server, open_client(trust_env=False) as http:
        text = ""
        async with aclosing(run(tiny_dispatch(url=server.url), http)) as particles:
            async for particle in particles:
                if isinstance(particle, p.Text):
                    text += particle.text
                    confirmed.set()
        assert text == "abcdef"


@pytest.mark.parametrize("how", ["fin", "rst"])
async def test_a_body_cut_in_the_middle_is_a_truncation(how):
    async def script(_, writer):
        writer.write(HEAD + chunk(line(text="so far")))
        await writer.drain()
        await asyncio.sleep(0.02)
        reset(writer) if how == "rst" else writer.close()

    async with served(script) as server:
        said = await said_at(server.url)
    assert said[0] == p.Text("so far")
    assert (issue_of(said).phase, issue_of(said).error.kind) == ("dispatch-read", "stream_truncated")


@pytest.mark.parametrize("how", ["fin", "rst"])
async def test_a_connection_closed_without_an_answer_is_a_truncation_before_it(how):
    async def script(_, writer):
        reset(writer) if how == "rst" else writer.close()

    async with served(script) as server:
        said = await said_at(server.url)
    assert (issue_of(said).phase, issue_of(said).error.kind) == ("dispatch-fetch", "stream_truncated")


async def test_a_cut_before_anything_visible_is_mended_by_another_attempt():
    calls = []

    async def script(_, writer):
        calls.append(1)
        if len(calls) == 1:
            writer.write(HEAD + chunk(line(model="t-1")))
            await writer.drain()
            reset(writer)
        else:
            writer.write(HEAD + chunk(b"".join(GOOD)) + b"0\r\n\r\n")

    async with served(script) as server:
        said = await said_at(server.url, Policy(connection=Backoff(3, 0.01)))
    assert said[-1].stop == "ok"
    assert len([x for x in said if isinstance(x, p.RetryReset)]) == 1


async def test_what_is_not_http_is_a_protocol_error():
    async def script(_, writer):
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        await writer.drain()

    async with served(script) as server:
        said = await said_at(server.url)
    assert (issue_of(said).error.kind, issue_of(said).error.retryable) == ("protocol", False)


async def test_a_broken_chunk_length_is_a_protocol_error():
    async def script(_, writer):
        writer.write(HEAD + chunk(line(text="so far")) + b"zz\r\n")
        await writer.drain()

    async with served(script) as server:
        said = await said_at(server.url)
    assert said[0] == p.Text("so far")
    assert issue_of(said).error.kind == "protocol"


async def test_a_refused_connection_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = await said_at(f"http://127.0.0.1:{port}/v1")
    error = issue_of(said).error
    assert (issue_of(said).phase, error.code, error.retryable) == (
        "dispatch-fetch",
        "connection_refused",
        True,
    )
    assert str(port) not in error.message


async def test_a_host_that_does_not_exist_says_so():
    said = await said_at("http://no-such-host.invalid/v1")
    assert issue_of(said).error.code == "dns_failed"


async def test_a_server_without_tls_is_a_tls_failure():
    async def plain(reader, writer):
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as listener:
        said = await said_at(f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1")
    assert issue_of(said).error.code == "tls_failed"


async def test_a_silent_server_is_a_timeout():
    async def script(_, writer):
        await asyncio.sleep(5)

    async with served(script) as server:
        start = time.monotonic()
        said = await said_at(server.url, timeouts=Timeouts(first_byte=0.2))
        assert time.monotonic() - start < 1
    assert issue_of(said).error.code == "first_byte_timeout"


async def test_a_run_that_waits_for_headers_is_reported_as_waiting_and_closed_in_time():
    closed = asyncio.Event()

    async def script(reader, _):
        await reader.read()
        closed.set()

    async with served(script) as server, open_client(trust_env=False) as http:
        heard, deadline = Listener(), asyncio.get_running_loop().time() + 0.5
        changed = options(deadline=deadline, warn_margin=0.4, stop_margin=0.2)
        async with aclosing(run(tiny_dispatch(url=server.url), http, changed, heard)) as particles:
            said = [particle async for particle in particles]
        assert issue_of(said).error.code == "platform_deadline"
        assert heard.slow[0].step == "waiting"
        await asyncio.wait_for(closed.wait(), 1)


async def test_a_server_that_falls_silent_is_an_idle_timeout():
    async def script(reader, writer):
        writer.write(HEAD + chunk(line(text="so far")))
        await reader.read()

    async with served(script) as server:
        said = await said_at(server.url, timeouts=Timeouts(idle=0.2))
        assert issue_of(said).error.code == "idle_timeout"
        assert said[0] == p.Text("so far")


@pytest.mark.parametrize("answers", [False, True], ids=["before the answer", "in its middle"])
@pytest.mark.parametrize("leaves", ["cancel", "close"])
async def test_a_reader_that_leaves_closes_the_upstream_within_a_second(leaves, answers):
    closed = asyncio.Event()

    async def script(reader, writer):
        if answers:
            writer.write(HEAD + chunk(line(text="a")))
            await writer.drain()
        await reader.read()
        closed.set()

    async with served(script) as server, open_client(trust_env=False) as http:
        heard = Listener()
        source = run(tiny_dispatch(url=server.url), http, options(heartbeat=0.05), heard)

        async def read():
            async with aclosing(source) as particles:
                async for _ in particles:
                    if leaves == "close":
                        return

        task = asyncio.create_task(read())
        await asyncio.sleep(0.15)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.wait_for(closed.wait(), 1)
        assert [end.reason for _, end, _ in heard.ends] == ["done-dispatch-aborted"]


async def test_an_answer_of_many_megabytes_is_given_piece_by_piece():
    pieces = 2000

    async def script(_, writer):
        writer.write(HEAD)
        for _ in range(pieces):
            writer.write(chunk(line(text="x" * 5000)))
            await writer.drain()
        writer.write(chunk(line(stop="ok")) + b"0\r\n\r\n")

    async with served(script) as server:
        said = await said_at(server.url)
    assert sum(len(x.text) for x in said if isinstance(x, p.Text)) == pieces * 5000
    assert said[-1].stop == "ok"
