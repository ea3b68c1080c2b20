"""How each vendor was last seen, told to the store after the last byte, at most once a minute a vendor.

An `Observer` around the host's own: it hears of runs, remembers times and kinds, and passes everything on.
Must never store a word of a vendor or a caller, and never delay a stream: what is heard is written by
`write`, which is called when the response is out.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from motes import particles as p
from motes.api.logline import logline
from motes.errors import ErrorKind, StoreError
from motes.executor.observer import Observer, SlowRequest
from motes.store.base import HealthStore
from motes.store.records import Failure, KeyRefusal, VendorHealth

_log = logging.getLogger("motes.api")

INTERVAL_SECONDS: Final = 60.0
_NEVER: Final = float("-inf")

# The vendor works; it is the request that does not.
_CALLERS_OWN: Final[frozenset[ErrorKind]] = frozenset(
    {"invalid_request", "context_length", "content_blocked"}
)
_OURS: Final = frozenset({"platform_deadline"})


class HealthObserver:
    """Hears and remembers. `now` gives epoch seconds."""

    def __init__(self, inner: Observer, store: HealthStore, now: Callable[[], float]) -> None:
        self._inner = inner
        self._store = store
        self._now = now
        self._heard: dict[str, VendorHealth] = {}
        # Of most runs there is nothing else to be heard.
        self._successes: dict[str, float] = {}
        self._written_at: dict[str, float] = {}

    def slow_request(self, report: SlowRequest) -> None:
        """See `Observer`."""
        self._inner.slow_request(report)

    def retrying(self, label: str, reset: p.RetryReset) -> None:
        """See `Observer`."""
        self._inner.retrying(label, reset)

    def failed(self, label: str, issue: p.Issue) -> None:
        """See `Observer`."""
        error = issue.error
        kind: ErrorKind = error.kind if error else "server_error"
        if kind not in _CALLERS_OWN and (error is None or error.code not in _OURS):
            status = error.http_status if error else None
            vendor = _vendor(label)
            self._hear(VendorHealth(vendor, failure=Failure(self._now(), issue.phase, kind, status)))
        self._inner.failed(label, issue)

    def warned(self, label: str, warning: p.Warn) -> None:
        """See `Observer`."""
        self._inner.warned(label, warning)

    def bug(self, label: str, error: Exception) -> None:
        """See `Observer`."""
        self._inner.bug(label, error)

    def run_ended(self, label: str, end: p.End, metrics: p.Metrics) -> None:
        """See `Observer`."""
        if end.stop is not None:
            vendor, now = _vendor(label), self._now()
            if now > self._successes.get(vendor, _NEVER):
                self._successes[vendor] = now
        self._inner.run_ended(label, end, metrics)

    def refused(self, vendor: str, refusal: KeyRefusal) -> None:
        """A vendor refused one of its keys."""
        self._hear(VendorHealth(vendor, refusals=(refusal,)))

    def is_due(self) -> bool:
        """Whether there is anything to store."""
        now = self._now()
        for heard in (self._successes, self._heard):
            for vendor in heard:
                if self._is_its_turn(vendor, now):
                    return True
        return False

    async def write(self) -> None:
        """Store what was heard of the vendors whose minute is over. Never raises."""
        await asyncio.gather(*[self._record(self._taken(vendor)) for vendor in self._due()])

    async def _record(self, health: VendorHealth) -> None:
        self._written_at[health.vendor] = self._now()
        try:
            await self._store.record(health)
        except StoreError as error:
            _log.warning(logline("health_not_recorded", vendor=health.vendor, error=error.message))
            self._hear(health)

    def _hear(self, health: VendorHealth) -> None:
        self._heard[health.vendor] = health.merged(self._heard.get(health.vendor, health))

    def _taken(self, vendor: str) -> VendorHealth:
        """All that was heard of it, which is then not heard any more."""
        succeeded = VendorHealth(vendor, success=self._successes.pop(vendor, None))
        return succeeded.merged(self._heard.pop(vendor, succeeded))

    def _due(self) -> list[str]:
        """The vendors of which something is to be stored."""
        heard, now = self._successes.keys() | self._heard.keys(), self._now()
        return [vendor for vendor in heard if self._is_its_turn(vendor, now)]

    def _is_its_turn(self, vendor: str, now: float) -> bool:
        # A clock that was set back makes it due, too.
        return not 0 <= now - self._written_at.get(vendor, _NEVER) < INTERVAL_SECONDS


def _vendor(label: str) -> str:
    return label.partition("/")[0]
