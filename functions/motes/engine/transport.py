"""The engine as httpx takes it: one request, one answer, its body still to be read.

Must never send a request twice: a connection that was closed under it is the executor's to judge.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Final, TypeAlias
from urllib.request import getproxies, proxy_bypass

import httpx

from motes.engine.ask import PORTS, Ask, Heading, heading
from motes.engine.body import BODY, Body
from motes.engine.connection import Connection
from motes.engine.opening import Proxy, Route, opened, proxy_at
from motes.engine.pool import Pool

ON_SENDING: Final = "motes.on_sending"
"""An extension of a request: called when there is a connection and the request goes out."""

Certificates: TypeAlias = Callable[[], ssl.SSLContext]
"""Makes the context of all TLS connections. It reads every CA certificate there is, which takes tens of
milliseconds: it is called in a thread, when the first https: address is asked."""

# What is on this machine is never asked through a proxy, which could not reach it.
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class NoCertificates(httpx.ConnectError):
    """The CA certificates of this machine cannot be read."""


class Transport(httpx.AsyncBaseTransport):
    """One for a process. `trust_env` takes proxies from the environment, as they are when it is made."""

    def __init__(self, certificates: Certificates, *, trust_env: bool) -> None:
        self.pool: Final = Pool()
        self._certificates = certificates
        self._context: ssl.SSLContext | None = None
        self._proxies, self._others = _from_environment(certificates) if trust_env else ({}, {})

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        url = request.url
        name = self._proxy_name(url)
        if name in self._others:
            return await self._others[name].handle_async_request(request)
        ask = await _as_asked(request)
        connection = self.sent(ask) or await self.opened(ask)
        with ExitStack() as undo:
            undo.callback(connection.close)
            await connection.head()
            undo.pop_all()
        return response_of(connection)

    def takes(self, url: httpx.URL) -> bool:
        """Whether it goes there itself, and no other transport does for it."""
        return not self._others or self._proxy_name(url) not in self._others

    def sent(self, ask: Ask) -> Connection | None:
        """A connection that was used before, on which the request has gone out; None where there is none.
        Raises what `handle_async_request` does.
        """
        route = self._route(ask.heading)
        head = _head(ask, route)
        connection = self.pool.take(route)
        if connection is not None:
            _send(connection, head, ask)
        return connection

    async def opened(self, ask: Ask) -> Connection:
        """A new connection, on which the request has gone out."""
        route = self._route(ask.heading)
        head = _head(ask, route)
        context = await self._tls() if route.is_secure else None
        connection = await opened(route, context, ask.connect)
        self.pool.add(route, connection)
        _send(connection, head, ask)
        return connection

    def _route(self, heading: Heading) -> Route:
        if not self._proxies:
            return heading.route
        return heading.route._replace(proxy=self._proxies.get(self._proxy_name(heading.url)))

    async def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            try:
                context = await asyncio.to_thread(self._certificates)
            except OSError as failure:
                raise NoCertificates("no CA certificates") from failure
            context.set_alpn_protocols(["http/1.1"])
            self._context = context
        return self._context

    async def aclose(self) -> None:
        """Close all connections, whatever is on its way."""
        self.pool.close()
        for other in self._others.values():
            await other.aclose()

    def _proxy_name(self, url: httpx.URL) -> str:
        """Under which name the proxy of this address is known, if there is one."""
        if not (self._proxies or self._others) or url.host in _LOCAL:
            return ""
        name = url.scheme if url.scheme in self._proxies or url.scheme in self._others else "all"
        return "" if proxy_bypass(f"{url.host}:{url.port or PORTS.get(url.scheme, 0)}") else name


def response_of(connection: Connection) -> httpx.Response:
    """The answer whose head is there, its body not yet read."""
    body = Body(connection)
    return httpx.Response(
        connection.status,
        headers=connection.headers,
        stream=body,
        extensions={"http_version": b"HTTP/1.1", "reason_phrase": connection.reason, BODY: body},
    )


async def _as_asked(request: httpx.Request) -> Ask:
    body = await request.aread()
    if request.headers.get("transfer-encoding", "").lower() == "chunked":
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    return Ask(
        # httpx has counted the body.
        heading=heading(request.method, request.url, request.headers.raw, is_counted=False),
        body=body,
        connect=request.extensions.get("timeout", {}).get("connect"),
        on_sending=request.extensions.get(ON_SENDING, _nobody_listens),
    )


def _nobody_listens() -> None:
    """Nobody wants to know."""


def _head(ask: Ask, route: Route) -> bytes:
    return ask.heading.head(len(ask.body), None if route.is_secure else route.proxy)


def _send(connection: Connection, head: bytes, ask: Ask) -> None:
    ask.on_sending()
    connection.send(head, ask.body, is_head_request=ask.heading.method == "HEAD")


def _from_environment(
    certificates: Certificates,
) -> tuple[Mapping[str, Proxy], Mapping[str, httpx.AsyncHTTPTransport]]:
    """Proxies by scheme, `all` for any. Those that want more than plain HTTP are httpx's own to speak to."""
    plain, others = dict[str, Proxy](), dict[str, httpx.AsyncHTTPTransport]()
    for name, address in getproxies().items():
        if name not in ("http", "https", "all"):
            continue
        url = address if "://" in address else f"http://{address}"
        try:
            plain[name] = proxy_at(url)
        except ValueError:
            others[name] = httpx.AsyncHTTPTransport(verify=certificates(), proxy=httpx.Proxy(url))
    return plain, others
