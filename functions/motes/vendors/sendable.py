"""What can stand in a request at all: addresses, headers, keys. Each question is answered in words, or None.

Pure. Must never quote a value: it may be a key. What cannot be sent is our side's fault, found by `motes
check` before, and at run time before anything is sent.
Sources: RFC 9110, 5.5 and 5.6.2 (field names and values), RFC 3986, 3.2.3 (ports).
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from motes.vendors.vendor import Auth, Vendor

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_QUERY_NAME: Final = re.compile(r"[A-Za-z0-9._~-]+")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f]")
_UNSENDABLE: Final = re.compile(r"[\x00-\x20\x7f]")
_FRAMING: Final = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Header names that belong to the connection, or to the client that writes the request."""


def faults(vendor: Vendor, secret: str | None) -> Iterator[str]:
    """Everything of a row and its key that cannot be sent. A row without an address is not judged by it."""
    address = address_fault(vendor.base_url) if vendor.base_url else None
    if address is not None:
        yield f"its base URL {address}"
    for name, value in vendor.headers.items():
        fault = header_fault(name, value)
        if fault is not None:
            yield f"its header {name[:40]!r} {fault}"
    key = key_fault(vendor.auth, secret) if secret else None
    if key is not None:
        yield f"its key {key}"


def address_fault(url: str) -> str | None:
    """What is wrong with a base URL."""
    if not re.match(r"https?://[^/?#\s]", url, re.I):
        return "must be an address that begins with http:// or https://"
    if _UNSENDABLE.search(url):
        return "must have no white space in it"
    if "#" in url:
        return "must have no # in it"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "must have a port from 1 to 65535 or none, and a host that is one"
    if port == 0 or parts.netloc.endswith(":") or not parts.hostname:
        return "must have a port from 1 to 65535 or none, and a host that is one"
    return None


def header_fault(name: str, value: str) -> str | None:
    """What is wrong with a header of a row."""
    if not _TOKEN.fullmatch(name):
        return "must have a name of letters, digits and hyphens"
    if name.lower() in _FRAMING:
        return "is not to be set: it belongs to the connection"
    return value_fault(value)


def value_fault(value: str) -> str | None:
    """What is wrong with the value of a header."""
    if _UNPRINTABLE.search(value.replace("\t", " ")):
        return "must have no line break or control character in it"
    if value != value.strip():
        return "must have no white space around it"
    if not value.isascii() and any(ord(mark) > 0xFF for mark in value):
        return "must have no characters beyond Latin-1 in it"
    return None


def key_fault(auth: Auth, secret: str) -> str | None:
    """What is wrong with a key, there where it is to travel."""
    if auth.kind == "none":
        return None
    if auth.kind == "query":
        return "is no text" if any(0xD800 <= ord(mark) <= 0xDFFF for mark in secret) else None
    return value_fault(secret)


def auth_fault(auth: Auth) -> str | None:
    """What is wrong with the place of a key."""
    if auth.kind == "header":
        return header_fault(auth.name, "")
    if auth.kind == "query" and not _QUERY_NAME.fullmatch(auth.name):
        return "must have a name of letters, digits and hyphens"
    return None


def shown_address(url: str) -> str:
    """An address without user, password and query: people put keys into them."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
