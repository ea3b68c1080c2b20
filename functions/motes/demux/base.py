"""What every demuxer promises.

Must never raise for what a vendor sends: a broken or boundless framing is told by `error`, after which
the demuxer gives nothing more.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from motes.dataclass import dataclass

# 64 MiB: a generated image or an audio clip arrives as one base64 datum; nobody's text comes near.
MAX_EVENT_BYTES: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class WireEvent:
    """One event of the upstream's stream: its payload text, and the event name and id where SSE has them.

    Not frozen, because one is made for every event and that takes twice as long; nobody changes one.
    """

    data: str
    name: str | None = None
    id: str | None = None


class Demuxer(Protocol):
    """Bytes in, whole events out; keeps what is still incomplete."""

    @property
    def room(self) -> int:
        """How large an event may be that begins now; 0 where one has begun, where events cannot be told apart
        without the demuxer, and where nothing more will come.
        """
        ...

    @property
    def error(self) -> str | None:
        """Why nothing more will come (an event above the limit, a broken frame), or None."""
        ...

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        """The events that these bytes complete."""
        ...

    def close(self) -> Sequence[WireEvent]:
        """The socket closed: what was left, if anything. A leftover may be incomplete."""
        ...


def too_large(limit: int) -> str:
    """The one sentence for an event above the limit."""
    return f"one upstream event is larger than {limit} bytes (setting max_event_bytes)"
