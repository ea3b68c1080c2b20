"""Newline-delimited JSON: one record a line, split on LF only.

Must never split at U+2028, U+0085 or any other character that Python's `splitlines` takes for a line end.
"""

from collections.abc import Iterable

from motes.demux.base import MAX_EVENT_BYTES, WireEvent, too_large


class JSONLinesDemuxer:
    """One event a non-blank line, given as soon as its LF is here."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._line: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterable[WireEvent]:
        """The records these bytes complete; empty once `error` is set."""
        if self.error is not None:
            return ()
        lines = data.split(b"\n")
        tail = lines.pop()
        out: list[WireEvent] = []
        for line in lines:
            self._line.append(line)
            self._give(out)
        self._size += len(tail)
        if self._size > self._limit:
            self.error, self._line = too_large(self._limit), []
        elif tail:
            self._line.append(tail)
        return out

    def close(self) -> Iterable[WireEvent]:
        """The last record, where it has no LF."""
        out: list[WireEvent] = []
        self._give(out)
        return out

    def _give(self, out: list[WireEvent]) -> None:
        text = b"".join(self._line).decode("utf-8", "replace").strip("\r \t\n\ufeff")
        self._line.clear()
        self._size = 0
        if text:
            out.append(WireEvent(text))
