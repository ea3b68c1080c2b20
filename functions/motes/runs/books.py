"""What the runs need of whoever keeps the books: a price, an ear, and a pen.

Must never keep anything itself.
"""

from typing import Protocol

from motes import particles as p
from motes.costs import Pricing, unpriced
from motes.executor.observer import NullObserver, Observer
from motes.store.runs import StoredRun


class Books(Protocol):
    """Keeps what each run used. No method may raise."""

    def pricing(self, run: StoredRun) -> Pricing:
        """How a run is priced."""
        ...

    def observer(self, inner: Observer, run: StoredRun) -> Observer:
        """Who hears of a run besides that one."""
        ...

    def rejoining(self, run: StoredRun) -> Observer:
        """Who hears of a run that is read again from its vendor."""
        ...

    def recount(self, run: StoredRun, end: p.End, metrics: p.Metrics) -> None:
        """What a run used that is over, as its vendor tells it afterwards."""
        ...

    async def write(self) -> None:
        """A run is over: write what there is to be written."""
        ...


class NoBooks:
    """Keeps nothing."""

    def pricing(self, _: StoredRun) -> Pricing:
        """See `Books`."""
        return unpriced

    def observer(self, inner: Observer, _: StoredRun) -> Observer:
        """See `Books`."""
        return inner

    def rejoining(self, _: StoredRun) -> Observer:
        """See `Books`."""
        return NullObserver()

    def recount(self, _: StoredRun, __: p.End, ___: p.Metrics) -> None:
        """See `Books`."""

    async def write(self) -> None:
        """See `Books`."""
