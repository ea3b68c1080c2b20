"""A run that is to live on at its vendor, and goes on there without us.

Pure. Must never lay over a request what the vendor's surface has no runs for.
"""

from dataclasses import replace

from motes.chat import ChatRequest
from motes.errors import InvalidRequest
from motes.reattachment import stored_runs
from motes.vendors.vendor import Surface, Vendor


def in_background(request: ChatRequest, vendor: Vendor) -> tuple[ChatRequest, Vendor]:
    """The request for a run that lives on at its vendor, and the vendor with the surface that has such runs
    first. Raises InvalidRequest where it has none.
    """
    fits = [row for surface in vendor.surfaces if stored_runs(row := _speaking(vendor, surface)) is not None]
    if not fits:
        raise InvalidRequest(
            f"motes.background: vendor {vendor.id!r} has no runs in the background; leave it out,"
            " or ask for `motes.resumable`, which needs nothing of the vendor",
            param="motes.background",
            code="unsupported",
        )
    runs = stored_runs(fits[0])
    assert runs is not None  # noqa: S101 (it is one that fits)
    return request.model_copy(update=dict(runs.create)), fits[0]


def _speaking(vendor: Vendor, first: Surface) -> Vendor:
    rest = tuple(surface for surface in vendor.surfaces if surface is not first)
    return replace(
        vendor,
        surfaces=(first, *rest),
        quirks=first.quirks or vendor.quirks,
        timeouts=first.timeouts or vendor.timeouts,
    )
