"""The pieces of a streamed body on uvicorn's way to the socket, without a message and a coroutine for each.

Must never write where uvicorn would not: before a chunked answer has begun, after its end, to a client that
has left, or faster than one reads.
"""

from typing import TYPE_CHECKING

from motes.chunks import CRLF, HEADS, SMALL

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from motes.hosts.joined_writes import Outlet


class BodyPieces:
    """Those of one response; see `motes.api.streaming.Pieces`. Source: RFC 9112, 7.1 (chunked)."""

    __slots__ = ("_cycle", "_flow", "_outlet")

    def __init__(self, cycle: "RequestResponseCycle", outlet: "Outlet") -> None:
        self._cycle = cycle
        self._flow = cycle.flow
        self._outlet = outlet

    def can_begin(self) -> bool:
        """Whether the answer has begun, and is one in pieces."""
        return self._cycle.chunked_encoding is True and not self._cycle.response_complete

    def is_open(self) -> bool:
        """Whether a piece can be written now."""
        return not (self._flow.write_paused or self._cycle.disconnected)

    def write(self, data: bytes) -> None:
        """One piece. It must not be empty, which would be the end."""
        size = len(data)
        # To format the size would take most of the time.
        head = HEADS[size] if size < SMALL else b"%x\r\n" % size
        self._outlet.write(b"".join((head, data, CRLF)))
