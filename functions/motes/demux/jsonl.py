"""Newline-delimited JSON: one record a line, split on LF only; and the choice between that and one body.

Must never split at U+2028, U+0085 or any other character that Python's `splitlines` takes for a line end.
"""

from collections.abc import Sequence
from typing import Final

from motes.demux.base import MAX_EVENT_BYTES, WireEvent, too_large
from motes.demux.whole import Framing, OrWholeDemuxer, WholeDemuxer

_LONGEST_WAIT: Final = 1024


class JSONLinesDemuxer:
    """One event a non-blank line, given as soon as its LF is here."""

    room: Final = 0

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._line: list[bytes] = []
        self._size = 0

    @property
    def is_within(self) -> bool:
        """Whether a line has begun that has no end yet."""
        return self._size > 0

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        """The records these bytes complete; empty once `error` is set."""
        if self.error is not None:
            return ()
        *lines, tail = data.split(b"\n")
        out: list[WireEvent] = []
        for line in lines:
            if not self._keep(line):
                return out
            self._give(out)
        self._keep(tail)
        return out

    def close(self) -> Sequence[WireEvent]:
        """The last record, where it has no LF."""
        out: list[WireEvent] = []
        self._give(out)
        return out

    def _keep(self, piece: bytes) -> bool:
        """Add to the current line, unless it grows above the limit."""
        self._size += len(piece)
        if self._size > self._limit:
            self.error, self._line = too_large(self._limit), []
            return False
        self._line.append(piece)
        return True

    def _give(self, out: list[WireEvent]) -> None:
        text = b"".join(self._line).decode("utf-8", "replace").strip("\r \t\n\ufeff")
        self._line.clear()
        self._size = 0
        if text:
            out.append(WireEvent(text))


def json_lines_or_whole(max_event_bytes: int = MAX_EVENT_BYTES) -> OrWholeDemuxer:
    """Lines of JSON, unless the body is one value over several lines: the first is no more than a bracket."""
    return OrWholeDemuxer(_unless_over_lines, max_event_bytes)


def _unless_over_lines(head: bytes) -> Framing | None:
    """Only that one bracket, and white space behind it, waits for the choice: no record is held back."""
    rest = head[1:].lstrip(b" \t\r") if head[:1] in (b"{", b"[") else b""
    if rest[:1] == b"\n":
        return WholeDemuxer
    is_open = not rest and len(head) <= _LONGEST_WAIT and head[:1] in (b"", b"{", b"[")
    return None if is_open else JSONLinesDemuxer
