"""How long a run took and what it used, for `Metrics`: the one place where both are made whole.

Takes the time as an argument. Must never change a token count that a vendor gave for the whole of something;
what is missing at the end is estimated, and said to be.
"""

from collections.abc import Callable
from typing import Any, Final

from motes import particles as p
from motes.costs import Pricing, prompt_of, unpriced
from motes.dataclass import replace
from motes.estimates import size_of, tokens_of
from motes.reassembly import add_metrics

_FROM_THE_VENDOR: Final = frozenset({p.ModelName, p.ResponseId, p.HandleSet, p.ProviderInfra})
"""What shows that an answer has begun, although nothing of it can be read."""


class Stopwatch:
    """Sees every particle of a run. Times in seconds in, milliseconds out, all from the run's start.

    `prompt` estimates the request's own tokens; without it they stay unknown where the vendor is silent.
    """

    def __init__(
        self, started: float, price: Pricing = unpriced, prompt: Callable[[], int] | None = None
    ) -> None:
        self._started = started
        self._price = price
        self._prompt = prompt
        self._first: float | None = None
        self._told: p.Metrics | None = None
        self._earlier: p.Metrics | None = None
        self._sent: p.Metrics | None = None
        self._is_stale = False
        self._has_begun = False
        self._uncounted = 0
        """Bytes of the answer since the vendor last told how much output there was."""

    def took_words(self, batch: list[p.Particle], now: float) -> bool:
        """Whether the batch is text and nothing else, and says something. Most are, and nothing more is to be
        done with such a one: it is counted, and goes on as it is.
        """
        size = 0
        for particle in batch:
            if type(particle) is not p.Text:
                return False
            words = particle.text
            size += len(words) if words.isascii() else size_of(particle)
        if not size:
            return False
        self._uncounted += size
        if not self._is_stale:
            self._on_something(now)
        return True

    def stamped(self, particle: p.Particle, now: float) -> p.Particle:
        """The particle to give on: `Metrics` with its times and its cost, anything else as it is."""
        kind = type(particle)
        if isinstance(particle, p.Metrics):
            return self._on_metrics(particle, now)
        if kind in _FROM_THE_VENDOR:
            self._has_begun = True
        elif isinstance(particle, p.Note):
            self._earlier = self._sum(self._whole(good=True))
            self._reset()
        elif isinstance(particle, p.RetryReset):
            self._reset()
        elif kind is p.ToolCallArguments or p.is_visible(particle):
            self._uncounted += size_of(particle)
            self._on_something(now)
        return particle

    def last_metrics(self, particle: p.End | p.Issue | p.Note, now: float) -> list[p.Particle]:
        """The `Metrics` to tell before that particle, where the last ones are no longer the whole truth."""
        whole = self._whole(good=_is_good(particle))
        if whole is None or (not self._is_stale and self._is_told(whole)):
            return []
        self._sent, self._is_stale = whole, False
        return [self._timed(whole, whole.cost, now)]

    def total(self, end: p.End, now: float) -> p.Metrics:
        """What the whole run used, all its segments added. Of a run that its vendor refused, nothing is
        known: the counts are None, and `source` says estimated.
        """
        known = self._sum(self._whole(good=_is_good(end)))
        known = known or p.Metrics(source="estimated")
        return self._timed(known, known.cost, now)

    def _on_something(self, now: float) -> None:
        """A piece of the answer; where metrics came last, they are no longer the whole truth."""
        self._is_stale = self._has_begun = True
        self._first = now if self._first is None else self._first

    def _on_metrics(self, told: p.Metrics, now: float) -> p.Metrics:
        self._is_stale, self._has_begun = False, True
        if told.tokens_out is not None:
            self._uncounted = 0
        self._told = told
        self._sent = told
        return self._timed(told, self._price(told), now)

    def _reset(self) -> None:
        self._told = self._sent = None
        self._is_stale = self._has_begun = False
        self._uncounted = 0

    def _whole(self, *, good: bool) -> p.Metrics | None:
        """What this segment used, as far as it can be said; None where the vendor has not begun to answer.

        What a vendor counts at the end of a good answer is all there is. Before that, its counts are of what
        came until then, and the rest is estimated.
        """
        if not self._has_begun:
            return None
        if self._told is not None and self._told.source == "none":
            return self._told
        told = self._told or p.Metrics(source="estimated")
        prompt, output = prompt_of(told), told.tokens_out
        is_early = self._uncounted > 0 and (not good or told.source == "partial")
        if prompt is not None and output is not None and not is_early:
            return self._priced(told)
        guess: dict[str, Any] = {}
        if prompt is None and self._prompt is not None:
            guess["tokens_in"] = self._prompt()
        if output is None or is_early:
            guess["tokens_out"] = (output or 0) + tokens_of(self._uncounted)
        knows = prompt is not None or output is not None
        if guess:
            # What the vendor said of the sum is said of less.
            guess |= {"tokens_total": None, "cost_cents": None}
        return self._priced(replace(told, **guess, source="partial" if knows else "estimated"))

    def _is_told(self, whole: p.Metrics) -> bool:
        """Whether it was. A price that came since makes no particle more: the numbers of a run's particles
        are the same whoever reads it.
        """
        if self._sent is None or self._sent is whole:
            return self._sent is whole
        return replace(self._sent, cost=None) == replace(whole, cost=None)

    def _sum(self, latest: p.Metrics | None) -> p.Metrics | None:
        if self._earlier is None or latest is None:
            return latest or self._earlier
        return add_metrics(self._earlier, latest)

    def _priced(self, metrics: p.Metrics) -> p.Metrics:
        cost = self._price(metrics)
        return metrics if cost is metrics.cost else replace(metrics, cost=cost)

    def _timed(self, metrics: p.Metrics, cost: p.Cost | None, now: float) -> p.Metrics:
        started, first = self._started, self._first
        all_ms = round((now - started) * 1000)
        if first is None:
            return replace(metrics, start_ms=None, inner_ms=None, all_ms=all_ms, cost=cost)
        start_ms, inner_ms = round((first - started) * 1000), round((now - first) * 1000)
        return replace(metrics, start_ms=start_ms, inner_ms=inner_ms, all_ms=all_ms, cost=cost)


def _is_good(particle: p.End | p.Issue | p.Note) -> bool:
    if isinstance(particle, p.End):
        return particle.stop is not None
    return isinstance(particle, p.Note)
