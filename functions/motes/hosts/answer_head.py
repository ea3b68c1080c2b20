"""The head of a streamed answer on uvicorn's way to the socket: a line of it is looked at when it is new, and
not with every answer.

Must never write another byte than uvicorn would: what it would refuse, or do otherwise, is left to it.
"""

from collections.abc import Sequence
from typing import Final, cast

from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    RequestResponseCycle,
)

# Those that say how an answer is framed and what comes after it.
_ABOUT_THE_FRAME: Final = frozenset({b"content-length", b"transfer-encoding", b"connection"})
_OK: Final = STATUS_LINE[200]
_MOST: Final = 128
_lines: Final = dict[tuple[bytes, bytes], bytes]()
"""By a header: its line. Not for long: some headers are of one answer only."""
_begins: Final = dict[bytes, bytes]()
"""By its name: how the line begins."""


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
    told = [*cycle.default_headers, *headers]
    # Most are there: only those of this one answer are new.
    lines = list(map(_lines.get, told))
    while None in lines:
        at = lines.index(None)
        lines[at] = _line(*told[at])
        if lines[at] is None:
            return False
    cycle.response_started = cycle.chunked_encoding = True
    cycle.waiting_for_100_continue = False
    closing = b"" if cycle.keep_alive else b"connection: close\r\n"
    head = cast(list[bytes], lines)
    cycle.transport.write(b"".join([_OK, *head, closing, b"transfer-encoding: chunked\r\n\r\n"]))
    return True


def _line(name: bytes, value: bytes) -> bytes | None:
    """The line of a header, if there is nothing more to it."""
    if HEADER_VALUE_RE.search(value):
        return None
    begin = _begins.get(name)
    if begin is None:
        if HEADER_RE.search(name) or name.lower() in _ABOUT_THE_FRAME:
            return None
        if len(_begins) >= _MOST:
            _begins.clear()
        begin = _begins[name] = name.lower() + b": "
    if len(_lines) >= _MOST:
        _lines.clear()
    line = _lines[name, value] = b"%b%b\r\n" % (begin, value)
    return line
