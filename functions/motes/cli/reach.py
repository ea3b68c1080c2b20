"""What can be asked from this machine without a gateway: every vendor of the settings, and the demo's own.

Must never start the demo vendor for who does not ask it, and let nothing of it live on.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from motes import dispatch
from motes.chat import ChatRequest
from motes.cli.absent import absence, whole_catalogue
from motes.credentials import vendor_key
from motes.dataclass import dataclass
from motes.demo.rows import BASES, demo_rows
from motes.errors import MotesError, PrepareError
from motes.model_rules import of_model
from motes.quirks import Quirks
from motes.settings import Settings
from motes.vendors.catalogue import Catalogue, build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent, and what the vendor differs in from its dialect."""

    dispatch: dispatch.Dispatch
    quirks: Quirks


@dataclass(frozen=True, slots=True)
class Reach:
    """The vendors that can be asked, with where their keys lie."""

    catalogue: Catalogue
    settings: Settings
    environ: Mapping[str, str]

    def plan(self, request: ChatRequest, model: str | None) -> Plan:
        """What is sent to a model's vendor. Raises MotesError for what cannot even be sent."""
        route = self.catalogue.find(model or request.model)
        missing = absence(route.vendor)
        if missing is not None:
            raise PrepareError(f"vendor {route.vendor.id!r} {missing}")
        vendor = speaking(route.vendor, request.motes.dialect, route.model)
        secret = vendor_key(vendor.id, vendor.key_name, self.settings, self.environ)
        sent = dispatch.generate(request, vendor, route.model, secret=secret)
        return Plan(sent, of_model(vendor.quirks, route.model))


def within_reach(settings: Settings, environ: Mapping[str, str]) -> Reach:
    """All but the demo's vendors. Raises PrepareError."""
    return Reach(whole_catalogue(settings), settings, environ)


@asynccontextmanager
async def reaching(
    settings: Settings, environ: Mapping[str, str], models: Iterable[str | None]
) -> AsyncIterator[Reach]:
    """All vendors for as long as the block lasts; the demo's too, if one of the models is theirs."""
    async with demo_vendors(settings, models) as rows:
        known = build_catalogue(VENDORS, ALIASES, settings).with_rows(rows)
        yield Reach(known, settings, environ) if rows else within_reach(settings, environ)


@asynccontextmanager
async def demo_vendors(settings: Settings, models: Iterable[str | None]) -> AsyncIterator[tuple[Vendor, ...]]:
    """The rows of a demo vendor that serves for as long as the block lasts; none, if none of the models is
    theirs. Raises PrepareError.
    """
    known = whole_catalogue(settings)
    if not any(_is_demo(model, known) for model in models):
        yield ()
        return
    try:
        from motes.demo.server import DemoServer
    except ImportError:
        raise PrepareError("the demo vendor needs more of motes: pip install 'motes[gateway]'") from None

    async with DemoServer() as demo:
        yield tuple(demo_rows(demo.base_urls).values())


def _is_demo(model: str | None, known: Catalogue) -> bool:
    try:
        return known.find(model).vendor.id in BASES
    except MotesError:
        # Told when it is asked.
        return False
