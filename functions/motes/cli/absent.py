"""Vendors that cannot be asked from here: those of the demo, and rows without an address.

For the commands that look at settings and serve nothing. Must never be used by what serves: there, the demo
vendor's rows are real.
"""

from collections.abc import Mapping
from dataclasses import replace

from motes.demo.rows import BASES, demo_rows
from motes.settings import Settings
from motes.vendors.catalogue import Catalogue, build_catalogue, no_address
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

ONLY_SERVED = "exists only under `motes serve`"


def whole_catalogue(settings: Settings) -> Catalogue:
    """Every vendor of these settings, and the demo's, which have no address. Raises PrepareError."""
    return build_catalogue(VENDORS, ALIASES, settings).with_rows(_demo().values())


def absence(row: Vendor) -> str | None:
    """Why a row cannot be asked from here, and what to do about it; None where it can."""
    if row.base_url:
        return None
    return ONLY_SERVED if row == _demo().get(row.id) else no_address(row)


def placed(row: Vendor) -> Vendor:
    """The row; one that has no address stands at a host that says so."""
    if row.base_url:
        return row
    return replace(row, base_url=f"https://{row.id}.invalid{row.base_path or BASES.get(row.id, '/v1')}")


def _demo() -> Mapping[str, Vendor]:
    return demo_rows(dict.fromkeys(BASES, ""))
