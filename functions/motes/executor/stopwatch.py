"""How long a run took and what it used, for `Metrics`: the one place where both are made whole.

Takes the time as an argument. Must never change a token count that a vendor gave for the whole of something;
what is missing at the end is estimated, and said to be.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from motes import particles as p
from motes.costs import Pricing, prompt_of, unpriced
from motes.dataclass import changer, replace
from motes.estimates import size_of, tokens_of, words_in
from motes.reassembly import add_metrics

_FROM_THE_VENDOR: Final = frozenset({p.ModelName, p.ResponseId, p.HandleSet, p.ProviderInfra})
"""What shows that an answer has begun, although nothing of it can be read."""
_UNTOLD: Final = p.Metrics(source="estimated")
_Changer: TypeAlias = Callable[..., p.Metrics]
_with_times: Final[_Changer] = changer(p.Metrics, "start_ms", "inner_ms", "all_ms", "cost")


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
        self.first: float | None = None
        """When the first piece of the answer came, at whichever attempt."""
        self._told: p.Metrics | None = None
        self._earlier: p.Metrics | None = None
        self._sent: p.Metrics | None = None
        """What was told last, without its times and its cost."""
        self._counted_last: tuple[bool, int, p.Metrics | None, p.Metrics] | None = None
        self.is_stale = False
        """Whether something was said since metrics came."""
        self._has_begun = False
        self.uncounted = 0
        """Bytes of the answer since the vendor last told how much output there was."""

    def took_words(self, batch: list[p.Particle], now: float) -> bool:
        """Whether the batch is text and nothing else, and says something. Most are, and nothing more is to be
        done with such a one: it is counted, and goes on as it is.
        """
        size = words_in(batch)
        if size:
            self.on_words(size, now)
        return size > 0

    def on_words(self, size: int, now: float) -> None:
        """So many bytes of text, the last of them now."""
        self.uncounted += size
        if not self.is_stale:
            self.on_something(now)

    def stamped(self, particle: p.Particle, now: float) -> p.Particle:
        """The particle to give on: `Metrics` with its times and its cost, anything else as it is."""
        kind = type(particle)
        if isinstance(particle, p.Metrics):
            return self._on_metrics(particle, now)
        if kind in _FROM_THE_VENDOR:
            self._has_begun = True
        elif kind is p.End:
            pass  # Nothing is told after it.
        elif isinstance(particle, p.Note):
            self._earlier = self._sum(self._whole(good=True))
            self._reset()
        elif isinstance(particle, p.RetryReset):
            self._reset()
        elif kind is p.ToolCallArguments or p.is_visible(particle):
            self.uncounted += size_of(particle)
            self.on_something(now)
        return particle

    def last_metrics(self, particle: p.End | p.Issue | p.Note, now: float) -> list[p.Particle]:
        """The `Metrics` to tell before that particle, where the last ones are no longer the whole truth."""
        counted = self._counted(good=_is_good(particle))
        if counted is None or (not self.is_stale and self._is_told(counted)):
            return []
        self._sent, self.is_stale = counted, False
        return [self._timed(counted, self._cost(counted), now)]

    def total(self, end: p.End, now: float) -> p.Metrics:
        """What the whole run used, all its segments added. Of a run that its vendor refused, nothing is
        known: the counts are None, and `source` says estimated.
        """
        good = _is_good(end)
        if self._earlier is not None:
            known = self._sum(self._whole(good=good)) or _UNTOLD
            return self._timed(known, known.cost, now)
        counted = self._counted(good=good)
        return self._timed(counted or _UNTOLD, None if counted is None else self._cost(counted), now)

    def on_something(self, now: float) -> None:
        """A piece of the answer; where metrics came last, they are no longer the whole truth."""
        self.is_stale = self._has_begun = True
        self.first = now if self.first is None else self.first

    def _on_metrics(self, told: p.Metrics, now: float) -> p.Metrics:
        self.is_stale, self._has_begun = False, True
        if told.tokens_out is not None:
            self.uncounted = 0
        self._told = told
        self._sent = told
        return self._timed(told, self._price(told), now)

    def _reset(self) -> None:
        self._told = self._sent = None
        self.is_stale = self._has_begun = False
        self.uncounted = 0

    def _whole(self, *, good: bool) -> p.Metrics | None:
        """What this segment used and costs."""
        counted = self._counted(good=good)
        return None if counted is None else self._priced(counted)

    def _counted(self, *, good: bool) -> p.Metrics | None:
        """What this segment used, as far as it can be said; None where the vendor has not begun to answer.

        What a vendor counts at the end of a good answer is all there is. Before that, its counts are of what
        came until then, and the rest is estimated.
        """
        if not self._has_begun:
            return None
        told, last = self._told, self._counted_last
        if told is not None and told.source == "none":
            return told
        # An end is looked at twice: for its particles, and for the sum of the run.
        if last is None or last[0] is not good or last[1] != self.uncounted or last[2] is not told:
            last = self._counted_last = good, self.uncounted, told, self._estimated(told or _UNTOLD, good)
        return last[3]

    def _estimated(self, told: p.Metrics, good: bool) -> p.Metrics:
        """What was told, with an estimate of what was not."""
        prompt, output = prompt_of(told), told.tokens_out
        is_early = self.uncounted > 0 and (not good or told.source == "partial")
        if prompt is not None and output is not None and not is_early:
            return told
        changed: _Changer = changer(
            p.Metrics, "tokens_in", "tokens_out", "tokens_total", "cost_cents", "source"
        )
        source = "estimated" if prompt is None and output is None else "partial"
        tokens_in, total, cents = told.tokens_in, told.tokens_total, told.cost_cents
        # What the vendor said of the sum is said of less.
        if prompt is None and self._prompt is not None:
            tokens_in, total, cents = self._prompt(), None, None
        if output is None or is_early:
            output, total, cents = (output or 0) + tokens_of(self.uncounted), None, None
        return changed(told, tokens_in, output, total, cents, source)

    def _is_told(self, counted: p.Metrics) -> bool:
        """Whether it was. A price that came since makes no particle more: the numbers of a run's particles
        are the same whoever reads it.
        """
        return self._sent is counted or self._sent == counted

    def _sum(self, latest: p.Metrics | None) -> p.Metrics | None:
        if self._earlier is None or latest is None:
            return latest or self._earlier
        return add_metrics(self._earlier, latest)

    def _priced(self, metrics: p.Metrics) -> p.Metrics:
        cost = self._cost(metrics)
        return metrics if cost is metrics.cost else replace(metrics, cost=cost)

    def _cost(self, counted: p.Metrics) -> p.Cost | None:
        """Of what was asked of no model there is none to be had."""
        return counted.cost if counted.source == "none" else self._price(counted)

    def _timed(self, metrics: p.Metrics, cost: p.Cost | None, now: float) -> p.Metrics:
        started, first = self._started, self.first
        all_ms = round((now - started) * 1000)
        if first is None:
            return _with_times(metrics, None, None, all_ms, cost)
        return _with_times(
            metrics, round((first - started) * 1000), round((now - first) * 1000), all_ms, cost
        )


def _is_good(particle: p.End | p.Issue | p.Note) -> bool:
    if isinstance(particle, p.End):
        return particle.stop is not None
    return isinstance(particle, p.Note)
