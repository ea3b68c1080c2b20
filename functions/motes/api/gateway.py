"""Everything a request needs, in one value that the app is made with.

Must never hold state of a request. What it holds lives as long as the process.
"""

import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, field

import httpx

from motes import particles as p
from motes.credentials import KeyRing, key_file, vendor_key
from motes.dispatch import Dispatch
from motes.executor import pipeline
from motes.executor.connection import open_client
from motes.executor.observer import NullObserver, Observer
from motes.executor.policy import Policy
from motes.executor.run import Options
from motes.settings import Settings
from motes.vendors.catalogue import Catalogue, build_catalogue
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

# Of the heartbeat: how often the writer of a stream looks at the clock.
_TICKS = 10


def new_run_id() -> str:
    """A run's id: 96 random bits."""
    return secrets.token_hex(12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """One gateway. `environ` is where the vendors' keys lie; `now` gives epoch seconds."""

    settings: Settings
    catalogue: Catalogue
    keys: KeyRing
    http: httpx.AsyncClient
    environ: Mapping[str, str] = field(repr=False)
    observer: Observer = field(default_factory=NullObserver)
    policy: Policy = field(default_factory=Policy)
    now: Callable[[], float] = time.time
    new_id: Callable[[], str] = new_run_id

    @property
    def tick(self) -> float:
        """Seconds between two looks at the clock while nothing comes."""
        return self.settings.heartbeat_s / _TICKS

    def key_of(self, vendor: Vendor) -> str | None:
        """The vendor's key, if there is one."""
        return vendor_key(vendor.id, vendor.key_name, self.settings, self.environ)

    def usable(self) -> list[str]:
        """The vendors that could be asked: they have an address, and a key or no need of one."""
        rows = self.catalogue.vendors.values()
        return [row.id for row in rows if row.base_url and (_needs_no_key(row) or self.key_of(row))]

    def run(
        self, dispatch: Dispatch, started: float, deadline: float | None = None
    ) -> AsyncGenerator[p.Particle, None]:
        """The particles of a run. `started`, and `deadline` where the host has one, are times of the event
        loop's clock; the operator's own limit may be nearer.
        """
        settings = self.settings
        options = Options(
            heartbeat=self.tick,
            deadline=_nearer(deadline, settings.deadline_s and started + settings.deadline_s),
            warn_margin=settings.deadline_warn_s,
            stop_margin=settings.deadline_stop_s,
            policy=self.policy,
        )
        return pipeline.run(dispatch, self.http, options, self.observer)


def open_gateway(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    rows: Iterable[Vendor] = (),
    observer: Observer | None = None,
    policy: Policy | None = None,
) -> Gateway:
    """The gateway of this process; `rows` are added to the built-in vendors. Its app closes it.

    Raises PrepareError for settings that cannot be.
    """
    return Gateway(
        settings=settings,
        catalogue=build_catalogue(VENDORS, ALIASES, settings).with_rows(rows),
        keys=KeyRing(key_file(settings), environ.get("MOTES_API_KEY")),
        http=open_client(),
        environ=environ,
        observer=observer or NullObserver(),
        policy=policy or Policy(),
    )


def _nearer(one: float | None, other: float | None) -> float | None:
    known = [time for time in (one, other) if time is not None]
    return min(known, default=None)


def _needs_no_key(row: Vendor) -> bool:
    return not row.key_required or row.auth.kind == "none"
