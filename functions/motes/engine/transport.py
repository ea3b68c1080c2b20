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

from motes.engine.body import BODY, Body
from motes.engine.connection import Connection
from motes.engine.head import request_head
from motes.engine.opening import Proxy, Route, opened, proxy_at
from motes.engine.pool import Pool

ON_SENDING: Final = "motes.on_sending"
"""An extension of a request: called when there is a connection and the request goes out."""

Certificates: TypeAlias = Callable[[], ssl.SSLContext]
"""Makes the context of all TLS connections. It reads every CA certificate there is, which takes tens of
milliseconds: it is called in a thread, when the first https: address is asked."""

_PORTS: Final = {"http": 80, "https": 443}
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
        if url.scheme not in _PORTS:
            raise httpx.UnsupportedProtocol("the URL is neither http: nor https:")
        if not url.host:
            raise httpx.LocalProtocolError("the URL names no host")
        name = self._proxy_name(url)
        if name in self._others:
            return await self._others[name].handle_async_request(request)
        host, port = url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]
        return await self._asked(request, Route(url.scheme == "https", host, port, self._proxies.get(name)))

    async def aclose(self) -> None:
        """Close all connections, whatever is on its way."""
        self.pool.close()
        for other in self._others.values():
            await other.aclose()

    async def _asked(self, request: httpx.Request, route: Route) -> httpx.Response:
        head, body = await _written(request, route)
        connection = self.pool.take(route)
        if connection is None:
            seconds = request.extensions.get("timeout", {}).get("connect")
            connection = await opened(route, await self._tls() if route.is_secure else None, seconds)
            self.pool.add(route, connection)
        if (on_sending := request.extensions.get(ON_SENDING)) is not None:
            on_sending()
        with ExitStack() as undo:
            undo.callback(connection.close)
            connection.send(head, body, is_head_request=request.method == "HEAD")
            await connection.head()
            undo.pop_all()
        return _response(connection)

    async def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            try:
                context = await asyncio.to_thread(self._certificates)
            except OSError as failure:
                raise NoCertificates("no CA certificates") from failure
            context.set_alpn_protocols(["http/1.1"])
            self._context = context
        return self._context

    def _proxy_name(self, url: httpx.URL) -> str:
        """Under which name the proxy of this address is known, if there is one."""
        if not (self._proxies or self._others) or url.host in _LOCAL:
            return ""
        name = url.scheme if url.scheme in self._proxies or url.scheme in self._others else "all"
        return "" if proxy_bypass(f"{url.host}:{url.port or _PORTS[url.scheme]}") else name


def _response(connection: Connection) -> httpx.Response:
    body = Body(connection)
    return httpx.Response(
        connection.status,
        headers=connection.headers,
        stream=body,
        extensions={"http_version": b"HTTP/1.1", "reason_phrase": connection.reason, BODY: body},
    )


async def _written(request: httpx.Request, route: Route) -> tuple[bytes, bytes]:
    body = await request.aread()
    if request.headers.get("transfer-encoding", "").lower() == "chunked":
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    if route.proxy is None or route.is_secure:
        return request_head(request, request.url.raw_path), body
    # RFC 9112, 3.2.2: a proxy is told the whole address.
    words = route.proxy.authorization
    more = b"Proxy-Authorization: " + words + b"\r\n" if words else b""
    target = b"http://" + request.url.netloc + request.url.raw_path
    return request_head(request, target, more), body


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
