"""Pages of a journal: particles to compressed lines of JSON and back, and the proof that none is missing.

Must never give a particle out of order, twice, or after one that is not there.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from motes import jsontext
from motes import particles as p
from motes.codec import from_wire, to_wire
from motes.dataclass import dataclass
from motes.errors import StoreError
from motes.store.runs import MAX_PAGE_BYTES, Page

# Text shrinks to a third at any level; the lowest one costs a few microseconds a page.
_LEVEL: Final = 1
_LARGE: Final = p.Warn("a piece of the answer was too large for the journal", "journal_too_large")


def pages_of(first: int, particles: Sequence[p.Particle], page_bytes: int) -> Iterator[Page]:
    """The particles as pages; `first` is the number of the first one. A page is closed once its lines have
    that many bytes. What is too large for any page is told by a warning in its place.
    """
    lines, size, at = list[bytes](), 0, first
    for number, particle in enumerate(particles, first):
        line = _line(particle)
        if lines and size + len(line) > MAX_PAGE_BYTES:
            yield _page(at, lines, is_last=False)
            lines, size, at = [], 0, number
        lines.append(line)
        size += len(line)
        is_last = isinstance(particle, p.End)
        if size >= page_bytes or is_last:
            yield _page(at, lines, is_last=is_last)
            lines, size, at = [], 0, number + 1
    if lines:
        yield _page(at, lines, is_last=False)


def _line(particle: p.Particle) -> bytes:
    # Nearly all particles are text, whose line needs no table.
    wire = {"t": particle.text} if type(particle) is p.Text else to_wire(particle)
    line = jsontext.dump_bytes(wire)
    if len(line) > MAX_PAGE_BYTES and len(zlib.compress(line, _LEVEL)) > MAX_PAGE_BYTES:
        return jsontext.dump_bytes(to_wire(_LARGE))
    return line


def _page(first: int, lines: Sequence[bytes], *, is_last: bool) -> Page:
    body = zlib.compress(b"\n".join(lines), _LEVEL)
    return Page(first=first, last=first + len(lines) - 1, body=body, is_last=is_last)


@dataclass(slots=True)
class Reading:
    """How far a reader has come: `at` is the number of the last particle it has."""

    at: int
    is_over: bool = False

    def taken(self, pages: Sequence[Page]) -> list[p.Particle]:
        """The particles that are new in these pages. Raises StoreError for a journal with a gap."""
        out: list[p.Particle] = []
        for page in pages:
            if page.first > self.at + 1:
                raise StoreError(f"the journal has no particles {self.at + 1} to {page.first - 1}")
            if page.last > self.at:
                out += _particles(page)[self.at + 1 - page.first :]
                self.at = page.last
            self.is_over = self.is_over or page.is_last
        return out


def _particles(page: Page) -> list[p.Particle]:
    try:
        lines = zlib.decompress(page.body).split(b"\n")
        particles = [from_wire(jsontext.loads(line)) for line in lines]
    except (zlib.error, ValueError, AttributeError):
        raise StoreError(f"page {page.first} of the journal cannot be read") from None
    if len(particles) != page.last - page.first + 1:
        raise StoreError(f"page {page.first} of the journal is not whole")
    return particles
