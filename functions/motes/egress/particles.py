"""The particle stream as it travels: one JSON object a line (NDJSON), or a server-sent event.

Pure. In server-sent events `id:` is the particle's number from 1, so that a reader can tell what it has seen;
a heartbeat has none, since it is no part of the run. Must never put anything else on the wire.
"""

from typing import Final, Protocol

from motes import jsontext
from motes import particles as p
from motes.codec import to_wire

_HEARTBEAT: Final = jsontext.dump_bytes(to_wire(p.Heartbeat()))


class ParticleEncoder(Protocol):
    """One per response."""

    def open(self) -> bytes:
        """What comes before everything: nothing, on these wires."""
        ...

    def encode(self, particle: p.Particle) -> bytes:
        """The bytes of one particle; none for a heartbeat, which is sent by time and not by number."""
        ...

    def keepalive(self) -> bytes:
        """A heartbeat, to be sent when nothing was sent for a while."""
        ...


class LineEncoder:
    """`application/x-ndjson`: every particle is a line."""

    media_type: Final = "application/x-ndjson"

    def open(self) -> bytes:
        """See `ParticleEncoder`."""
        return b""

    def encode(self, particle: p.Particle) -> bytes:
        """See `ParticleEncoder`."""
        if isinstance(particle, p.Heartbeat):
            return b""
        return jsontext.dump_bytes(to_wire(particle)) + b"\n"

    def keepalive(self) -> bytes:
        """See `ParticleEncoder`."""
        return _HEARTBEAT + b"\n"


class EventEncoder:
    """`text/event-stream`: every particle is an event with a number."""

    media_type: Final = "text/event-stream; charset=utf-8"

    def __init__(self) -> None:
        self._number = 0

    def open(self) -> bytes:
        """See `ParticleEncoder`."""
        return b""

    def encode(self, particle: p.Particle) -> bytes:
        """See `ParticleEncoder`."""
        if isinstance(particle, p.Heartbeat):
            return b""
        self._number += 1
        return b"id: %d\ndata: %b\n\n" % (self._number, jsontext.dump_bytes(to_wire(particle)))

    def keepalive(self) -> bytes:
        """See `ParticleEncoder`."""
        return b"data: " + _HEARTBEAT + b"\n\n"
