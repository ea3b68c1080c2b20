"""The vendor's copy of a run, stopped and removed; and where that fails, whether another try can help.

Must never take a run for gone on less than a status of 200 to 299, or one that says that there is none.
"""

from contextlib import suppress
from typing import Final

import httpx

from motes import reattachment
from motes.dispatch import Errand
from motes.errors import MotesError, StoreError
from motes.executor.fetch import FetchFailed, body_within, opened
from motes.particles import UpstreamHandle
from motes.vendors.vendor import Vendor

SECONDS: Final = 10.0
"""How long a vendor may take for each of the two requests."""

_BODY_BYTES: Final = 1024 * 1024
_NOT_THERE: Final = frozenset({404, 410})
_PASSING: Final = frozenset({408, 409, 425, 429})


class NotRemoved(Exception):
    """The copy may still be there. `is_final`: the same request will fail again, until somebody mends it."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_final = is_final


async def remove(
    http: httpx.AsyncClient, vendor: Vendor, handle: UpstreamHandle, secret: str | None, *, is_running: bool
) -> None:
    """Have the vendor delete its copy; one that may still run is stopped first. A vendor that has no way to
    delete forgets it by itself. Raises NotRemoved.
    """
    try:
        stop = reattachment.cancel(vendor, handle, secret) if is_running else None
        delete = reattachment.delete(vendor, handle, secret)
    except MotesError as error:
        raise NotRemoved(error.message, is_final=not isinstance(error, StoreError)) from None
    if stop is not None:
        await _stopped(http, stop)
    if delete is not None:
        await _deleted(http, delete)


async def _stopped(http: httpx.AsyncClient, errand: Errand) -> None:
    """It may be over already, which a vendor answers with an error of its own; but answer it must."""
    try:
        await _asked(http, errand)
    except FetchFailed as failure:
        if failure.status is None or failure.status >= 500:
            raise _not_removed(failure) from None


async def _deleted(http: httpx.AsyncClient, errand: Errand) -> None:
    try:
        await _asked(http, errand)
    except FetchFailed as failure:
        if failure.status not in _NOT_THERE:
            raise _not_removed(failure) from None


async def _asked(http: httpx.AsyncClient, errand: Errand) -> None:
    async with opened(http, errand, SECONDS) as response:
        # Only its status is of interest; but a connection that was read to its end is used again.
        with suppress(FetchFailed):
            await body_within(response, _BODY_BYTES, SECONDS)


def _not_removed(failure: FetchFailed) -> NotRemoved:
    status = failure.status
    is_final = status is not None and status < 500 and status not in _PASSING
    return NotRemoved(f"the vendor did not delete it: {failure.reason}", is_final=is_final)
