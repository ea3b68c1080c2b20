"""One file from the open web, for a vendor that takes no addresses: the guard between a caller's URL and us.

Must never connect to an address that is not public: names are resolved here, every address of a name is
judged, and the connection is made to the very address that was judged, for each redirect anew. Must never
send a key, a cookie or a caller's header, use a proxy, or take more or longer than was allowed.
Source: OWASP, "Server-Side Request Forgery Prevention Cheat Sheet" (read 2026-11-30).
"""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from motes.addresses import is_public_address
from motes.dataclass import dataclass
from motes.dispatch import OWN_HEADERS

if TYPE_CHECKING:
    import httpcore

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS: Final = 3
_MAX_URL: Final = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What may be fetched. `ports` are those of each scheme; `seconds` is for a file and its redirects."""

    ports: Mapping[str, frozenset[int]] = field(
        default_factory=lambda: {"https": frozenset({443}), "http": frozenset({80})}
    )
    is_allowed: Callable[[str], bool] = is_public_address
    seconds: float = 20.0


@dataclass(slots=True)
class Allowance:
    """How many bytes the files of one request may still have together."""

    left: int

    def take(self, size: int) -> None:
        """Use some of it. Raises NotFetched where there is too little."""
        if size > self.left:
            raise NotFetched("the images and files of the request are too large together")
        self.left -= size


class NotFetched(Exception):
    """Why there is no file, in words that may be shown: they name no address that a name resolved to."""


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file as it came: its media type without parameters, as the server names it, and its bytes."""

    mime: str
    data: bytes = field(repr=False)


async def fetch_public(url: str, rules: Rules, allowance: Allowance) -> WebFile:
    """The file at a URL. Raises NotFetched."""
    import httpcore

    pool = httpcore.AsyncConnectionPool(
        ssl_context=_tls(), max_connections=1, max_keepalive_connections=0, network_backend=_guarded(rules)
    )
    try:
        async with asyncio.timeout(rules.seconds), pool:
            return await _followed(pool, url, rules, allowance)
    except TimeoutError:
        raise NotFetched(f"it did not come within {rules.seconds:g} s") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
        raise NotFetched("its server could not be reached, or broke off") from None


async def _followed(
    pool: "httpcore.AsyncConnectionPool", url: str, rules: Rules, allowance: Allowance
) -> WebFile:
    for _ in range(_MAX_REDIRECTS + 1):
        _check(url, rules)
        async with pool.stream("GET", url, headers=list(OWN_HEADERS.items())) as response:
            if response.status not in _REDIRECTS:
                return await _read(response, allowance)
            target = _header(response.headers, b"location")
        if not target:
            raise NotFetched("its server redirects to nowhere")
        url = urljoin(url, target)
    raise NotFetched(f"its server redirects more than {_MAX_REDIRECTS} times")


def _check(url: str, rules: Rules) -> None:
    """What can be told by the address alone."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
        host = parts.hostname
    except ValueError:
        raise NotFetched("it is no valid address") from None
    if parts.scheme not in rules.ports:
        raise NotFetched(f"only addresses with {' or '.join(sorted(rules.ports))} are fetched")
    if not host or len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise NotFetched("it is no valid address")
    if parts.username is not None or parts.password is not None:
        raise NotFetched("an address with a user name or password is not fetched")
    if port not in rules.ports[parts.scheme]:
        raise NotFetched("only the usual port of its scheme is asked")


async def _read(response: "httpcore.Response", allowance: Allowance) -> WebFile:
    if response.status != 200:
        raise NotFetched(f"its server answered with HTTP status {response.status}")
    if _header(response.headers, b"content-encoding").lower() not in ("", "identity"):
        raise NotFetched("its server compresses it, although that was not asked for")
    data = bytearray()
    async for chunk in response.aiter_stream():
        allowance.take(len(chunk))
        data += chunk
    mime = _header(response.headers, b"content-type").partition(";")[0].strip().lower()
    return WebFile(mime, bytes(data))


def _header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), "")


def _tls() -> Any:
    from motes.executor.connection import ssl_context

    return ssl_context()


def _guarded(rules: Rules) -> "httpcore.AsyncNetworkBackend":
    """What makes connections, and only to addresses that are allowed."""
    import httpcore

    class Guarded(httpcore.AsyncNetworkBackend):
        def __init__(self) -> None:
            self._plain = httpcore.AnyIOBackend()

        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,  # noqa: ASYNC109 (httpcore's interface)
            local_address: str | None = None,
            socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
        ) -> httpcore.AsyncNetworkStream:
            failure: Exception = httpcore.ConnectError("no address")
            for address in await _addresses(host, port, rules):
                try:
                    return await self._plain.connect_tcp(
                        address, port, timeout, local_address, socket_options
                    )
                except httpcore.ConnectError as error:
                    failure = error
            raise failure

        async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
            raise NotFetched("only the web is asked")

        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(seconds)

    return Guarded()


async def _addresses(host: str, port: int, rules: Rules) -> list[str]:
    """Where a name leads. Raises NotFetched where any of it may not be reached: who owns a name may answer
    with a public address first and with a private one next.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotFetched("its host name cannot be resolved") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses or not all(rules.is_allowed(address) for address in addresses):
        raise NotFetched("its host is not on the public internet")
    return addresses
