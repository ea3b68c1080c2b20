"""The HTTP engine over real sockets, on both event loops: what servers do wrong, and what must never be left."""

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager

import httpx
import pytest
import uvloop

from motes.engine import pool
from motes.engine.body import BODY, Body
from motes.engine.opening import Route, opened, proxy_at
from motes.engine.transport import Transport

OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = OK + b"content-length: 5\r\n\r\nhello"


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def runs(request):
    """Runs a coroutine function on one of the loops."""

    def run(work, *args):
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(asyncio.wait_for(work(*args), 20))

    return run


class Server:
    """Answers each request with the next script: bytes are sent as they are, None closes, a number is a pause."""

    def __init__(self, *scripts):
        self.scripts, self.heads, self.bodies, self.connections, self.open = list(scripts), [], [], 0, 0

    async def serve(self, reader, writer):
        self.connections += 1
        self.open += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                self.bodies.append(await reader.readexactly(int(length or 0)))
                script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
                for step in script:
                    if step is None:
                        return
                    if isinstance(step, bytes):
                        writer.write(step)
                        await writer.drain()
                    else:
                        await asyncio.sleep(step)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def served(*scripts, trust_env=False):
    server = Server(*scripts)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    transport = Transport(ssl.create_default_context, trust_env=trust_env)
    async with listener, httpx.AsyncClient(transport=transport, trust_env=False) as http:
        server.pool = transport.pool
        yield server, http, f"http://127.0.0.1:{server.port}/"


def test_bodies_of_every_framing_are_read_to_their_end(runs):
    chunked = OK + b"transfer-encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\ntrailer: t\r\n\r\n"
    until_close = OK + b"\r\nhello"
    spaces = b"HTTP/1.2 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5  \r\nhello\r\n0\r\n\r\n"
    interim = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + LENGTH
    of_another_length = b"HTTP/1.1 103 Early Hints\r\ncontent-length: 3\r\n\r\n" + until_close
    scripts = (
        [LENGTH],
        [chunked],
        [spaces],
        [interim],
        [until_close, None],
        [of_another_length, None],
        [LENGTH],
    )

    async def work():
        async with served(*scripts) as (server, http, url):
            for _ in range(7):
                assert (await http.get(url)).text == "hello"
            assert server.connections == 3
        assert server.pool.connections == set()

    runs(work)


def test_a_head_request_has_a_length_and_no_body(runs):
    async def work():
        async with served([OK + b"content-length: 500\r\nlocation: /x\r\n\r\n"]) as (server, http, url):
            for _ in range(2):
                response = await http.head(url)
                assert (response.headers["location"], response.content) == ("/x", b"")
            assert server.connections == 1

    runs(work)


@pytest.mark.parametrize("rest", [b"hello", b"hel"])
def test_a_connection_with_a_body_that_no_head_request_wants_is_not_used_again(runs, rest):
    async def work():
        async with served([OK + b"content-length: 5\r\n\r\n" + rest], [LENGTH]) as (server, http, url):
            assert (await http.head(url)).content == b""
            assert (await http.get(url)).text == "hello"
            assert server.connections == 2

    runs(work)


@pytest.mark.parametrize("more", [LENGTH, LENGTH[:50], b"nonsense\r\n"])
def test_what_comes_after_the_whole_answer_is_none_of_it_and_ends_the_connection(runs, more):
    async def work():
        async with served([LENGTH + more], [LENGTH]) as (server, http, url):
            for _ in range(2):
                assert (await http.get(url)).text == "hello"
            assert server.connections == 2

    runs(work)


def test_a_large_body_is_sent_whole(runs):
    async def work():
        async with served([LENGTH]) as (server, http, url):
            await http.post(url, content=b"x" * 300_000)
            assert server.bodies == [b"x" * 300_000]

    runs(work)


def test_an_answer_before_the_whole_request_is_read_and_the_connection_is_not_used_again(runs):
    async def work():
        over, ended = asyncio.Event(), asyncio.Semaphore(0)

        async def early(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(LENGTH)
            await over.wait()
            writer.transport.abort()
            ended.release()

        listener = await asyncio.start_server(early, "127.0.0.1", 0, limit=1024)
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
        transport = Transport(ssl.create_default_context, trust_env=False)
        async with httpx.AsyncClient(transport=transport, trust_env=False) as http:
            for _ in range(2):
                answer = await asyncio.wait_for(http.post(url, content=b"x" * 10_000_000), 5)
                assert answer.text == "hello"
            assert transport.pool.connections == set()
        over.set()
        for _ in range(2):
            await ended.acquire()
        listener.close()

    runs(work)


async def lost(connection):
    gone = asyncio.Event()
    connection.on_lost = lambda _: gone.set()
    if not connection.is_closed:
        await gone.wait()


@pytest.mark.parametrize(
    ("early", "told"),
    [(LENGTH, "hello"), (OK + b"\r\nhello", "hello"), (b"SSH-2.0-OpenSSH\r\n", httpx.RemoteProtocolError)],
)
def test_a_server_that_speaks_before_it_is_asked_is_heard(runs, early, told):
    """A balancer that is too busy says so and closes; what it said may be here before the request is out."""

    async def answered(connection):
        connection.send(b"GET / HTTP/1.1\r\n\r\n", b"")
        await connection.head()
        return b"".join([piece async for piece in Body(connection)]).decode()

    async def work():
        listens = asyncio.Event()

        async def speaks(reader, writer):
            writer.write(early)
            if listens.is_set():
                await reader.read(100)
            writer.close()

        async with await asyncio.start_server(speaks, "127.0.0.1", 0) as listener:
            route = Route(False, "127.0.0.1", listener.sockets[0].getsockname()[1], None)
            for is_gone in (True, False):
                if not is_gone:
                    listens.set()
                connection = await opened(route, None, 5.0)
                if is_gone:
                    await lost(connection)
                if isinstance(told, str):
                    assert await answered(connection) == told
                else:
                    with pytest.raises(told):
                        await answered(connection)
                connection.close()

    runs(work)


def test_a_connection_that_is_gone_before_the_request_is_a_broken_one_and_no_silence(runs):
    async def work():
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as listener:
            route = Route(False, "127.0.0.1", listener.sockets[0].getsockname()[1], None)
            connection = await opened(route, None, 5.0)
            await lost(connection)
            connection.send(b"GET / HTTP/1.1\r\n\r\n", b"")
            with pytest.raises(httpx.RemoteProtocolError, match="disconnected"):
                await connection.head()

    runs(work)


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        ([b"SSH-2.0-OpenSSH\r\n"], httpx.RemoteProtocolError, "status line"),
        ([OK + b"bad header\r\n\r\n"], httpx.RemoteProtocolError, "header"),
        ([OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n"], httpx.RemoteProtocolError, "chunk"),
        (
            [OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhel", None],
            httpx.RemoteProtocolError,
            "peer closed",
        ),
        ([OK + b"content-length: 9\r\n\r\nhel", None], httpx.RemoteProtocolError, "peer closed"),
        ([None], httpx.RemoteProtocolError, "disconnected"),
        ([OK + b"x: " + b"y" * 300_000], httpx.RemoteProtocolError, "100 KiB"),
        ([OK, *[b"x: y\r\n" * 5000] * 9], httpx.RemoteProtocolError, "100 KiB"),
        (
            [b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
            httpx.RemoteProtocolError,
            "protocols",
        ),
    ],
)
def test_what_a_server_does_wrong_is_told_in_httpxs_own_classes_and_closes(runs, script, error, words):
    async def work():
        async with served(script) as (server, http, url):
            with pytest.raises(error, match=words):
                await http.get(url)
            assert not server.pool.connections

    runs(work)


def test_a_long_stream_of_tiny_reads_is_no_flood_of_nothing(runs):
    pieces = [piece for _ in range(3000) for piece in (b"1\r\n", b"x\r\n")]

    async def work():
        async with served([OK + b"transfer-encoding: chunked\r\n\r\n" + b"".join(pieces) + b"0\r\n\r\n"]) as (
            _,
            http,
            url,
        ):
            assert len((await http.get(url)).content) == 3000

    runs(work)


def test_a_reader_that_is_slow_slows_the_server_down(runs):
    sent = 0

    async def flood(reader, writer):
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    async def work():
        transport = Transport(ssl.create_default_context, trust_env=False)
        async with await asyncio.start_server(flood, "127.0.0.1", 0) as listener:
            url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
            response = await transport.handle_async_request(httpx.Request("GET", url))
            body = response.extensions[BODY]
            seen = 0
            while seen != sent:
                seen = sent
                await asyncio.sleep(0.05)
            assert sent < 16 * 2**20
            assert await body.read(None)
            body.close()
            with pytest.raises(httpx.StreamClosed):
                await body.read(None)
            await transport.aclose()

    runs(work)


def test_a_read_gives_up_at_its_time_and_goes_on_afterwards(runs):
    async def work():
        chunk = OK + b"transfer-encoding: chunked\r\n\r\n"
        async with served([chunk, 0.3, b"1\r\na\r\n0\r\n\r\n"]) as (_, http, url):
            request = http.build_request("GET", url)
            response = await http.send(request, stream=True)
            body, clock = response.extensions[BODY], asyncio.get_running_loop().time
            started = clock()
            assert await body.read(started + 0.05) is None
            assert 0.04 < clock() - started < 0.25
            assert await body.read(started + 5) == b"a"
            assert await body.read(started + 5) == b""
            await response.aclose()

    runs(work)


def test_idle_connections_are_few_and_do_not_wait_for_ever(runs, monkeypatch):
    async def work():
        async with served([LENGTH]) as (server, http, url):
            server.pool._kept, server.pool._expiry = 3, 0.1
            await asyncio.gather(*(http.get(url) for _ in range(10)))
            assert len(server.pool.connections) == 3
            for _ in range(100):
                if not server.pool.connections:
                    break
                await asyncio.sleep(0.01)
            assert not server.pool.connections
            assert (await http.get(url)).text == "hello"

    assert (pool.KEPT, pool.EXPIRY) == (64, 30.0)
    runs(work)


@pytest.mark.parametrize("where", ["localhost", "127.0.0.1"])
def test_cancelling_at_any_turn_of_the_loop_leaves_nothing(runs, where):
    async def work():
        async with served([OK + b"transfer-encoding: chunked\r\n\r\n", 0.001, b"1\r\na\r\n0\r\n\r\n"]) as (
            server,
            http,
            url,
        ):
            for turns in range(40):
                task = asyncio.create_task(http.get(url.replace("127.0.0.1", where)))
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait({task})
            for _ in range(200):
                idle = [one for one in server.pool.connections if one.is_idle()]
                if len(idle) == len(server.pool.connections) == server.open:
                    return
                await asyncio.sleep(0.01)
            raise AssertionError((len(idle), len(server.pool.connections), server.open))

    runs(work)


def test_every_address_of_a_name_is_tried(runs, monkeypatch):
    async def work():
        async with served([LENGTH]) as (server, http, _):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                dead = free.getsockname()[1]
            loop = asyncio.get_running_loop()

            async def resolved(host, port, **_):
                places = [("127.0.0.1", dead), ("127.0.0.1", server.port)]
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]

            class Loop:
                def __getattr__(self, name):
                    return resolved if name == "getaddrinfo" else getattr(loop, name)

            monkeypatch.setattr("motes.engine.opening.asyncio.get_running_loop", Loop)
            assert (await http.get("http://vendor.example/")).text == "hello"

    runs(work)


def test_a_proxy_is_told_the_whole_address_and_asked_for_a_tunnel_where_there_is_tls(runs, monkeypatch):
    async def work():
        async with served([LENGTH]) as (server, _, __):
            for scheme in ("http", "https"):
                monkeypatch.setenv(f"{scheme}_proxy", f"http://user:p%40ss@127.0.0.1:{server.port}")
            monkeypatch.setenv("no_proxy", "direct.invalid")
            transport = Transport(ssl.create_default_context, trust_env=True)
            async with httpx.AsyncClient(transport=transport) as http:
                assert (await http.get("http://vendor.example/a?b")).text == "hello"
                server.scripts = [[b"HTTP/1.1 407 Authenticate\r\n\r\n", None]]
                with pytest.raises(httpx.ProxyError):
                    await http.get("https://vendor.example/")
                with pytest.raises(httpx.ConnectError):
                    await http.get("http://direct.invalid/", extensions={"timeout": {"connect": 5}})
            first, second = server.heads[:2]
            assert first.startswith(b"GET http://vendor.example/a?b HTTP/1.1\r\n")
            assert second.startswith(b"CONNECT vendor.example:443 HTTP/1.1\r\n")
            assert all(b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in head for head in (first, second))

    runs(work)


@pytest.mark.parametrize("url", ["https://proxy.example", "socks5://proxy.example", "http://"])
def test_a_proxy_that_wants_more_than_plain_http_is_not_spoken_to_by_the_engine(url):
    with pytest.raises(ValueError, match="a proxy that speaks"):
        proxy_at(url)


@pytest.mark.parametrize(
    ("name", "value"), [("x", "a\nb"), ("x", "a\r\nb: c"), ("x", "sk "), ("x", "\0"), ("a b", "c")]
)
def test_a_header_that_is_none_is_refused_and_not_repeated(runs, name, value):
    async def work():
        async with served([LENGTH]) as (server, http, url):
            with pytest.raises(httpx.LocalProtocolError) as refused:
                await http.get(url, headers={name: value})
            assert value not in str(refused.value)
            assert not server.heads

    runs(work)


def test_an_address_that_is_no_web_address_is_refused(runs):
    async def work():
        async with served([LENGTH]) as (_, http, __):
            for url, error in (
                ("ftp://a.example/", httpx.UnsupportedProtocol),
                ("/a", httpx.UnsupportedProtocol),
            ):
                with pytest.raises(error):
                    await http.get(url)

    runs(work)
