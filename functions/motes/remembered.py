"""The last answer of a slow source, kept for a set time.

Who must be sure asks `get`, and waits only where the answer is too old. Who cannot wait takes `known` and
lets the question run beside its own work (`begin`). After that work, `renew` asks ahead, so that a busy
process never finds an answer too old. Must never lose a known answer to a source that fails for a while.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import field, replace
from typing import Final, Generic, TypeVar

from motes.dataclass import dataclass
from motes.errors import StoreError

_log = logging.getLogger("motes.store")

T = TypeVar("T")

GRACE_SECONDS: Final = 3600.0
"""So long an answer stands while the source fails."""
RETRY_SECONDS: Final = 10.0
"""So long a source that failed is left alone."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was heard, when it was asked for, and until when it may be used. Epoch seconds."""

    value: T = field(repr=False)
    asked_at: float
    good_until: float


class Remembered(Generic[T]):
    """One answer. `source` raises StoreError where it fails; `max_age` is in seconds; `now` gives epoch
    seconds: a clock that a frozen process finds corrected when it wakes.
    """

    def __init__(
        self, source: Callable[[], Awaitable[T]], max_age: float, now: Callable[[], float], what: str
    ) -> None:
        self._source = source
        self._max_age = max_age
        self._now = now
        self._what = what
        self._asking: asyncio.Task[T] | None = None
        self.known: Answer[T] | None = None
        """The last answer, however old."""

    async def get(self) -> T:
        """An answer that is not too old. Raises StoreError where there is none to be had."""
        if self.known is not None and self._is_good(self.known):
            return self.known.value
        # The question belongs to all who wait for it: one that leaves does not take it away.
        return await asyncio.shield(self._task())

    def begin(self) -> None:
        """Ask, where the answer is too old or there is none; nobody waits."""
        if self.known is None or not self._is_good(self.known):
            self._task()

    async def renew(self) -> None:
        """Ask where the answer is half as old as it may be. Never raises."""
        known = self.known
        if known is not None and not 0 <= self._now() - known.asked_at < self._max_age / 2:
            await asyncio.wait({self._task()})

    def _is_good(self, answer: Answer[T]) -> bool:
        """A clock that was set back makes an answer too old, too."""
        return answer.asked_at <= self._now() < answer.good_until

    def _task(self) -> asyncio.Task[T]:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
            self._asking.add_done_callback(_looked_at)
        return self._asking

    async def _ask(self) -> T:
        asked_at = self._now()
        try:
            value = await self._source()
        except StoreError as error:
            known = self.known
            if known is None or not 0 <= asked_at - known.asked_at < GRACE_SECONDS:
                raise
            _log.warning("not_renewed what=%s error=%r", self._what, error.message)
            self.known = replace(known, good_until=asked_at + RETRY_SECONDS)
            return known.value
        self.known = Answer(value, asked_at, asked_at + self._max_age)
        return value


def _looked_at(task: "asyncio.Task[T]") -> None:
    """A failure that nobody waited for any more is no surprise."""
    if not task.cancelled():
        task.exception()
