"""The particle stream as it travels: one JSON object a line (NDJSON), or a server-sent event.

Pure. In server-sent events `id:` is the particle's number from 1, so that a reader can tell what it has seen;
a heartbeat has none, since it is no part of the run. Must never put anything else on the wire.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from motes import jsontext
from motes import particles as p
from motes.codec import to_wire
from motes.egress.numbers import Numbers

_HEARTBEAT: Final = jsontext.dump_bytes(to_wire(p.Heartbeat()))


class ParticleEncoder(Protocol):
    """One per response."""

    def open(self) -> bytes:
        """What comes before everything: nothing, on these wires."""
        ...

    def encode(self, particle: p.Particle) -> bytes:
        """The bytes of one particle; none for a heartbeat, which is sent by time and not by number."""
        ...

    def words(self, text: str) -> bytes:
        """`encode` of a piece of text."""
        ...

    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]:
        """`encode` of each of some pieces of text."""
        ...

    def keepalive(self) -> bytes:
        """A heartbeat, to be sent when nothing was sent for a while."""
        ...


class LineEncoder:
    """`application/x-ndjson`: every particle is a line; of a run that can be resumed, with its number in
    `seq` (`after` is that of the last one its reader has).
    """

    media_type: Final = "application/x-ndjson"

    def __init__(self, after: int | None = None) -> None:
        self._numbers = None if after is None else Numbers(after)

    def open(self) -> bytes:
        """See `ParticleEncoder`."""
        return b""

    def encode(self, particle: p.Particle) -> bytes:
        """See `ParticleEncoder`."""
        if isinstance(particle, p.Heartbeat):
            return b""
        wire = to_wire(particle)
        if self._numbers is not None and (number := self._numbers.of(particle)) is not None:
            wire = {"seq": number, **wire}
        return jsontext.dump_bytes(wire) + b"\n"

    def words(self, text: str) -> bytes:
        """See `ParticleEncoder`."""
        return self.encode(p.Text(text))

    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]:
        """See `ParticleEncoder`."""
        return map(self.encode, some)

    def keepalive(self) -> bytes:
        """See `ParticleEncoder`."""
        return _HEARTBEAT + b"\n"


class EventEncoder:
    """`text/event-stream`: every particle is an event with a number."""

    media_type: Final = "text/event-stream; charset=utf-8"

    def __init__(self, after: int = 0) -> None:
        self._numbers = Numbers(after)

    def open(self) -> bytes:
        """See `ParticleEncoder`."""
        return b""

    def encode(self, particle: p.Particle) -> bytes:
        """See `ParticleEncoder`."""
        if isinstance(particle, p.Heartbeat):
            return b""
        number = self._numbers.of(particle)
        id = b"" if number is None else b"id: %d\n" % number
        return b"%bdata: %b\n\n" % (id, jsontext.dump_bytes(to_wire(particle)))

    def words(self, text: str) -> bytes:
        """See `ParticleEncoder`."""
        return self.encode(p.Text(text))

    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]:
        """See `ParticleEncoder`."""
        return map(self.encode, some)

    def keepalive(self) -> bytes:
        """See `ParticleEncoder`."""
        return b"data: " + _HEARTBEAT + b"\n\n"
