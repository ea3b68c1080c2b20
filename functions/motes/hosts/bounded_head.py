"""uvicorn's httptools protocol with an end to the head of a request, which httptools itself does not have.

Must never count a body, and never answer behind an answer that has begun.
"""

import asyncio
from functools import partial
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from motes.api.envelope import BODY_PIECES, DEPARTURE, HEAD_SEND
from motes.hosts import answer_head
from motes.hosts.body_pieces import BodyPieces
from motes.hosts.joined_writes import JoinedWrites
from motes.hosts.light_event import LightEvent, LightQueue

MAX_HEAD_BYTES: Final = 64 * 1024
_REFUSAL: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 30\r\nconnection: close\r\n\r\n"
    b"The request head is too large."
)


class BoundedHeadProtocol(HttpToolsProtocol):
    """Refuses a request whose head is larger than `MAX_HEAD_BYTES`.

    Bytes are counted a read at a time, from the read that begins a request to the one that completes its
    head, so a head is cut off at most one read (asyncio: 256 KiB) above the limit. The cost is one addition
    and one comparison a read.
    """

    # In its dictionary they would be too many for Python to share the table of their names: 1.2 KiB more.
    __slots__ = ("_cycles", "_ended", "_head", "_in_body", "_joined")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.pipeline = cast(Any, LightQueue())
        self._head = 0
        self._in_body = self._ended = False
        self._cycles: list[RequestResponseCycle] = []
        """Those whose answers are not whole, in order; most clients have one on its way."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        self._joined = JoinedWrites(transport)
        super().connection_made(cast(asyncio.Transport, self._joined))
        self.flow._is_writable_event = cast(asyncio.Event, LightEvent(is_set=True))

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio. Who waits for a client to leave need not ask; uvicorn itself tells the latest request
        alone, and keeps those that were never begun.
        """
        super().connection_lost(exc)
        waiting, cycles = [cycle for cycle, _ in self.pipeline], self._cycles
        self.pipeline.clear()
        self._cycles = []
        for cycle in cycles:
            cycle.disconnected = True
            cycle.message_event.set()
            departure = cast(dict[str, Any], cycle.scope)[DEPARTURE]
            if not departure.done():
                departure.set_result(None)
        for cycle in waiting:
            cycle.on_response = _nothing
            cast(dict[str, Any], cycle.scope).clear()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if self.transport.is_closing():
            return
        waits, self._ended = not self._in_body, False
        super().data_received(data)
        if not waits or self._ended or self.parser is None:
            return
        self._head += len(data)
        if self._head > MAX_HEAD_BYTES:
            self._refuse()

    def eof_received(self) -> None:
        """See asyncio. Who sends nothing more still reads what was written for him; then it is closed."""
        self._joined.flush()
        super().eof_received()

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools. Trailers are let go: nothing reads them."""
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._in_body, self._ended, self._head = True, True, 0
        self._joined.join()
        scope, before = cast(dict[str, object], self.scope), self.cycle
        scope[DEPARTURE] = self.loop.create_future()
        super().on_headers_complete()
        if self.cycle is not before:
            # Nobody waits for it yet: the request is begun in the next turn of the loop.
            self.cycle.message_event = cast(asyncio.Event, LightEvent())
            scope[BODY_PIECES] = BodyPieces(self.cycle, self._joined.outlet)
            scope[HEAD_SEND] = partial(answer_head.begin, self.cycle)
            self._cycles.append(self.cycle)

    def on_message_complete(self) -> None:
        """See httptools. Where much came at once, uvicorn reads on when its app asks for more; one that has
        all asks no more, and would never hear that the client has left.
        """
        self._in_body = False
        super().on_message_complete()
        if not self.pipeline:
            self.flow.resume_reading()

    def on_response_complete(self) -> None:
        """See uvicorn. Answers are whole one after the other."""
        del self._cycles[:1]
        super().on_response_complete()

    def _refuse(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_REFUSAL)
        self.transport.close()


def _nothing() -> None:
    """Nobody waits for it."""
