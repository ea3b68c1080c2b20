"""Rounds of cleaning up as a process runs them: on Lambda by a schedule, on this machine by `motes cleanup`
and beside `motes serve`.

Must never open what no run needs: where nothing is due, no client is made and no key is looked up.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

from motes.api.logline import logline
from motes.aws import AWS
from motes.cleaning import Means, Round, Summary, unpark
from motes.credentials import VendorKeys, open_vendor_keys
from motes.dispatch import missing_key
from motes.errors import PrepareError, StoreError
from motes.executor.connection import open_client
from motes.settings import Settings
from motes.store.opening import open_stores
from motes.store.runs import RunStore, StoredRun
from motes.vendors.catalogue import build_catalogue
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

_log = logging.getLogger("motes.cleanup")

_ORDINARY: Final = frozenset({"run_abandoned", "run_postponed"})


class _Client:
    """The HTTP client of a round, made when a vendor is first asked."""

    def __init__(self) -> None:
        self._made: httpx.AsyncClient | None = None

    def __call__(self) -> httpx.AsyncClient:
        self._made = self._made or open_client()
        return self._made

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()


class Upkeep:
    """Cleaning up with the settings of a process; the clients of Amazon are kept from round to round."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], now: Callable[[], float] = time.time
    ) -> None:
        aws = AWS()
        self._settings = settings
        self._now = now
        self._keys = open_vendor_keys(settings, environ, aws)
        self.runs: RunStore = open_stores(settings, aws).runs

    async def round(self, is_time_left: Callable[[], bool]) -> Summary:
        """Settle what is due, and write one line about it, also before an error. Raises StoreError where the
        store fails, and PrepareError for settings that cannot be.
        """
        return await self._round(is_time_left, logging.INFO)

    @asynccontextmanager
    async def beside(self, every: float) -> AsyncIterator[None]:
        """While the block lasts, a round after so many seconds, and again. One that fails is told."""
        rounds = asyncio.create_task(self._rounds(every))
        try:
            yield
        finally:
            rounds.cancel()
            await asyncio.gather(rounds, return_exceptions=True)

    async def _rounds(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            try:
                await self._round(lambda: True, logging.DEBUG)
            except (StoreError, PrepareError) as error:
                _told("cleanup_failed", reason=error.message)

    async def _round(self, is_time_left: Callable[[], bool], idle: int) -> Summary:
        """`idle` is the level of a line that says that nothing happened."""
        async with self._means() as means:
            work = Round(means)
            try:
                return await work.work(is_time_left)
            finally:
                level = logging.INFO if work.summary.outcomes.total() else idle
                _log.log(level, logline("cleanup", **work.summary.counts()))

    async def due(self, limit: int) -> list[StoredRun]:
        """What a round would look at."""
        return list(await self.runs.due(self._now(), limit))

    async def unpark(self) -> int:
        """Have the next round try again what was given up on; gives how many runs that are."""
        async with self._means() as means:
            return await unpark(means)

    @asynccontextmanager
    async def _means(self) -> AsyncIterator[Means]:
        client = _Client()
        means = Means(
            runs=self.runs,
            catalogue=build_catalogue(VENDORS, ALIASES, self._settings),
            key_of=_KeyOf(self._keys),
            http=client,
            now=self._now,
            told=_told,
            worker=f"cleanup-{secrets.token_hex(6)}",
            run_keep_s=self._settings.run_keep_s,
            journal_keep_s=self._settings.journal_keep_s,
        )
        try:
            yield means
        finally:
            await client.aclose()


class _KeyOf:
    """The key of a vendor, if it needs one."""

    def __init__(self, keys: VendorKeys) -> None:
        self._keys = keys

    async def __call__(self, vendor: Vendor) -> str | None:
        if vendor.auth.kind == "none":
            return None
        secret = await self._keys.get(vendor.id, vendor.key_name)
        if secret is None and vendor.key_required:
            raise PrepareError(missing_key(vendor), code="missing_vendor_key")
        return secret


def _told(event: str, **fields: Any) -> None:
    _log.log(logging.INFO if event in _ORDINARY else logging.WARNING, logline(event, **fields))
