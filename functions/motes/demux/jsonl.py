"""Newline-delimited JSON: one record a line, split on LF only; and the choice between that and one body.

Must never split at U+2028, U+0085 or any other character that Python's `splitlines` takes for a line end.
"""

from collections.abc import Iterable
from typing import Final

from motes.demux.base import MAX_EVENT_BYTES, Demuxer, WireEvent, too_large
from motes.demux.whole import WholeDemuxer

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_LONGEST_WAIT: Final = 1024


class JSONLinesDemuxer:
    """One event a non-blank line, given as soon as its LF is here."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._line: list[bytes] = []
        self._size = 0

    @property
    def is_within(self) -> bool:
        """Whether a line has begun that has no end yet."""
        return self._size > 0

    def feed(self, data: bytes) -> Iterable[WireEvent]:
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

    def close(self) -> Iterable[WireEvent]:
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


class JSONLinesOrWholeDemuxer:
    """Lines of JSON, unless the body is one value over several lines: the first is no more than a bracket.

    Must never hold back a record: white space and that one bracket are all that waits for the choice.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._head = b""
        self._chosen: Demuxer | None = None

    @property
    def error(self) -> str | None:
        """Why nothing more will come, or None."""
        return self._chosen.error if self._chosen else None

    def feed(self, data: bytes) -> Iterable[WireEvent]:
        """The records these bytes complete."""
        if self._chosen is None:
            data = self._head = (self._head + data).lstrip(_BLANK)
            self._chosen = self._choice(data)
        return self._chosen.feed(data) if self._chosen else ()

    def close(self) -> Iterable[WireEvent]:
        """What was left, if anything; a lone bracket is no record."""
        return self._chosen.close() if self._chosen else ()

    def _choice(self, head: bytes) -> Demuxer | None:
        """Who reads this body, or None while that is open."""
        rest = head[1:].lstrip(b" \t\r") if head[:1] in (b"{", b"[") else b""
        if rest[:1] == b"\n":
            return WholeDemuxer(self._limit)
        is_open = not rest and len(head) <= _LONGEST_WAIT and head[:1] in (b"", b"{", b"[")
        return None if is_open else JSONLinesDemuxer(self._limit)
