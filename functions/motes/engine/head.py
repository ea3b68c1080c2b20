"""The head of a request as bytes.

Must never let a line break, or any other control character, out of a header: what follows it would be another
header. The message of the error does not repeat the value, which may be a key.
"""

import re
from typing import Final

import httpx

_LINES: Final = re.compile(
    rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: (?:[\x21-\x7e\x80-\xff]+(?:[ \t]+[\x21-\x7e\x80-\xff]+)*)?\r\n)*"
)
_TARGET: Final = re.compile(rb"[\x21-\x7e]+")


def request_head(request: httpx.Request, target: bytes, more: bytes = b"") -> bytes:
    """Request line and headers; `more` are lines of our own. Raises httpx.LocalProtocolError."""
    raw = request.headers.raw
    lines = b"".join([b"%b: %b\r\n" % pair for pair in raw])
    if _LINES.fullmatch(lines) is None or lines.count(b"\n") != len(raw):
        raise httpx.LocalProtocolError("illegal header")
    if _TARGET.fullmatch(target) is None:
        raise httpx.LocalProtocolError("illegal request target")
    return b"%b %b HTTP/1.1\r\n%b%b\r\n" % (request.method.encode("ascii"), target, lines, more)
