"""A sign of life whenever a reader would otherwise see nothing for a while; it keeps the run's pulse.

Whoever waits for the upstream waits until the pulse is due at the longest and then gives an empty batch.
That covers connecting, backing off, and a vendor whose own pings mean nothing to us, and costs no task and no
timer a read. What cannot give empty batches is put into a task of its own (`own_task`).
"""

from math import inf
from typing import Final

from motes import particles as p
from motes.executor.run import Batch, Pulse

# A timer of the event loop may come a little before its time.
_EARLY: Final = 0.001
_SHOWN_IF_NOT_EMPTY: Final = frozenset({p.Text, p.Reasoning, p.Refusal})
_SHOWN: Final = frozenset({*p.VISIBLE, p.ToolCallArguments}) - _SHOWN_IF_NOT_EMPTY


class Heartbeats:
    """Sees every batch of a run and adds a `Heartbeat` where nothing was shown for `every` seconds.

    Control particles do not count as shown: some egresses write nothing for them. It keeps the run's pulse;
    `stop_at` is when the run must be ended, or None.
    """

    def __init__(self, pulse: Pulse, every: float, stop_at: float | None, now: float) -> None:
        self._pulse = pulse
        self._every = every
        self._stop_at = inf if stop_at is None else stop_at
        self._beat_at = now + every
        pulse.due = min(self._beat_at, self._stop_at)
        self.over_at = self._stop_at - _EARLY
        """When the run has no time left."""

    def shown(self, now: float) -> None:
        """Something was shown."""
        beat_at = self._beat_at = now + self._every
        self._pulse.due = beat_at if beat_at < self._stop_at else self._stop_at

    def added(self, batch: Batch, now: float) -> Batch:
        """The batch to give on."""
        # The last one first: it mostly is the only one.
        if not batch or not (_shows(batch[-1]) or any(_shows(particle) for particle in batch)):
            if now + _EARLY < self._beat_at:
                return batch
            batch.append(p.Heartbeat())
        self.shown(now)
        return batch


def _shows(particle: p.Particle) -> bool:
    kind = type(particle)
    if kind is p.Text:
        # Mostly. Compared by class, which the type checker does not follow.
        return bool(particle.text)  # type: ignore[union-attr]
    return kind in _SHOWN or (kind in _SHOWN_IF_NOT_EMPTY and p.is_visible(particle))
