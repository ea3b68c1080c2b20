"""Server-sent events (WHATWG HTML, section 9.2.6, read 2026-11-29), on bytes and in linear time.

Must never look at a byte twice while a line is incomplete, and never take anything but CR, LF and CRLF
for a line end. More tolerant than the specification where vendors need it: an unterminated last event is
given at close, and an event whose data is blank is skipped.
"""

from collections.abc import Sequence
from typing import Final

from motes.demux.base import MAX_EVENT_BYTES, WireEvent, too_large
from motes.demux.whole import OrWholeDemuxer, unless_json

_BOM: Final = b"\xef\xbb\xbf"
# As numbers, which are looked for at once: other bytes are tried as a number first.
_CR: Final = 13
_LF: Final = 10


class SSEDemuxer:
    """Splits bytes into lines, lines into events."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._at_start = True
        self._after_cr = False
        self._head = b""
        self._line: list[bytes] = []
        self._line_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._name: str | None = None
        self._id: str | None = None

    @property
    def room(self) -> int:
        """See `Demuxer`."""
        if self._line or self._data or self._name is not None or self._after_cr or self._at_start:
            return 0
        return self._limit if self.error is None else 0

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        """The events these bytes complete; empty once `error` is set."""
        if self._at_start:
            data = self._without_bom(data)
        if self._after_cr and data:
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
        if not data or self.error is not None:
            return ()
        if _CR in data:
            # A CR ends its line at once; the LF that may follow, even in the next read, belongs to it.
            self._after_cr = data[-1:] == b"\r"
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        out: list[WireEvent] = []
        if self._line or self._data or self._name is not None:
            self._split(data, out)
        else:
            self._take(data, out)
        return out

    def close(self) -> Sequence[WireEvent]:
        """The last event, where the vendor closed without ending it."""
        if self.error is not None:
            return ()
        if self._at_start and self._head:
            self._line.append(self._head)
        rest = b"".join(self._line)
        self._line = []
        out: list[WireEvent] = []
        if rest:
            self._on_line(rest)
        self._dispatch(out)
        return out

    def _without_bom(self, data: bytes) -> bytes:
        """Hold back the first bytes while they may be a byte-order mark cut between reads."""
        head = self._head + data
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._head = head
            return b""
        self._at_start, self._head = False, b""
        return head.removeprefix(_BOM)

    def _take(self, data: bytes, out: list[WireEvent]) -> None:
        """What comes between two events is mostly whole ones, of a line or two."""
        events, limit = data.split(b"\n\n"), self._limit
        rest = events.pop()
        for event in events:
            if _LF not in event:
                is_plain, payload, name = event.startswith(b"data: "), event[6:], None
            else:
                head, _, payload = event.partition(b"\ndata: ")
                is_plain = head.startswith(b"event: ") and _LF not in head and _LF not in payload
                name = head[7:].decode("utf-8", "replace") if is_plain else None
            if is_plain and len(event) < limit:
                # As `_give` does it.
                text = payload.decode("utf-8", "replace")
                if text.strip():
                    out.append(WireEvent(text, name, self._id))
            else:
                self._split(event + b"\n\n", out)
                if self.error is not None:
                    return
        if rest:
            self._split(rest, out)

    def _split(self, data: bytes, out: list[WireEvent]) -> None:
        lines = data.split(b"\n")
        tail = lines.pop()
        if self._line and lines:
            lines[0] = b"".join([*self._line, lines[0]])
            self._line, self._line_size = [], 0
        for line in lines:
            if not line:
                self._dispatch(out)
            elif line.startswith(b"data: "):
                self._data.append(line[6:])
                self._add_size(len(line))
            else:
                self._on_line(line)
            if self.error is not None:
                return
        if tail:
            self._line.append(tail)
            self._line_size += len(tail)
            self._check_size()

    def _add_size(self, size: int) -> None:
        """Counted as it was sent: a line without a value is held as well."""
        self._data_size += size + 1
        if self._data_size > self._limit:
            self._check_size()

    def _check_size(self) -> None:
        if self._line_size + self._data_size > self._limit:
            self.error = too_large(self._limit)
            self._line, self._data = [], []

    def _on_line(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        else:
            return
        self._add_size(len(line))

    def _dispatch(self, out: list[WireEvent]) -> None:
        data, name = self._data, self._name
        self._name, self._data_size = None, 0
        if data:
            self._data = []
            self._give(data[0] if len(data) == 1 else b"\n".join(data), name, out)

    def _give(self, data: bytes, name: str | None, out: list[WireEvent]) -> None:
        """Decoded whole: a character cut between reads, or between lines, is never damaged."""
        text = data.decode("utf-8", "replace")
        if text.strip():
            out.append(WireEvent(text, name, self._id))


def sse_or_whole(max_event_bytes: int = MAX_EVENT_BYTES) -> OrWholeDemuxer:
    """Server-sent events, unless the first significant byte opens a JSON object or array."""
    return OrWholeDemuxer(unless_json(SSEDemuxer), max_event_bytes)
