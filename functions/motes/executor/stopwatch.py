"""How long a run took and what it used, for `Metrics`.

Takes the time as an argument. Must never change a token count.
"""

from dataclasses import replace

from motes import particles as p
from motes.reassembly import add_metrics


class Stopwatch:
    """Sees every particle of a run. Times in seconds in, milliseconds out, all from the run's start."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._first: float | None = None
        self._latest: p.Metrics | None = None
        self._earlier: p.Metrics | None = None
        self._is_stale = False

    def stamped(self, particle: p.Particle, now: float) -> p.Particle:
        """The particle to give on: `Metrics` with its times, anything else as it is."""
        if isinstance(particle, p.Metrics):
            self._is_stale = False
            self._latest = self._timed(particle, now)
            return self._latest
        if isinstance(particle, p.Note):
            self._earlier, self._latest, self._is_stale = self._sum(), None, False
        elif p.is_visible(particle):
            self._is_stale = True
            self._first = now if self._first is None else self._first
        return particle

    def ended(self, now: float) -> list[p.Particle]:
        """What comes before the `End`: the latest `Metrics` once more, where the answer went on after it."""
        return [self._timed(self._latest, now)] if self._latest is not None and self._is_stale else []

    def total(self, now: float) -> p.Metrics:
        """What the whole run used, all its segments added."""
        return self._timed(self._sum() or p.Metrics(), now)

    def _sum(self) -> p.Metrics | None:
        if self._earlier is None or self._latest is None:
            return self._latest or self._earlier
        return add_metrics(self._earlier, self._latest)

    def _timed(self, metrics: p.Metrics, now: float) -> p.Metrics:
        first = self._first
        return replace(
            metrics,
            start_ms=None if first is None else round((first - self._started) * 1000),
            inner_ms=None if first is None else round((now - first) * 1000),
            all_ms=round((now - self._started) * 1000),
        )
