"""What each run used, kept until it is stored: after the last byte, by the chore `write`.

Must never delay a stream, nor lose a row to a store that fails or a chore that has no time left: what was not
written is written with the next one, as long as there are not too many.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Final

from motes import particles as p
from motes.api.logline import logline
from motes.api.prices import PriceBook
from motes.costs import Pricing, prompt_of
from motes.dataclass import dataclass, maker
from motes.egress.finish import finish_reason
from motes.errors import StoreError
from motes.executor.observer import NullObserver, Observer, SlowRequest
from motes.store.runs import StoredRun
from motes.store.usage import FinishClass, UsageRow, UsageStore

_log = logging.getLogger("motes.api")

_new_row: Final = maker(UsageRow)
_PRICE_SECONDS: Final = 0.5
"""So long a row waits for its price; then it is written without, and once more when the price is known."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A run that is over. What it costs is seen when it is written."""

    run: StoredRun
    end: p.End
    metrics: p.Metrics

    @property
    def label(self) -> str:
        """The model, as prices and the log name it."""
        return _label(self.run)

    @property
    def has_price(self) -> bool:
        """Whether nobody has to be asked for its price: it has one, or there is nothing to pay for."""
        metrics = self.metrics
        return metrics.cost is not None or metrics.tokens_out is None or self.run.has_own_key


class Ledger:
    """The rows of this process that are not stored yet, `most` of them at most."""

    def __init__(self, store: UsageStore, prices: PriceBook, most: int = 10_000) -> None:
        self._store = store
        self._prices = prices
        self._margin = float(prices.margin)
        self._most = most
        self._entries: dict[str, _Entry] = {}
        self._writing: asyncio.Event | None = None
        self._begun = self._ended = 0

    def pricing(self, run: StoredRun) -> Pricing:
        """How that run is priced. Who brought the vendor's key owes the gateway nothing."""
        return _free if run.has_own_key else self._prices.pricing(_label(run))

    def observer(self, inner: Observer, run: StoredRun) -> Observer:
        """An observer of one run, around the gateway's own."""
        return RunObserver(self, inner, run)

    def rejoining(self, run: StoredRun) -> Observer:
        """An observer of one run that is read again at its vendor: only its good end is news."""
        return RunObserver(self, NullObserver(), run, is_first=False)

    def note(self, run: StoredRun, end: p.End, metrics: p.Metrics) -> None:
        """A run is over."""
        if len(self._entries) >= self._most:
            lost = self._entries.pop(next(iter(self._entries)))
            _log.error(logline("usage_lost", run=lost.run.id, model=lost.label))
        self._entries[run.id] = _Entry(run, end, metrics)

    def recount(self, run: StoredRun, end: p.End, metrics: p.Metrics) -> None:
        """A run is over, and its vendor has told afterwards what it used: that takes its row's place."""
        self.note(run, end, metrics)

    def is_behind(self) -> bool:
        """Whether there is anything to store."""
        return bool(self._entries)

    async def write(self) -> None:
        """Store what there is. Never raises.

        Who comes while others write shares the next write with all who came, since runs may end faster than a
        store writes.
        """
        begun = self._begun
        while self._writing is not None:
            await self._writing.wait()
            if self._ended > begun:
                return
        if not self._entries:
            return
        self._begun += 1
        self._writing = asyncio.Event()
        try:
            await self._write(list(self._entries.values()))
            self._ended = self._begun
        finally:
            self._writing.set()
            self._writing = None

    async def _write(self, entries: list[_Entry]) -> None:
        unknown = set[str]()
        if labels := self._unsettled({entry.label for entry in entries if not entry.has_price}):
            unknown = await self._wait_for_prices(labels)
        try:
            await self._store.add([self._row(entry) for entry in entries])
        except StoreError as error:
            _log.warning(logline("usage_not_recorded", rows=len(entries), error=error.message))
            return
        for entry in entries:
            if unknown and not entry.has_price and entry.label in unknown:
                continue
            if self._entries.get(entry.run.id) is entry:
                # One that was counted again meanwhile is written the next time.
                del self._entries[entry.run.id]

    async def _wait_for_prices(self, labels: set[str]) -> set[str]:
        """Gives those that are not known in time: what comes from then on is for the next time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PRICE_SECONDS):
                await asyncio.gather(*map(self._prices.settled, labels))
        return self._unsettled(labels)

    def _unsettled(self, labels: set[str]) -> set[str]:
        return {label for label in labels if not self._prices.is_settled(label)}

    def _row(self, entry: _Entry) -> UsageRow:
        run, metrics = entry.run, entry.metrics
        cost = metrics.cost
        if cost is None and not entry.has_price:
            cost = self._prices.cost(entry.label, metrics)
        return _new_row(
            run=run.id,
            at=run.created,
            key=run.caller,
            vendor=run.vendor,
            model=run.model,
            finish=finish_class(entry.end, metrics),
            source=metrics.source,
            tokens_in=prompt_of(metrics),
            tokens_cached=metrics.tokens_cache_read,
            tokens_written=metrics.tokens_cache_write,
            tokens_out=metrics.tokens_out,
            tokens_reasoning=metrics.tokens_out_reasoning,
            cost=None if cost is None else cost.amount,
            margin=self._margin,
            context=run.context,
        )


class RunObserver:
    """An `Observer` of one run that has its end entered, and passes everything on."""

    def __init__(self, ledger: Ledger, inner: Observer, run: StoredRun, *, is_first: bool = True) -> None:
        self._ledger = ledger
        self._inner = inner
        self._run = run
        self._is_first = is_first

    def slow_request(self, report: SlowRequest) -> None:
        """See `Observer`."""
        self._inner.slow_request(report)

    def retrying(self, label: str, reset: p.RetryReset) -> None:
        """See `Observer`."""
        self._inner.retrying(label, reset)

    def failed(self, label: str, issue: p.Issue) -> None:
        """See `Observer`."""
        self._inner.failed(label, issue)

    def warned(self, label: str, warning: p.Warn) -> None:
        """See `Observer`."""
        self._inner.warned(label, warning)

    def bug(self, label: str, error: Exception) -> None:
        """See `Observer`."""
        self._inner.bug(label, error)

    def run_ended(self, label: str, end: p.End, metrics: p.Metrics) -> None:
        """See `Observer`."""
        self._inner.run_ended(label, end, metrics)
        if self._is_first or end.stop is not None:
            self._ledger.note(self._run, end, metrics)


def finish_class(end: p.End, metrics: p.Metrics) -> FinishClass:
    """How a run ended, for who pays for it."""
    word = finish_reason(end, refused=False)
    if word is not None:
        return word
    if end.reason == "done-dispatch-aborted":
        return "cancelled"
    return "failed" if metrics.tokens_out is None else "cut"


def _label(run: StoredRun) -> str:
    return f"{run.vendor}/{run.model}"


def _free(_: p.Metrics) -> p.Cost | None:
    return None
