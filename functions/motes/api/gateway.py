"""Everything a request needs, in one value that the app is made with.

Must never hold state of a request. What it holds lives as long as the process.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING

import httpx

from motes.api.afterwards import Chore, when
from motes.api.destinations import Destinations
from motes.api.health import HealthObserver
from motes.api.ledger import Ledger
from motes.api.prices import PriceBook
from motes.api.rotation import Rotation
from motes.api.run_opening import Finding, open_runs
from motes.aws import AWS
from motes.callers import KeyRing, open_keys
from motes.chance import new_word
from motes.costs import Pricing, unpriced
from motes.credentials import VendorKeys, open_vendor_keys
from motes.dataclass import dataclass, maker
from motes.executor.connection import open_client
from motes.executor.observer import NullObserver, Observer
from motes.executor.policy import Policy
from motes.executor.run import CallIds, Options
from motes.runs.service import Runs
from motes.settings import Settings
from motes.store.opening import open_stores
from motes.store.runs import RunStore
from motes.vendors.catalogue import Catalogue, build_catalogue
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

if TYPE_CHECKING:
    from motes.executor.public_fetch import Rules

# Of the heartbeat: how often the writer of a stream looks at the clock.
_TICKS = 10
# A run that was cancelled sees it with its next tick.
_LONGEST_TICK = 0.5
_new_options = maker(Options)


def tick_of(settings: Settings) -> float:
    """Seconds between two looks at the clock while nothing comes."""
    return min(settings.heartbeat_s / _TICKS, _LONGEST_TICK)


def new_run_id() -> str:
    """A run's id: its millisecond and 64 random bits, so that what is kept at one time lies in one place of a
    file (as RFC 9562 has it of its version 7). No id opens anything by itself.
    """
    return f"{time.time_ns() // 1_000_000:012x}{new_word()[:16]}"


def _idle_rotation() -> Rotation:
    return Rotation(time.time, lambda _, __: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """One gateway. `chores` are done when a response is out. `keeping` has what is kept of its run written at
    once, and waits for that; it lies beyond a network where it `is_remote`. `fetching` is what of the web may
    be fetched, where it is not the default; `now` gives epoch seconds.
    """

    settings: Settings
    catalogue: Catalogue
    destinations: Destinations
    keys: KeyRing
    vendor_keys: VendorKeys
    http: httpx.AsyncClient
    runs: Runs
    ledger: Ledger
    prices: PriceBook
    observer: Observer = field(default_factory=NullObserver)
    rotation: Rotation = field(default_factory=_idle_rotation)
    chores: tuple[Chore, ...] = ()
    keeping: tuple[Chore, ...] = ()
    is_remote: bool = False
    policy: Policy = field(default_factory=Policy)
    fetching: "Rules | None" = None
    now: Callable[[], float] = time.time
    new_id: Callable[[], str] = new_run_id

    @property
    def tick(self) -> float:
        """Seconds between two looks at the clock while nothing comes."""
        return self.runs.tick

    async def key_of(self, vendor: Vendor) -> str | None:
        """The vendor's key, the first of several, if there is one and it needs one. Raises StoreError."""
        return next(iter(await self.keys_of(vendor)), None)

    async def keys_of(self, vendor: Vendor) -> tuple[str, ...]:
        """All keys of a vendor that needs one. Raises StoreError."""
        return () if vendor.auth.kind == "none" else await self.vendor_keys.all(vendor.id, vendor.key_names)

    async def usable(self) -> list[str]:
        """The vendors that could be asked: they have an address, and a key or no need of one."""
        rows = self.catalogue.vendors.values()
        return [row.id for row in rows if row.base_url and (_needs_no_key(row) or await self.key_of(row))]

    async def is_set_up(self, vendor: Vendor) -> bool:
        """Whether the operator gave it a key, or named a vendor that needs none. Raises StoreError."""
        if await self.key_of(vendor):
            return True
        return _needs_no_key(vendor) and vendor.id in self.catalogue.set_up

    @property
    def silence(self) -> float:
        """After how many seconds without a byte a stream says that it is alive. The clock is looked at once a
        tick, and no silence may come to be longer than the setting.
        """
        return self.settings.heartbeat_s - self.tick * 1.5

    def options(
        self, run_id: str, started: float, deadline: float | None = None, price: Pricing = unpriced
    ) -> Options:
        """How a run behaves. `started`, and `deadline` where the host has one, are times of the event loop's
        clock; the operator's own limit may be nearer.
        """
        settings = self.settings
        return _new_options(
            heartbeat=self.tick,
            deadline=self._limit(started, deadline),
            warn_margin=settings.deadline_warn_s,
            stop_margin=settings.deadline_stop_s,
            policy=self.policy,
            ids=partial(CallIds, run_id),
            refused=self.rotation.refused,
            price=price,
        )

    def stop_at(self, started: float, deadline: float | None) -> float | None:
        """When such a run must have ended, or None; see `Options`."""
        limit = self._limit(started, deadline)
        return None if limit is None else limit - self.settings.deadline_stop_s

    def _limit(self, started: float, deadline: float | None) -> float | None:
        seconds = self.settings.deadline_s
        return _nearer(deadline, None if seconds is None else started + seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """What a gateway stands on: the client that asks upstream, and where runs are kept."""

    http: httpx.AsyncClient
    store: RunStore


def open_gateway(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    rows: Iterable[Vendor] = (),
    observer: Observer | None = None,
    policy: Policy | None = None,
    backing: Backing | None = None,
) -> Gateway:
    """The gateway of this process; `rows` are added to the built-in vendors. Its app closes it.

    Keys and health lie in a table where the settings name one, else in files; neither is touched here. Raises
    PrepareError for settings that cannot be.
    """
    aws = AWS()
    stores = open_stores(settings, aws)
    keys = open_keys(settings, environ, stores)
    vendor_keys = open_vendor_keys(settings, environ, aws)
    backing = backing or Backing(http=open_client(), store=stores.runs)
    catalogue = build_catalogue(VENDORS, ALIASES, settings).with_rows(rows)
    health = HealthObserver(observer or NullObserver(), stores.health, time.time)
    prices = PriceBook(settings, catalogue.vendors)
    ledger = Ledger(stores.usage, prices)
    runs = open_runs(
        settings,
        backing.store,
        Finding(settings, catalogue, vendor_keys),
        backing.http,
        tick_of(settings),
        ledger,
    )
    return Gateway(
        settings=settings,
        catalogue=catalogue,
        destinations=Destinations(catalogue),
        ledger=ledger,
        prices=prices,
        keys=keys,
        vendor_keys=vendor_keys,
        http=backing.http,
        runs=runs,
        observer=health,
        rotation=Rotation(time.time, health.refused),
        chores=(
            *((keys.renew,) if stores.is_remote else ()),
            *((vendor_keys.renew,) if settings.key_path is not None else ()),
            when(health.is_due, health.write),
        ),
        keeping=(when(runs.is_settling, runs.settled), when(ledger.is_behind, ledger.write)),
        is_remote=stores.is_remote,
        policy=policy or Policy(),
    )


def _nearer(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _needs_no_key(row: Vendor) -> bool:
    return not row.key_required or row.auth.kind == "none"
