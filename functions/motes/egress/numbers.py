"""The numbers of a run's particles on the wire, by which a reader who was cut off goes on.

Pure. A particle has a number from 1; a heartbeat has none, nor have the words by which a process leaves a run
that goes on elsewhere. Must never give two pieces one place, nor another place to the same piece.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Final, NamedTuple, Protocol

from motes import particles as p

_WIDEST = 12
_EVENT_END: Final = b"\n\n"
_NUMBERED: Final = b"id: %d\n%b"


class Position(NamedTuple):
    """How far a reader has come: so many whole particles, and so many events of the next one."""

    particles: int
    events: int = 0

    def __str__(self) -> str:
        return f"{self.particles}.{self.events}" if self.events else str(self.particles)


START = Position(0)


def position_of(word: str) -> Position | None:
    """The position a reader names, or None where the word is none."""
    whole, _, part = word.strip().partition(".")
    numbers = [number for number in (whole, part or "0") if number.isascii() and number.isdigit()]
    if len(numbers) < 2 or max(map(len, numbers)) > _WIDEST:
        return None
    return Position(int(numbers[0]), int(numbers[1]))


class Numbers:
    """Counts the particles of one response. `last` is the number of the last one."""

    def __init__(self, last: int = 0) -> None:
        self.last = last
        self._is_parting = False

    def of(self, particle: p.Particle) -> int | None:
        """The number of the next particle."""
        if type(particle) is not p.Text:
            if isinstance(particle, p.Heartbeat):
                return None
            if isinstance(particle, p.Issue) and _parts(particle):
                self._is_parting = True
        if self._is_parting:
            return None
        self.last += 1
        return self.last


def _parts(issue: p.Issue) -> bool:
    return issue.error is not None and "resume" in (issue.error.details or {})


class _Chunks(Protocol):
    """What writes a particle as server-sent events."""

    def open(self) -> bytes: ...
    def encode(self, particle: p.Particle) -> bytes: ...
    def words(self, text: str) -> bytes: ...
    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]: ...
    def keepalive(self) -> bytes: ...


class NumberedChunks:
    """An OpenAI stream whose events say how far they come (`id:`), from behind a position on.

    The last event of particle n has the id `n`; any event before it `m.k`, the k-th after particle m. What
    lies before the position is worked through and not written, so that what follows is what it would be.
    """

    def __init__(self, chunks: _Chunks, after: Position = START) -> None:
        self._chunks = chunks
        self._after = after
        self._numbers = Numbers()
        self._events = 0
        self._is_in_text = False
        """Whether the latest particle was a piece of text, and written: more text is one event then."""

    def open(self) -> bytes:
        """The role chunk."""
        return b"".join([self._told(event, self._numbers.last) for event in _events(self._chunks.open())])

    def encode(self, particle: p.Particle) -> bytes:
        """What one particle adds."""
        if self._is_in_text and type(particle) is p.Text and particle.text:
            return self.words(particle.text)
        before = self._numbers.last
        number = self._numbers.of(particle)
        data = self._chunks.encode(particle)
        self._is_in_text = False
        if number is None:
            return data
        if number > self._after.particles and data.find(_EVENT_END) == len(data) - len(_EVENT_END):
            # One event, as nearly always.
            self._events = 0
            self._is_in_text = type(particle) is p.Text
            return _NUMBERED % (number, data)
        events = _events(data)
        out = b"".join([self._told(event, before) for event in events[:-1]])
        self._events = 0
        return out + (self._placed(Position(number), events[-1]) if events else b"")

    def words(self, text: str) -> bytes:
        """What a piece of text adds that is not empty."""
        if not self._is_in_text:
            return self.encode(p.Text(text))
        # Text behind text, as mostly.
        self._numbers.last = at = self._numbers.last + 1
        return _NUMBERED % (at, self._chunks.words(text))

    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]:
        """`encode` of each of some pieces of text, in fewer steps."""
        first = [] if self._is_in_text else [self.encode(some[0])]
        rest = some[len(first) :]
        if not self._is_in_text:
            return chain(first, map(self.encode, rest))
        numbered = zip(count(self._numbers.last + 1), self._chunks.texts(rest), strict=False)
        self._numbers.last += len(rest)
        # A piece of nothing has a number and no event.
        return chain(first, [_NUMBERED % one if one[1] else b"" for one in numbered])

    def keepalive(self) -> bytes:
        """A sign of life."""
        return self._chunks.keepalive()

    def _told(self, event: bytes, before: int) -> bytes:
        self._events += 1
        return self._placed(Position(before, self._events), event)

    def _placed(self, place: Position, event: bytes) -> bytes:
        return b"" if place <= self._after else b"id: %b\n%b" % (str(place).encode(), event)


def _events(data: bytes) -> list[bytes]:
    """Server-sent events one by one, each with its empty line; JSON holds no line break."""
    return [event + _EVENT_END for event in data.split(_EVENT_END) if event]
