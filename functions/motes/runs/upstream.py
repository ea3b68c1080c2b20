"""A run that lives on at its vendor: how it is read again, stopped and removed there.

Must never take a vendor's word for more than it is: a status of 200 to 299, or 404, means that a run is gone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import httpx

from motes.dispatch import Dispatch, Errand
from motes.executor.fetch import MAX_JSON, FetchFailed, fetch
from motes.store.runs import StoredRun

Gone = Literal["deleted", "missing"]
_NOT_THERE = frozenset({404, 410})


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The ways to one run. `replay` is None where a vendor cannot stream a run again, `cancel` and `delete`
    where it has no such thing.
    """

    replay: Dispatch | None
    snapshot: Dispatch
    cancel: Errand | None
    delete: Errand | None


Finder: TypeAlias = Callable[[StoredRun], Awaitable[Upstream]]
"""The ways to a run that has a handle. Raises a MotesError where there are none (a key is missing)."""


async def cancel(http: httpx.AsyncClient, upstream: Upstream, seconds: float) -> bool:
    """Stop the run at its vendor; False where that cannot be. Raises FetchFailed."""
    if upstream.cancel is None:
        return False
    await fetch(http, upstream.cancel, limit=MAX_JSON, seconds=seconds)
    return True


async def delete(http: httpx.AsyncClient, upstream: Upstream, seconds: float) -> Gone | None:
    """Remove the run at its vendor; None where that cannot be. Raises FetchFailed where it failed."""
    if upstream.delete is None:
        return None
    try:
        await fetch(http, upstream.delete, limit=MAX_JSON, seconds=seconds)
    except FetchFailed as failure:
        if failure.status in _NOT_THERE:
            return "missing"
        raise
    return "deleted"
