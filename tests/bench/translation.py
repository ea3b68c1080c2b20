"""What happens to an event between the two sockets but the sockets: as motes does it, and as the template does.

What an event costs is counted of these: in steps of the interpreter or in instructions of the machine. Nothing
is timed here, and nothing counted.
"""

from collections.abc import Callable, Iterator

from motes.dialects.base import DialectName
from motes.dialects.registry import resolve
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.reply import Reply
from motes.executor.heartbeat import Heartbeats
from motes.executor.run import Pulse
from motes.pump import Pump
from motes.quirks import NO_QUIRKS
from motes.transmitter import Transmitter

from .template import Template
from .wires import DIALECTS, Script


def reads(dialect: str, n: int) -> list[bytes]:
    """A stream of n pieces, one event a read, as live streams come."""
    answer = DIALECTS[dialect](Script(n=n), b"")
    return [*answer.head, *answer.middle, *answer.tail]


def translated(dialect: DialectName, pieces: list[bytes]) -> Iterator[bytes]:
    """Everything motes does to them; see `motes.executor.run.Lane`."""
    house, said = resolve(dialect), Transmitter(lambda: "call")
    pump = Pump(house.demuxer(1 << 20), house.parser(NO_QUIRKS), said)
    encoder = ChunkEncoder(Reply(id="c", created=0, model="m", vendor="v", upstream_model="m"))
    heartbeats = Heartbeats(Pulse(), 10.0, None, 0.0)
    for piece in pieces:
        pump.hear(piece)
        if said.words and not said.queue:
            yield encoder.words(said.words)
            said.words = ""
        else:
            yield b"".join([encoder.encode(one) for one in heartbeats.added(said.drain(), 0.0)])


def templated(dialect: DialectName, pieces: list[bytes]) -> Iterator[bytes]:
    """Typed decode into a template."""
    feed = Template(dialect).feed
    for piece in pieces:
        yield feed(piece)


WAYS: dict[str, Callable[[DialectName, list[bytes]], Iterator[bytes]]] = {
    "motes": translated,
    "template": templated,
}
