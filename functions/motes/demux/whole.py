"""A body as one event, and the choice between that and server-sent events by the first byte.

Content-Type is not asked: vendors label streams as JSON and JSON as streams, and the first significant
byte never lies. Must never hold back a stream: only white space before the first byte is kept.
"""

from collections.abc import Iterable
from typing import Final

from motes.demux.base import MAX_EVENT_BYTES, Demuxer, WireEvent, too_large
from motes.demux.sse import SSEDemuxer

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


class WholeDemuxer:
    """Everything until the socket closes is one event."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterable[WireEvent]:
        """Nothing yet; the body is kept."""
        self._size += len(data)
        if self._size > self._limit:
            self.error, self._parts = too_large(self._limit), []
        else:
            self._parts.append(data)
        return ()

    def close(self) -> Iterable[WireEvent]:
        """The body, if there is one. Blank lines before it (a vendor's keep-alive) are dropped."""
        text = b"".join(self._parts).decode("utf-8", "replace").strip("\ufeff \t\r\n")
        self._parts = []
        return (WireEvent(text),) if text else ()


class SSEOrWholeDemuxer:
    """Server-sent events, unless the first significant byte opens a JSON object or array."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._chosen: Demuxer | None = None

    @property
    def error(self) -> str | None:
        """Why nothing more will come, or None."""
        return self._chosen.error if self._chosen else None

    def feed(self, data: bytes) -> Iterable[WireEvent]:
        """The events these bytes complete."""
        if self._chosen is None:
            # A vendor may send blank lines for minutes to keep the line open; none need be kept.
            data = data.lstrip(_BLANK)
            if not data:
                return ()
            whole = data[:1] in b"{["
            self._chosen = WholeDemuxer(self._limit) if whole else SSEDemuxer(self._limit)
        return self._chosen.feed(data)

    def close(self) -> Iterable[WireEvent]:
        """What was left, if anything."""
        return self._chosen.close() if self._chosen else ()
