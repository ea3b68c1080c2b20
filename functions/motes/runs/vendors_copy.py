"""The vendor's copy of a run: how it is read again, stopped and removed.

Must never say that a copy is gone which may still be there.
"""

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import TypeAlias

import httpx

from motes import reattachment, removal
from motes.dataclass import dataclass
from motes.dispatch import Dispatch
from motes.executor.fetch import MAX_JSON, fetch
from motes.particles import UpstreamHandle
from motes.store.runs import StoredRun
from motes.vendors.vendor import Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How a run is read again; `replay` is its stream, None where the vendor has no such thing."""

    replay: Dispatch | None
    snapshot: Dispatch


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorsCopy:
    """One copy; the vendor is given with the surface that made it first."""

    vendor: Vendor
    model: str
    handle: UpstreamHandle
    secret: str | None = field(repr=False)
    max_event_bytes: int

    def ways(self) -> Ways:
        """How it is read again. Raises PrepareError."""
        limit = self.max_event_bytes
        asked = (self.vendor, self.model, self.handle)
        return Ways(
            replay=reattachment.replay(*asked, secret=self.secret, max_event_bytes=limit),
            snapshot=reattachment.snapshot(*asked, secret=self.secret, max_event_bytes=limit),
        )

    async def stop(self, http: httpx.AsyncClient) -> bool:
        """Have it stopped; False where the vendor has no such thing. Raises FetchFailed or PrepareError."""
        errand = reattachment.cancel(self.vendor, self.handle, self.secret)
        if errand is None:
            return False
        await fetch(http, errand, limit=MAX_JSON, seconds=removal.SECONDS)
        return True

    async def remove(self, http: httpx.AsyncClient, *, is_running: bool) -> None:
        """Have it removed, stopped first where it may run. Raises removal.NotRemoved."""
        await removal.remove(http, self.vendor, self.handle, self.secret, is_running=is_running)


Finder: TypeAlias = Callable[[StoredRun, UpstreamHandle, str | None], Awaitable[VendorsCopy]]
"""The copy of a run by one of its handles, with the key its caller brought, if any. Raises a MotesError where
it cannot be reached (a key is missing).
"""
