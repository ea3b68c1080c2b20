"""A request as motes' own executor makes it: bytes and a place, without a client's machinery around them.

Must never be given to what follows redirects or keeps cookies: it says all that is sent. Nor let a line
break, or any other control character, out of a header: what follows it would be another header. The message
of the error does not repeat the value, which may be a key.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

import httpx

from motes.dataclass import dataclass
from motes.engine.connection import Header
from motes.engine.opening import Proxy, Route

_WITH_A_BODY: Final = ("POST", "PUT", "PATCH")
PORTS: Final = {"http": 80, "https": 443}
_LINES: Final = re.compile(
    rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: (?:[\x21-\x7e\x80-\xff]+(?:[ \t]+[\x21-\x7e\x80-\xff]+)*)?\r\n)*"
)
_TARGET: Final = re.compile(rb"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """All of a request but its body, ready to be sent. It holds the key: nothing of it is in a repr.

    `route` is the way without a proxy. `is_counted`: whether the size of the body is told beside `lines`.
    """

    method: str
    url: httpx.URL = field(repr=False)
    route: Route
    direct: bytes = field(repr=False)
    lines: bytes = field(repr=False)
    is_counted: bool

    def head(self, size: int, proxy: Proxy | None) -> bytes:
        """The bytes before a body of that size. A proxy that passes them on is told the whole address
        (RFC 9112, 3.2.2).
        """
        start = self.direct if proxy is None else self._by(proxy)
        if self.is_counted and (size or self.method in _WITH_A_BODY):
            return b"%bContent-Length: %d\r\n\r\n" % (start, size)
        return start + b"\r\n"

    def _by(self, proxy: Proxy) -> bytes:
        line = request_line(self.method, b"http://" + self.url.netloc + self.url.raw_path)
        words = b"Proxy-Authorization: %b\r\n" % proxy.authorization if proxy.authorization else b""
        return line + self.lines + words


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. `connect` is how many seconds a connection may take to be made; `on_sending` is called
    when there is one and the request goes out.
    """

    heading: Heading
    body: bytes
    connect: float | None
    on_sending: Callable[[], None]


def heading(method: str, url: httpx.URL, headers: Sequence[Header], *, is_counted: bool) -> Heading:
    """The heading with just these headers. Raises httpx.UnsupportedProtocol or LocalProtocolError."""
    if url.scheme not in PORTS:
        raise httpx.UnsupportedProtocol("the URL is neither http: nor https:")
    if not url.host:
        raise httpx.LocalProtocolError("the URL names no host")
    route = Route(url.scheme == "https", url.raw_host.decode("ascii"), url.port or PORTS[url.scheme], None)
    lines = header_lines(headers)
    return Heading(
        method=method,
        url=url,
        route=route,
        direct=request_line(method, url.raw_path) + lines,
        lines=lines,
        is_counted=is_counted,
    )


def heading_over(
    own: tuple[Header, ...], method: str, url: str, given: tuple[tuple[str, str], ...]
) -> Heading:
    """The heading as httpx has it: what is given takes the place of our own of that name.

    Raises httpx.InvalidURL and UnicodeError besides; a value may be Latin-1.
    """
    address = httpx.URL(url)
    found = {name.lower(): (name, value) for name, value in own}
    for word, words in given:
        name = word.encode("ascii")
        found[name.lower()] = (name, words.encode("latin-1"))
    headers = list(found.values())
    if b"host" not in found:
        headers.insert(0, (b"Host", address.netloc))
    return heading(method, address, headers, is_counted=b"content-length" not in found)


remembered_heading: Final = lru_cache(maxsize=256)(heading_over)
"""The same, made and checked once for all requests to one model with one key. Not for a key that a caller
brought, which is kept nowhere, nor for a head with a signature, which never comes again.
"""


def request_line(method: str, target: bytes) -> bytes:
    """The first line. Raises httpx.LocalProtocolError."""
    if _TARGET.fullmatch(target) is None:
        raise httpx.LocalProtocolError("illegal request target")
    return b"%b %b HTTP/1.1\r\n" % (method.encode("ascii"), target)


def header_lines(headers: Sequence[Header]) -> bytes:
    """The lines after it, without the empty one. Raises httpx.LocalProtocolError."""
    lines = b"".join([b"%b: %b\r\n" % pair for pair in headers])
    if _LINES.fullmatch(lines) is None or lines.count(b"\n") != len(headers):
        raise httpx.LocalProtocolError("illegal header")
    return lines
