"""One run: what its attempts and layers share.

Values only. Must never outlive the run it belongs to.
"""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import field
from datetime import UTC, datetime
from math import inf
from random import Random, SystemRandom
from typing import Final, Protocol, TypeAlias

import httpx

from motes import particles as p
from motes.costs import Pricing, unpriced
from motes.dataclass import dataclass
from motes.dispatch import Dispatch
from motes.errors import VendorError
from motes.estimates import bytes_of, words_in
from motes.executor.observer import Observer, Progress
from motes.executor.policy import DEFAULT_POLICY, Policy

# One for all: it has no state, but the 2.5 KiB of a generator that has.
_CHANCE: Final = SystemRandom()

Batch: TypeAlias = list[p.Particle]
"""What one read of the upstream gave, in order; whoever is given it may change it. An empty one says only
that the pulse of the run was due.
"""

Turn: TypeAlias = Batch | Awaitable[object]
"""What a stage gives: a batch, or what must be awaited before it is asked again. None of them waits itself,
so that a read is no coroutine but that of whoever reads.
"""

Take: TypeAlias = Callable[[Batch], bool]
"""Whether words were taken. Of those that were not, nothing was kept."""

Say: TypeAlias = Callable[[str], bool]
"""As `Take`, of one piece of text that is not empty."""


def shut(_: object) -> bool:
    """Nobody takes anything now."""
    return False


class Halting(Protocol):
    """What knows whether a run is to be ended from outside."""

    is_halted: bool


class _GoesOn:
    is_halted = False


_GOES_ON: Final = _GoesOn()


class Lane:
    """The short way of an answer's words: in the callback of the read that brings them, to who takes them.

    Most reads are a few words, and whoever reads the run waits for them. Then nobody is woken for them, and
    no layer is asked: what each has to know of them stands here until it has anything else to do. It never
    carries anything but text, and nothing overtakes what came before: who cannot take words now says so, and
    they go the long way, as all else does. `lead` it to whoever reads the run, as long as he waits for it.
    """

    __slots__ = ("_say", "_take", "at", "count", "halting", "open_until", "size")

    def __init__(self) -> None:
        self.halting: Halting = _GOES_ON
        self._take: Take = shut
        self._say: Say = shut
        self.open_until = -inf
        """Until when words may pass, as a time of the event loop's clock. Not before the first ones of the
        run have gone the long way, since the layers note when that was.
        """
        self.count = 0
        """How many pieces of text have passed."""
        self.size = 0
        """Their bytes, since the executor counted them last."""
        self.at = -inf
        """When the last of them passed."""

    def lead(self, take: Take, say: Say) -> None:
        """To whom words go from now on: several pieces, and one."""
        self._take, self._say = take, say

    def close(self) -> None:
        """Nobody takes them any more."""
        self._take = self._say = shut

    def says(self, text: str, now: float) -> bool:
        """Whether that piece of text has passed, which came at that time of the event loop's clock."""
        if self.halting.is_halted or now >= self.open_until or not self._say(text):
            return False
        self.count += 1
        self.size += len(text) if text.isascii() else bytes_of(text)
        self.at = now
        return True

    def passes(self, batch: Batch, now: float) -> bool:
        """Whether the batch, of several particles, has passed."""
        size = words_in(batch)
        if not size or self.halting.is_halted or now >= self.open_until or not self._take(batch):
            return False
        self.count += len(batch)
        self.size += size
        self.at = now
        return True


NO_LANE: Final = Lane()
"""Leads nowhere."""


@dataclass(slots=True)
class Pulse:
    """Until when a run may wait without a word, as a time of the event loop's clock; see `heartbeat.py`."""

    due: float = inf


def new_call_id() -> str:
    """An id for a tool call whose vendor sends none."""
    return f"call_{secrets.token_hex(12)}"


class CallIds:
    """Ids for the calls of one attempt that are the same whenever the same run is read."""

    def __init__(self, run_id: str, part: int) -> None:
        self._seed = f"{run_id}/{part}/"
        self._made = 0

    def __call__(self) -> str:
        """The next id."""
        self._made += 1
        return f"call_{hashlib.sha256(f'{self._seed}{self._made}'.encode()).hexdigest()[:24]}"


def _unheard(_vendor: str, _at: int, _error: VendorError) -> None:
    """Nobody wants to know."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run behaves. Seconds throughout; `deadline` is a time of the event loop's clock, or None.

    `heartbeat` is the longest silence, `warn_margin` and `stop_margin` how long before the deadline the
    observer hears of it and the stream ends. `now` reads a Retry-After date. `price` must answer at once.
    `ids` makes what makes the ids of calls without one, anew for each attempt at each part of the answer, so
    that an attempt which is read once more has the same ids; without it, `new_id` makes them.
    `refused` hears of a vendor that refuses one of its several keys, and which.
    """

    heartbeat: float = 10.0
    deadline: float | None = None
    warn_margin: float = 15.0
    stop_margin: float = 3.0
    policy: Policy = DEFAULT_POLICY
    new_id: Callable[[], str] = new_call_id
    ids: Callable[[int], Callable[[], str]] | None = None
    now: Callable[[], datetime] = _now
    refused: Callable[[str, int, VendorError], None] = _unheard
    rng: Random = _CHANCE
    price: Pricing = unpriced

    def ids_of(self, part: int) -> Callable[[], str]:
        """What makes the ids of one attempt at that part of the answer (0, then one more a continuation)."""
        return self.new_id if self.ids is None else self.ids(part)

    @property
    def stop_at(self) -> float | None:
        """When the stream must have ended, or None."""
        return None if self.deadline is None else self.deadline - self.stop_margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run on its way."""

    dispatch: Dispatch
    http: httpx.AsyncClient
    options: Options
    observer: Observer
    progress: Progress
    clock: Callable[[], float]
    """The event loop's."""
    pulse: Pulse = field(default_factory=Pulse)
