"""The head of a streamed answer on uvicorn's way to the socket, each of its lines looked at once and not with
every answer.

Must never write another byte than uvicorn would: what it would refuse, or do otherwise, is left to it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    RequestResponseCycle,
)

# Those that say how an answer is framed and what comes after it.
_ABOUT_THE_FRAME: Final = frozenset({b"content-length", b"transfer-encoding", b"connection"})
_OK: Final = STATUS_LINE[200]


def begin(cycle: RequestResponseCycle, status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether the head was written: that of an answer in pieces, which nothing stands in the way of."""
    if (
        status != 200
        or cycle.response_started
        or cycle.disconnected
        or cycle.access_log
        or cycle.flow.write_paused
        or cycle.scope["method"] == "HEAD"
    ):
        return False
    lines = list(map(_line, cycle.default_headers))
    lines += map(_line, headers)
    if None in lines:
        return False
    cycle.response_started = cycle.chunked_encoding = True
    cycle.waiting_for_100_continue = False
    closing = b"" if cycle.keep_alive else b"connection: close\r\n"
    # None is among them only where it was found.
    told: list[bytes] = [_OK, *lines, closing, b"transfer-encoding: chunked\r\n\r\n"]  # type: ignore[list-item]
    cycle.transport.write(b"".join(told))
    return True


@lru_cache(maxsize=128)
def _line(header: tuple[bytes, bytes]) -> bytes | None:
    """The line of a header, if there is nothing more to it. Most are the same in every answer."""
    name, value = header
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value) or name.lower() in _ABOUT_THE_FRAME:
        return None
    return b"%b: %b\r\n" % (name.lower(), value)
