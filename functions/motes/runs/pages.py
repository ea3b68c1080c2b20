"""Pages of a journal: particles to compressed JSON and back, and the proof that none is missing.

Must never give a particle out of order, twice, or after one that is not there.
"""

import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, cast

from motes import jsontext
from motes import particles as p
from motes.codec import from_wire, to_wire
from motes.dataclass import dataclass
from motes.errors import StoreError
from motes.runs.sizes import sizes_of
from motes.store.runs import MAX_PAGE_BYTES, Page

# Text shrinks to a third at any level; the lowest one costs a few microseconds a page.
_LEVEL: Final = 1
# What no vendor's text holds, and how JSON says it.
_SEAM: Final = "\x1e"
_WRITTEN_SEAM: Final = b"\\u001e"
_LARGE: Final = p.Warn("a piece of the answer was too large for the journal", "journal_too_large")


def pages_of(first: int, particles: Sequence[p.Particle], page_bytes: int) -> Iterator[Page]:
    """The particles as pages; `first` is the number of the first one. A page is closed once its particles
    have about that many bytes. What is too large for any page is told by a warning in its place.
    """
    whole = _json(particles)
    if particles and len(whole) < min(page_bytes, MAX_PAGE_BYTES):
        # As nearly always: they are one page.
        yield from _pages(first, particles, whole, is_last=isinstance(particles[-1], p.End))
        return
    held, size, at = list[p.Particle](), 0, first
    for number, (particle, more) in enumerate(zip(particles, sizes_of(particles), strict=True), first):
        if held and size + more > MAX_PAGE_BYTES:
            yield from _pages(at, held, _json(held), is_last=False)
            held, size, at = [], 0, number
        held.append(particle)
        size += more
        is_last = isinstance(particle, p.End)
        if size >= page_bytes or is_last:
            yield from _pages(at, held, _json(held), is_last=is_last)
            held, size, at = [], 0, number + 1
    if held:
        yield from _pages(at, held, _json(held), is_last=False)


def _pages(first: int, particles: Sequence[p.Particle], whole: bytes, *, is_last: bool) -> Iterator[Page]:
    """One page of what is written as that JSON; more where the particles are larger than they seemed."""
    body = zlib.compress(whole, _LEVEL)
    if len(body) > MAX_PAGE_BYTES and len(particles) > 1:
        middle = len(particles) // 2
        earlier, later = particles[:middle], particles[middle:]
        yield from _pages(first, earlier, _json(earlier), is_last=False)
        yield from _pages(first + middle, later, _json(later), is_last=is_last)
        return
    if len(body) > MAX_PAGE_BYTES:
        body = zlib.compress(_json([_LARGE]), _LEVEL)
    yield Page(first=first, last=first + len(particles) - 1, body=body, is_last=is_last)


def _json(particles: Sequence[p.Particle]) -> bytes:
    parts: list[bytes] = []
    for kind, some in groupby(particles, type):
        if kind is p.Text:
            parts.append(_texts_json([one.text for one in cast("Iterator[p.Text]", some)]))
        else:
            parts.append(jsontext.dump_bytes([to_wire(one) for one in some])[1:-1])
    return b"[%b]" % b",".join(parts)


def _texts_json(texts: Sequence[str]) -> bytes:
    """The objects of pieces of text: written as one text, and then cut up."""
    whole = jsontext.dump_bytes(_SEAM.join(texts))
    if whole.count(_WRITTEN_SEAM) != len(texts) - 1:
        # One of them has something like a seam of its own.
        return jsontext.dump_bytes([to_wire(p.Text(text)) for text in texts])[1:-1]
    return b'{"t":%b}' % whole.replace(_WRITTEN_SEAM, b'"},{"t":"')


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
        held = jsontext.loads(zlib.decompress(page.body))
        particles = [from_wire(one) for one in held] if isinstance(held, list) else []
    except (zlib.error, AttributeError, TypeError, ValueError):
        raise StoreError(f"page {page.first} of the journal cannot be read") from None
    if len(particles) != page.last - page.first + 1:
        raise StoreError(f"page {page.first} of the journal is not whole")
    return particles
