"""Makes a connection: addresses, a socket, a proxy's tunnel, TLS; all of it within one time.

Addresses are tried one after the other with a head start (RFC 8305), so that one that does not answer costs a
quarter of a second. Must never leave a socket open, whenever whoever waits is cancelled.
"""

import asyncio
import socket
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple

import httpx

from motes.dataclass import dataclass
from motes.engine.connection import Connection

_HEAD_START: Final = 0.25
_MAX_TUNNEL_HEAD: Final = 16 * 1024

Address = tuple[socket.AddressFamily, Any]


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that speaks plain HTTP. `authorization` is the value of the header, if it wants one."""

    host: str
    port: int
    authorization: bytes | None


class Route(NamedTuple):
    """Where a connection leads. `proxy` is in between. A tuple: it is looked up with every request."""

    is_secure: bool
    host: str
    port: int
    proxy: Proxy | None


def proxy_at(url: str) -> Proxy:
    """The proxy of that address. Raises ValueError where it does not speak plain HTTP."""
    parts = httpx.URL(url)
    if parts.scheme != "http" or not parts.host:
        raise ValueError(f"a proxy that speaks {parts.scheme or 'nothing'}")
    named = parts.username or parts.password
    words = b"Basic " + b64encode(f"{parts.username}:{parts.password}".encode()) if named else None
    return Proxy(parts.host, parts.port or 80, words)


async def opened(route: Route, context: ssl.SSLContext | None, seconds: float | None) -> Connection:
    """A connection that nobody uses yet, with TLS if there is a context.

    Raises httpx.ConnectError, ConnectTimeout or ProxyError.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _opened(route, context)
    except TimeoutError:
        raise httpx.ConnectTimeout("no connection in time") from None
    except (OSError, ExceptionGroup) as failure:
        raise httpx.ConnectError("no connection") from failure


async def _opened(route: Route, context: ssl.SSLContext | None) -> Connection:
    nearest: Route | Proxy = route.proxy or route
    sock = await _connected(nearest.host, nearest.port)
    with ExitStack() as undo:
        undo.callback(sock.close)
        if route.proxy is not None and route.is_secure:
            await _tunnelled(sock, route, route.proxy)
        undo.pop_all()
    loop = asyncio.get_running_loop()
    if context is None:
        return (await loop.create_connection(Connection, sock=sock))[1]
    secured = loop.create_connection(Connection, sock=sock, ssl=context, server_hostname=route.host)
    try:
        return (await secured)[1]
    except ConnectionError as failure:
        raise ssl.SSLError("the handshake was broken off") from failure


async def _connected(host: str, port: int) -> socket.socket:
    addresses = await _addresses(host, port)
    if len(addresses) == 1:
        return await _connect(addresses[0])
    return await _first(addresses)


async def _addresses(host: str, port: int) -> Sequence[Address]:
    """IPv6 and IPv4 in turn, beginning with what the resolver prefers."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return [(family, (host, port))]
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    families = dict.fromkeys(family for family, *_ in found)
    by_family = [[(one[0], one[4]) for one in found if one[0] == family] for family in families]
    return [address for address in chain.from_iterable(zip_longest(*by_family)) if address]


async def _connect(address: Address) -> socket.socket:
    family, place = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    with ExitStack() as undo:
        undo.callback(sock.close)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, place)
        undo.pop_all()
    return sock


async def _first(addresses: Sequence[Address]) -> socket.socket:
    """The first that answers; the others are given up."""
    waiting, failures = deque(addresses), list[Exception]()
    tasks = set[asyncio.Task[socket.socket]]()
    try:
        while waiting or tasks:
            if waiting:
                tasks.add(asyncio.create_task(_connect(waiting.popleft())))
            head_start = _HEAD_START if waiting else None
            done, _ = await asyncio.wait(tasks, timeout=head_start, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                tasks.discard(task)
                failure = task.exception()
                if failure is None:
                    # Another that was as quick stays among the tasks, and is closed below.
                    tasks |= done - {task}
                    return task.result()
                failures += [failure] if isinstance(failure, Exception) else []
    finally:
        for task in tasks:
            task.add_done_callback(close_what_it_made)
            task.cancel()
    raise ExceptionGroup("no address answers", failures or [OSError("the name has no address")])


def close_what_it_made(task: asyncio.Task[socket.socket] | asyncio.Task[Connection]) -> None:
    """Of a task that is done and that nobody waited for."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _tunnelled(sock: socket.socket, route: Route, proxy: Proxy) -> None:
    """Ask the proxy for a way to the host (RFC 9110, 9.3.6). Raises httpx.ProxyError."""
    loop = asyncio.get_running_loop()
    host = f"[{route.host}]" if ":" in route.host else route.host
    place = f"{host}:{route.port}".encode()
    words = b"Proxy-Authorization: " + proxy.authorization + b"\r\n" if proxy.authorization else b""
    await loop.sock_sendall(sock, b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (place, place, words))
    head = b""
    while b"\r\n\r\n" not in head:
        more = await loop.sock_recv(sock, 4096)
        head += more
        if not more or len(head) > _MAX_TUNNEL_HEAD:
            raise httpx.ProxyError("the proxy gave no answer")
    if head.split(b" ", 2)[1:2] != [b"200"] or not head.endswith(b"\r\n\r\n"):
        raise httpx.ProxyError("the proxy refused the connection")
