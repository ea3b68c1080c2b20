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
        self.shown_at = now
        """When something was shown for the last time. The pulse is moved on when it comes, and not with every
        batch that shows something.
        """
        self.over_at = self._stop_at - _EARLY
        """When the run has no time left."""
        pulse.due = min(now + every, self._stop_at)

    def added(self, batch: Batch, now: float) -> Batch:
        """The batch to give on."""
        for particle in batch:
            kind = type(particle)
            # Compared by class, which the type checker does not follow.
            if kind in _SHOWN or (kind in _SHOWN_IF_NOT_EMPTY and particle.text):  # type: ignore[union-attr]
                self.shown_at = now
                return batch
        beat_at = self.shown_at + self._every
        if now + _EARLY >= beat_at:
            batch.append(p.Heartbeat())
            self.shown_at, beat_at = now, now + self._every
        self._pulse.due = min(beat_at, self._stop_at)
        return batch
