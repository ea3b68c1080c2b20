"""The ways to a run that lives on at its vendor, as values: read its stream again, its state, stop it, delete it.

Pure, like the dispatch of a new run, and read by the same parser. Must never start a run.
"""

from dataclasses import dataclass, replace

from motes.chat import ChatRequest
from motes.demux.base import MAX_EVENT_BYTES
from motes.dialects.base import StoredRuns
from motes.dialects.registry import resolve
from motes.dispatch import Dispatch, Errand, errand
from motes.errors import InvalidRequest, PrepareError
from motes.model_rules import of_model
from motes.secrecy import parts_of
from motes.vendors.vendor import Surface, Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """The ways to one run. `replay` is None where its stream cannot be had again, `cancel` and `delete` where
    the vendor has no such thing.
    """

    replay: Dispatch | None
    snapshot: Dispatch
    cancel: Errand | None
    delete: Errand | None


def stored_runs_of(surface: Surface) -> StoredRuns | None:
    """How runs live on at this surface of a vendor, if they do."""
    return resolve(surface.dialect).stored_runs if surface.stored_runs else None


def ways_to(
    vendor: Vendor, model: str, id: str, secret: str | None, *, max_event_bytes: int = MAX_EVENT_BYTES
) -> Ways:
    """The ways to the vendor's run of that id; the vendor's first surface is the one that made it. Raises
    PrepareError where there are none.
    """
    runs = stored_runs_of(vendor.surfaces[0])
    if runs is None:
        raise PrepareError(f"vendor {vendor.id!r} has no runs that live on there", code="unsupported")
    dialect, quirks = resolve(vendor.surfaces[0].dialect), of_model(vendor.quirks, model)

    def asked(path: str, accept: str) -> Dispatch:
        asking = errand(vendor, secret, path, headers={**dialect.headers, "accept": accept})
        return Dispatch(
            vendor=vendor.id,
            model=model,
            dialect=dialect.name,
            request=asking.request,
            demuxer=lambda: dialect.demuxer(max_event_bytes),
            parser=lambda: dialect.parser(quirks),
            sign=asking.sign,
            timeouts=vendor.timeouts,
            error_kinds=quirks.error_kinds,
            secrets=parts_of(secret),
        )

    def sent(method: str, path: str) -> Errand:
        body = b"{}" if method == "POST" else b""
        kind = {"content-type": "application/json"} if body else {}
        asking = errand(vendor, secret, path, headers={**dialect.headers, **kind})
        return replace(asking, request=replace(asking.request, method=method, body=body))

    return Ways(
        replay=None if runs.replay is None else asked(runs.replay(id, None), "text/event-stream"),
        snapshot=asked(runs.snapshot(id), "application/json"),
        cancel=None if runs.cancel is None else sent("POST", runs.cancel(id)),
        delete=None if runs.delete is None else sent("DELETE", runs.delete(id)),
    )


def in_background(request: ChatRequest, vendor: Vendor) -> tuple[ChatRequest, Vendor]:
    """The request for a run that lives on at its vendor, and the vendor with the surface that has such runs
    first. Raises InvalidRequest where it has none.
    """
    fits = [surface for surface in vendor.surfaces if stored_runs_of(surface) is not None]
    if not fits:
        raise InvalidRequest(
            f"motes.background: vendor {vendor.id!r} has no runs in the background; leave it out,"
            " or ask for `motes.resumable`, which needs nothing of the vendor",
            param="motes.background",
            code="unsupported",
        )
    runs = stored_runs_of(fits[0])
    assert runs is not None  # noqa: S101 (it is one that fits)
    return request.model_copy(update=dict(runs.create)), _speaking(vendor, fits[0])


def _speaking(vendor: Vendor, first: Surface) -> Vendor:
    rest = tuple(surface for surface in vendor.surfaces if surface is not first)
    return replace(
        vendor,
        surfaces=(first, *rest),
        quirks=first.quirks or vendor.quirks,
        timeouts=first.timeouts or vendor.timeouts,
    )
