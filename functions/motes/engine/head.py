"""The head of a request as bytes.

Must never let a line break, or any other control character, out of a header: what follows it would be another
header. The message of the error does not repeat the value, which may be a key.
"""

import re
from collections.abc import Sequence
from typing import Final

import httpx

from motes.engine.connection import Header

_LINES: Final = re.compile(
    rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: (?:[\x21-\x7e\x80-\xff]+(?:[ \t]+[\x21-\x7e\x80-\xff]+)*)?\r\n)*"
)
_TARGET: Final = re.compile(rb"[\x21-\x7e]+")


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
