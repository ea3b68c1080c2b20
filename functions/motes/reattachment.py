"""A run that lives on at its vendor: how it is heard again, looked at, stopped and removed there, as values.

Pure, like `dispatch`. The vendor is given with the run's own dialect first (`catalogue.speaking`). Must never
reach for a run with a handle of another kind than the dialect's own.
"""

from motes.demux.base import MAX_EVENT_BYTES
from motes.dialects.base import StoredRuns
from motes.dialects.registry import resolve
from motes.dispatch import Dispatch, Errand, Method, errand
from motes.errors import PrepareError
from motes.model_rules import of_model
from motes.particles import UpstreamHandle
from motes.secrecy import parts_of
from motes.vendors.vendor import Vendor

_STREAM = {"accept": "text/event-stream"}
_WHOLE = {"accept": "application/json"}
# What no quoting keeps from meaning another place.
_NO_NAMES = ("", ".", "..")


def stored_runs(vendor: Vendor) -> StoredRuns | None:
    """How the runs of the vendor's first surface are reached again; None where none live on there."""
    surface = vendor.surfaces[0]
    return resolve(surface.dialect).stored_runs if surface.stored_runs else None


def replay(
    vendor: Vendor,
    model: str,
    handle: UpstreamHandle,
    *,
    secret: str | None,
    cursor: str | None = None,
    max_event_bytes: int = MAX_EVENT_BYTES,
) -> Dispatch | None:
    """The run's stream once more, from its start or from behind the vendor's own cursor, and then live; None
    where the vendor has no such thing. Raises PrepareError where no run of that handle can be reached.
    """
    runs = _reachable(vendor, handle)
    if runs.replay is None:
        return None
    path = runs.replay(handle.run_id, cursor)
    asked = errand(vendor, secret, path, headers=_STREAM | _headers(vendor))
    return _dispatch(vendor, model, asked, secret, max_event_bytes)


def snapshot(
    vendor: Vendor,
    model: str,
    handle: UpstreamHandle,
    *,
    secret: str | None,
    max_event_bytes: int = MAX_EVENT_BYTES,
) -> Dispatch:
    """The run as it stands, as one body. Raises PrepareError where no run of that handle can be reached."""
    path = _reachable(vendor, handle).snapshot(handle.run_id)
    asked = errand(vendor, secret, path, headers=_WHOLE | _headers(vendor))
    return _dispatch(vendor, model, asked, secret, max_event_bytes)


def cancel(vendor: Vendor, handle: UpstreamHandle, secret: str | None) -> Errand | None:
    """What stops the run; None where the vendor has no such thing. It may have ended already: then a vendor
    answers with an error, which means nothing. Raises PrepareError where no such run can be reached.
    """
    path = _reachable(vendor, handle).cancel
    return None if path is None else _asked(vendor, secret, path(handle.run_id), "POST")


def delete(vendor: Vendor, handle: UpstreamHandle, secret: str | None) -> Errand | None:
    """What removes the run; None where the vendor has no such thing. A success and a 404 both mean that it is
    gone (Google answers 200 for every id). Raises PrepareError where no run of that handle can be reached.
    """
    path = _reachable(vendor, handle).delete
    return None if path is None else _asked(vendor, secret, path(handle.run_id), "DELETE")


def _asked(vendor: Vendor, secret: str | None, path: str, method: Method) -> Errand:
    return errand(vendor, secret, path, headers=_WHOLE | _headers(vendor), method=method)


def _headers(vendor: Vendor) -> dict[str, str]:
    return dict(resolve(vendor.surfaces[0].dialect).headers)


def _reachable(vendor: Vendor, handle: UpstreamHandle) -> StoredRuns:
    runs = stored_runs(vendor)
    if runs is None or runs.handle_type != handle.type:
        raise PrepareError(
            f"vendor {vendor.id!r} keeps no run of the kind {handle.type!r} here", code="unsupported"
        )
    if handle.run_id in _NO_NAMES:
        raise PrepareError(f"vendor {vendor.id!r} gave its run a name that is a path", code="unsupported")
    return runs


def _dispatch(
    vendor: Vendor, model: str, asked: Errand, secret: str | None, max_event_bytes: int
) -> Dispatch:
    dialect = resolve(vendor.surfaces[0].dialect)
    quirks = of_model(vendor.quirks, model)
    return Dispatch(
        vendor=vendor.id,
        model=model,
        dialect=dialect.name,
        request=asked.request,
        demuxer=lambda: dialect.demuxer(max_event_bytes),
        parser=lambda: dialect.parser(quirks),
        sign=asked.sign,
        timeouts=vendor.timeouts,
        error_kinds=quirks.error_kinds,
        secrets=parts_of(secret),
    )
