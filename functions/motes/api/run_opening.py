"""The runs of a process: which store they lie in, and how a run is found again at its vendor.

Must never ask another host than the one of the vendor's row, as it stands now.
"""

import logging
import secrets
import time
from typing import TYPE_CHECKING, Any

import httpx

from motes import particles as p
from motes.api.auth import VENDOR_KEY
from motes.api.logline import logline
from motes.credentials import VendorKeys
from motes.errors import PrepareError
from motes.runs.books import Books
from motes.runs.record import Desk
from motes.runs.service import Runs
from motes.settings import Settings
from motes.store.runs import RunStore, StoredRun
from motes.vendors.catalogue import Catalogue, speaking

if TYPE_CHECKING:
    from motes.runs.vendors_copy import Finder, VendorsCopy

_log = logging.getLogger("motes.runs")


def open_runs(
    settings: Settings, store: RunStore, find: "Finder", http: httpx.AsyncClient, tick: float, books: Books
) -> Runs:
    """The runs of this process. Nothing is touched before something is wanted."""
    desk = Desk(
        store=store,
        worker=secrets.token_hex(8),
        now=time.time,
        told=_told,
        trouble=_troubled,
        lease_s=settings.lease_s,
        run_keep_s=settings.run_keep_s,
        journal_keep_s=settings.journal_keep_s,
        page_s=settings.journal_page_s,
        page_bytes=settings.journal_page_bytes,
    )
    return Runs(desk, find, http, tick=tick, books=books)


class Finding:
    """Finds a run at its vendor."""

    def __init__(self, settings: Settings, catalogue: Catalogue, keys: VendorKeys) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._keys = keys

    async def __call__(self, run: StoredRun, handle: p.UpstreamHandle, secret: str | None) -> "VendorsCopy":
        """Its copy there. Raises PrepareError or StoreError."""
        from motes.runs.vendors_copy import VendorsCopy

        row = self._catalogue.vendor(run.vendor)
        if row is None:
            raise PrepareError(f"vendor {run.vendor!r}, which has run {run.id}, is not set up any more")
        vendor = speaking(row, run.dialect, run.model)
        if secret is None and run.has_own_key:
            raise PrepareError(
                f"run {run.id} was made with a key of its caller's, which is not kept: send it in"
                f" {VENDOR_KEY}",
                code="missing_vendor_key",
            )
        if secret is None and vendor.auth.kind != "none":
            secret = await self._keys.get(vendor.id, vendor.key_name)
        return VendorsCopy(
            vendor=vendor,
            model=run.model,
            handle=handle,
            secret=secret,
            max_event_bytes=self._settings.max_event_bytes,
        )


def _told(event: str, **fields: Any) -> None:
    _log.info(logline(event, **fields))


def _troubled(event: str, **fields: Any) -> None:
    _log.warning(logline(event, **fields))
