"""One timer for waits that follow each other.

It is moved on when it rings, and not with each of them. Must never ring before the latest wait is over.
"""

import asyncio
from collections.abc import Callable


class Alarm:
    """Calls `on_time` when the wait is over that was told last. Times are those of the loop's clock."""

    __slots__ = ("_at", "_loop", "_on_time", "_timer", "_until")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_time: Callable[[], None]) -> None:
        self._loop = loop
        self._on_time = on_time
        self._timer: asyncio.TimerHandle | None = None
        self._at = self._until = 0.0

    def set(self, until: float) -> None:
        """Somebody waits until then."""
        self._until = until
        if self._timer is None or self._at > until:
            self._begin(until)

    def stop(self) -> None:
        """Nobody waits any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Never ring again, and let go of who was to be called: he may hold this as this holds him."""
        self.stop()
        self._on_time = _nobody

    def _begin(self, at: float) -> None:
        self.stop()
        # What uvloop gives for a time that is over does not know its time.
        self._timer, self._at = self._loop.call_at(at, self._ring), at

    def _ring(self) -> None:
        self._timer = None
        if self._loop.time() >= self._until:
            self._on_time()
        else:
            self._begin(self._until)


def _nobody() -> None:
    """Nobody waits."""
