"""The pure heart of one attempt: bytes in, particles out, and one verdict.

Demuxer, parser and transmitter in a row. The executor feeds it from a socket, the replay tool from a file,
the tests from a list of bytes: there is no other way from bytes to particles. Must never raise for what a
vendor sends, and never call a stream complete without its dialect's evidence.
"""

from collections.abc import Iterable
from typing import Final

from motes import particles as p
from motes.demux.base import Demuxer, WireEvent
from motes.demux.glued import unglued
from motes.dialects.base import Parser
from motes.errors import VendorError, truncated
from motes.refrain import Listener, Refrain, end_of_event
from motes.transmitter import Transmitter, Verdict
from motes.vendor_errors import excerpt, html_page

MAX_BAD_EVENTS: Final = 3
_STRIDE: Final = 512
"""How much is read by the whole rule at least before the rest of a read may be a refrain."""
_HEAD_BYTES: Final = 4096
_EXCERPT_CHARS: Final = 200
_SSE_STARTS: Final = (b":", b"data", b"event", b"id", b"retry")


class Pump:
    """One attempt. `feed` every read, then `close` once; `verdict` is set as soon as it is known."""

    def __init__(self, demuxer: Demuxer, parser: Parser, transmitter: Transmitter) -> None:
        self.transmitter = transmitter
        self.received = 0
        self.events = 0
        self._demuxer = demuxer
        self._parser = parser
        self._bad: list[str] = []
        self._head = b""
        """How the body begins, until an event of it was understood: what it is then is known."""
        self._unseen = _HEAD_BYTES
        self._listener = Listener()
        self._refrain: Refrain | None = None
        """That of the latest event; none where it had one no more, or has not taught it."""
        self._room = 0
        self._short = 0
        """A read of fewer bytes may be one event of the refrain."""

    @property
    def verdict(self) -> Verdict | None:
        """How the attempt came out, or None while it runs."""
        return self.transmitter.verdict

    def feed(self, data: bytes) -> list[p.Particle]:
        """The particles these bytes complete, in order; never the `End`, which is the verdict."""
        self.hear(data)
        return self.transmitter.drain()

    def hear(self, data: bytes) -> None:
        """`feed`, but that the particles are left in the transmitter."""
        size, refrain = len(data), self._refrain
        self.received += size
        if refrain is None or size >= self._short or not refrain.sings_one(data, size, self.transmitter):
            self._read_all(data, size)

    def close(self, failure: VendorError | None = None) -> list[p.Particle]:
        """The socket closed, in good order or by `failure`. Afterwards there is a verdict."""
        out = self.transmitter
        if self.verdict is None:
            self._parse_leftover(self._demuxer.close())
        if self.verdict is None:
            self._parser.eof(out)
        if self.verdict is None:
            self._settle(failure)
        return out.drain()

    def fail(self, phase: p.Phase, error: VendorError) -> list[p.Particle]:
        """End the attempt from outside (deadline, timeout, a retry that is not allowed)."""
        self.transmitter.fail(phase, error)
        return self.transmitter.drain()

    def _read_all(self, data: bytes, size: int) -> None:
        """Read what is no single event of the refrain."""
        if self._unseen > 0:
            self._head += data[: self._unseen]
            self._unseen -= size
        refrain = self._learnt(data, 0) if size < self._room else None
        sung = 0 if refrain is None else refrain.sing(data, self.transmitter)
        if sung < size:
            self._read(data[sung:])

    def _read(self, data: bytes) -> None:
        """Read by the whole rule, in pieces that grow: the first ones may teach a refrain for the rest."""
        if len(data) <= _STRIDE:
            self._take(data)
            return
        out, size, at, stride = self.transmitter, len(data), 0, _STRIDE
        while at < size and out.verdict is None:
            behind = end_of_event(data, at + stride) if at + stride < size else size
            self._take(data[at:behind])
            at, stride = behind, max(_STRIDE, stride * 4)
            if at < size < self._room and (refrain := self._refrain or self._learnt(data, at)):
                sung = refrain.sing(data, out, at)
                at, stride = sung, 0 if sung > at else stride

    def _learnt(self, data: bytes, at: int) -> Refrain | None:
        if self._listener.lesson is not None:
            self._refrain = self._listener.taught(data, at)
        return self._refrain

    def _take(self, data: bytes) -> None:
        out, demuxer = self.transmitter, self._demuxer
        begins = self._room > 0
        events = demuxer.feed(data)
        self._parse(events)
        room = self._room = demuxer.room
        if not room and out.verdict is None and demuxer.error is not None:
            self._break(demuxer.error)
        self._short = min(room, _STRIDE)
        if events:
            if not self._bad:
                self._head, self._unseen = b"", 0
            # Whatever the latest event was, it may be another one than the refrain's.
            self._refrain = self._listener.lesson = None
            if out.latest_verse is not None and self._room and self._unseen <= 0:
                self._refrain = self._listener.heard(*out.latest_verse, events[-1].data, data, begins)

    def _parse(self, events: Iterable[WireEvent]) -> None:
        parse, out = self._parser.parse, self.transmitter
        for event in events:
            self.events += 1
            out.latest_verse = None
            try:
                parse(event, out)
            except ValueError:
                if not self._unglued(event):
                    self._skip(event)
                out.latest_verse = None
            if out.verdict is not None:
                return

    def _parse_leftover(self, events: Iterable[WireEvent]) -> None:
        """What a closed socket left over is whole or cut; cut is a truncation, not a broken grammar."""
        for event in events:
            if not self._understood(event):
                return
            self.events += 1
            if self.verdict is not None:
                return

    def _understood(self, event: WireEvent) -> bool:
        """Whether the parser took the event, or the several events that were glued into it."""
        return self._parsed(event) or self._unglued(event)

    def _unglued(self, event: WireEvent) -> bool:
        pieces = unglued(event)
        return bool(pieces) and all(self.verdict is not None or self._parsed(piece) for piece in pieces)

    def _parsed(self, event: WireEvent) -> bool:
        try:
            self._parser.parse(event, self.transmitter)
        except ValueError:
            return False
        return True

    def _skip(self, event: WireEvent) -> None:
        self._bad.append(excerpt(event.data, _EXCERPT_CHARS))
        self.transmitter.warn("bad_event", "an upstream event that does not parse was skipped")
        if len(self._bad) >= MAX_BAD_EVENTS:
            self._garbled(f"{len(self._bad)} upstream events do not parse, the last one: {self._bad[-1]}")

    def _settle(self, failure: VendorError | None) -> None:
        out = self.transmitter
        if out.stopped is not None:
            if failure is not None:
                out.warn("reset_after_end", f"the answer was complete, then: {failure.message}")
            out.done()
        elif failure is not None:
            out.fail("dispatch-read", failure)
        elif self._bad:
            self._garbled(f"an upstream event does not parse: {self._bad[-1]}")
        elif self.events == 0 and self._is_foreign():
            text = self._head.decode("utf-8", "replace")
            self._garbled(f"the upstream's answer is no event stream: {excerpt(text, _EXCERPT_CHARS)}")
        else:
            out.fail("dispatch-read", truncated(self.received), "done-dispatch-closed")

    def _is_foreign(self) -> bool:
        """Whether the body is neither an event stream nor JSON, nor the beginning of either."""
        head = self._head.lstrip(b" \t\r\n\xef\xbb\xbf")
        # No text begins with a zero byte, but every frame of AWS's binary stream does.
        if not head or head[:1] in b"{[\0":
            return False
        return not any(head.startswith(s) or s.startswith(head) for s in _SSE_STARTS)

    def _garbled(self, message: str) -> None:
        """End an answer that makes no sense; a page for people is told in the words of a failed status."""
        self._break(html_page(self._head.decode("utf-8", "replace")) or message)

    def _break(self, message: str) -> None:
        self.transmitter.fail("dispatch-parse", VendorError(message=message, kind="protocol"))
