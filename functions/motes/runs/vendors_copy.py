"""The vendor's copy of a run: stopped and removed there.

Must never take a vendor's word for more than it is: a status of 200 to 299, or 404, means that a run is gone.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeAlias

import httpx

from motes.dataclass import dataclass
from motes.dispatch import Dispatch, Errand
from motes.executor.fetch import MAX_JSON, FetchFailed, fetch
from motes.particles import UpstreamHandle
from motes.store.runs import StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """The ways to one run. `replay` is None where its stream cannot be had again, `cancel` and `delete` where
    the vendor has no such thing.
    """

    replay: Dispatch | None
    snapshot: Dispatch
    cancel: Errand | None
    delete: Errand | None


Gone = Literal["deleted", "missing"]

Finder: TypeAlias = Callable[[StoredRun, UpstreamHandle, str | None], Awaitable[Ways]]
"""The ways to a run by one of its handles, with the key its caller brought, if any. Raises a MotesError where
there are none (a key is missing).
"""

_NOT_THERE: Final = frozenset({404, 410})


async def cancel(http: httpx.AsyncClient, ways: Ways, seconds: float) -> bool:
    """Stop the run at its vendor; False where that cannot be. Raises FetchFailed."""
    if ways.cancel is None:
        return False
    await fetch(http, ways.cancel, limit=MAX_JSON, seconds=seconds)
    return True


async def delete(http: httpx.AsyncClient, ways: Ways, seconds: float) -> Gone | None:
    """Remove the run at its vendor; None where that cannot be. Raises FetchFailed where it failed."""
    if ways.delete is None:
        return None
    try:
        await fetch(http, ways.delete, limit=MAX_JSON, seconds=seconds)
    except FetchFailed as failure:
        if failure.status in _NOT_THERE:
            return "missing"
        raise
    return "deleted"
