"""What `motes replay` prints for one recording, in each of its forms, as bytes.

Pure. Must never print: the command does, through its terminal.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.codec import to_wire
from motes.dataclass import dataclass
from motes.egress.completion import completion
from motes.egress.failure import error_object, presentable
from motes.egress.message_json import error_json, message_json
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.reply import Reply, signature_format
from motes.errors import VendorError
from motes.reassembly import Reassembler


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recording being played: its path as given, whose it is, and its particles, `End` last."""

    path: str
    vendor: str
    model: str
    dialect: str
    particles: Iterable[p.Particle]


def message_row(run: Run) -> bytes:
    """The whole message as one JSON line."""
    reassembler = Reassembler()
    visible = False
    for particle in run.particles:
        reassembler.feed(particle)
        visible = visible or p.is_visible(particle)
    return _line({"recording": run.path} | message_json(reassembler.finalize(), visible=visible))


def particle_lines(run: Run) -> bytes:
    """Every particle as one JSON line."""
    return b"".join(_line(to_wire(particle)) for particle in run.particles)


def chunk_stream(run: Run) -> bytes:
    """The event stream an OpenAI client gets for this run once it is committed."""
    encoder = ChunkEncoder(_reply(run))
    return encoder.open() + b"".join(encoder.encode(_shown(particle)) for particle in run.particles)


def completion_row(run: Run) -> bytes:
    """The object an OpenAI client gets that does not stream, or its error, as one JSON line."""
    reassembler = Reassembler()
    for particle in run.particles:
        reassembler.feed(_shown(particle))
    message = reassembler.finalize()
    if not message.is_whole:
        return _line(error_object(message.issue, message.text or None))
    return _line(completion(message, _reply(run)))


def unreadable_row(path: str, reason: str) -> bytes:
    """The row of a recording that could not be read: nothing came, and nobody would have been answered."""
    row = message_json(Reassembler().finalize(), visible=False)
    error = error_json(_not_ours(reason), visible=False) | {"http_status": None}
    return _line({"recording": path} | row | {"error": error, "end": None})


def _unreadable(form: Callable[[Run], bytes]) -> Callable[[str, str], bytes]:
    """The same for a form that is made of particles: one issue, which names the path, and the end."""

    def told(path: str, reason: str) -> bytes:
        said = f"{path}: {reason}"
        issue = p.Issue("dispatch-prepare", said, _not_ours(said))
        particles = (issue, p.End("issue-dispatch-rpc"))
        return form(Run(path=path, vendor="", model="", dialect="", particles=particles))

    return told


def _shown(particle: p.Particle) -> p.Particle:
    """A particle as the gateway lets a caller see it."""
    return presentable(particle, None) if isinstance(particle, p.Issue) else particle


def _reply(run: Run) -> Reply:
    """Fixed id and time, so that the same recording always gives the same bytes."""
    return Reply(
        id="chatcmpl-replay",
        created=0,
        model=f"{run.vendor}/{run.model}",
        vendor=run.vendor,
        upstream_model=run.model,
        signature_format=signature_format(run.dialect),
        include_usage=True,
    )


def _not_ours(reason: str) -> VendorError:
    return VendorError(message=reason, kind="invalid_request")


def _line(value: dict[str, Any]) -> bytes:
    return jsontext.dump_bytes(value) + b"\n"


@dataclass(frozen=True, slots=True)
class Form:
    """One form of output: of a recording, and of a path (with the reason) that could not be read."""

    of: Callable[[Run], bytes]
    unreadable: Callable[[str, str], bytes]


FORMS: Final = {
    "message": Form(message_row, unreadable_row),
    "particles": Form(particle_lines, _unreadable(particle_lines)),
    "openai": Form(chunk_stream, _unreadable(chunk_stream)),
    "openai-json": Form(completion_row, _unreadable(completion_row)),
}
