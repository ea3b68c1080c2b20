"""Recorded upstream answers and the ways to feed them: whole, in reads, cut.

A recording is a folder with `response.bin` and `meta.json`; it is fed through the same pump that the
executor uses.
"""

import itertools
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motes import particles as p
from motes.demux.base import MAX_EVENT_BYTES
from motes.dialects.base import Dialect
from motes.dialects.registry import resolve
from motes.errors import VendorError
from motes.fragments import Message
from motes.pump import Pump
from motes.quirks import NO_QUIRKS, Quirks
from motes.reassembly import Reassembler
from motes.transmitter import Continue, Retry, Transmitter

WIRE = Path(__file__).parent.parent / "wire"
SMALL = 4096
SEEDED_OFFSETS = 200
RESET = VendorError(message="the connection was reset", kind="stream_truncated", retryable=True)


@dataclass(frozen=True)
class Recording:
    """One recorded answer."""

    path: Path
    body: bytes
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def dialect(self) -> Dialect:
        return resolve(self.meta["dialect"])

    @property
    def quirks(self) -> Quirks:
        return quirks_of(self.meta)

    @property
    def failed(self) -> bool:
        return self.meta.get("status", 200) >= 400


def quirks_of(meta: dict[str, Any]) -> Quirks:
    """The vendor's quirks in that dialect, where it is one of ours, with the recording's own on top."""
    from dataclasses import replace

    from motes.vendors.catalogue import speaking
    from motes.vendors.table import VENDORS

    vendor = VENDORS.get(meta.get("vendor") or "")
    spoken = {surface.dialect for surface in vendor.surfaces} if vendor else set()
    if vendor and meta.get("dialect") in spoken:
        vendor = speaking(vendor, meta["dialect"])
    quirks = vendor.quirks if vendor else NO_QUIRKS
    return replace(quirks, **meta.get("quirks", {}))


def load(path: Path) -> Recording:
    return Recording(path, (path / "response.bin").read_bytes(), json.loads((path / "meta.json").read_text()))


def ours() -> list[Recording]:
    """The repo's own recordings whose bodies are streams or whole answers (not HTTP failures)."""
    return [load(path.parent) for path in sorted(WIRE.glob("*/*/meta.json"))]


def in_reads(body: bytes, size: int) -> list[bytes]:
    return [body[i : i + size] for i in range(0, len(body), size)]


def offsets(body: bytes, seed: str) -> Iterable[int]:
    """Every position of a small body, 200 seeded ones of a large one."""
    if len(body) <= SMALL:
        return range(len(body) + 1)
    return sorted(random.Random(seed).sample(range(len(body) + 1), SEEDED_OFFSETS))


def particles(
    dialect: Dialect, reads: Iterable[bytes], quirks: Quirks = NO_QUIRKS, failure: VendorError | None = None
) -> list[p.Particle]:
    """Every particle of one attempt, its `End` last; a Retry verdict becomes the issue it stands for."""
    return list(_particles(dialect, reads, quirks, failure))


def _particles(
    dialect: Dialect, reads: Iterable[bytes], quirks: Quirks, failure: VendorError | None
) -> Iterator[p.Particle]:
    numbers = itertools.count(1)
    transmitter = Transmitter(lambda: f"made_{next(numbers)}")
    pump = Pump(dialect.demuxer(MAX_EVENT_BYTES), dialect.parser(quirks), transmitter)
    for read in reads:
        yield from pump.feed(read)
        if pump.verdict is not None:
            break
    yield from pump.close(failure)
    verdict = pump.verdict
    if isinstance(verdict, Retry):
        yield from pump.fail("dialect-issue", verdict.error)
    elif isinstance(verdict, Continue):
        transmitter.leave_paused()
        yield from transmitter.drain()
    end = transmitter.end()
    assert end is not None, "an attempt came to no end"
    yield end


def message(particles: Iterable[p.Particle]) -> Message:
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return reassembler.finalize()


def merged(particles: Iterable[p.Particle]) -> list[p.Particle]:
    """Neighbouring text of one kind as one particle, so that chunkings can be compared."""
    out: list[p.Particle] = []
    for particle in particles:
        last = out[-1] if out else None
        if isinstance(particle, p.Text) and isinstance(last, p.Text):
            out[-1] = p.Text(last.text + particle.text)
        elif isinstance(particle, p.Reasoning) and isinstance(last, p.Reasoning) and not particle.restart:
            out[-1] = p.Reasoning(last.text + particle.text, last.weak or particle.weak, last.restart)
        else:
            out.append(particle)
    return out
