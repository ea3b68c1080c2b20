"""A body as one event, and the choice between that and another framing by how the body begins.

Content-Type is not asked: vendors label streams as JSON and JSON as streams, and the first significant
byte never lies. Must never hold back a stream: all that waits is white space, and what the choice needs.
"""

from collections.abc import Callable, Sequence
from typing import Final

from motes.demux.base import MAX_EVENT_BYTES, Demuxer, WireEvent, too_large

Framing = Callable[[int], Demuxer]
"""Makes a demuxer with that limit of bytes an event."""

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


class WholeDemuxer:
    """Everything until the socket closes is one event."""

    room: Final = 0

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        """Nothing yet; the body is kept."""
        self._size += len(data)
        if self._size > self._limit:
            self.error, self._parts = too_large(self._limit), []
        else:
            self._parts.append(data)
        return ()

    def close(self) -> Sequence[WireEvent]:
        """The body, if there is one. Blank lines before it (a vendor's keep-alive) are dropped."""
        text = b"".join(self._parts).decode("utf-8", "replace").strip("\ufeff \t\r\n")
        self._parts = []
        return (WireEvent(text),) if text else ()


class OrWholeDemuxer:
    """Reads a body as what its head says it is.

    `choose` gets all that has come, without the white space before it, and gives None while that is open.
    """

    def __init__(self, choose: Callable[[bytes], Framing | None], max_event_bytes: int) -> None:
        self._choose = choose
        self._limit = max_event_bytes
        self._head = b""
        self._chosen: Demuxer | None = None

    @property
    def room(self) -> int:
        """See `Demuxer`."""
        return self._chosen.room if self._chosen else 0

    @property
    def error(self) -> str | None:
        """Why nothing more will come, or None."""
        return self._chosen.error if self._chosen else None

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        """The events these bytes complete."""
        if self._chosen is None:
            # A vendor may send blank lines for minutes to keep the line open; none need be kept.
            data = self._head = (self._head + data).lstrip(_BLANK)
            framing = self._choose(data)
            if framing is None:
                return ()
            self._chosen, self._head = framing(self._limit), b""
        return self._chosen.feed(data)

    def close(self) -> Sequence[WireEvent]:
        """What was left, if anything; a head that leaves the choice open is no event."""
        return self._chosen.close() if self._chosen else ()


def unless_json(framing: Framing) -> Callable[[bytes], Framing | None]:
    """That framing, unless the first byte opens a JSON object or array."""

    def choose(head: bytes) -> Framing | None:
        if not head:
            return None
        return WholeDemuxer if head.startswith((b"{", b"[")) else framing

    return choose
