"""Where the name of a model leads, found out once and then remembered: vendor, model, and the plan of its
requests with each of the operator's keys.

The catalogue and the rows do not change while a gateway lives, so nothing here grows old. Must never remember
without bounds what callers name, nor a key that a caller brought.
"""

from typing import Final, TypeVar

from motes.dispatch import Plan, takes_addresses
from motes.request_ids import are_wanted
from motes.vendors.catalogue import Catalogue, speaking
from motes.vendors.vendor import Vendor

_NAMES: Final = 256
_LONGEST_NAME: Final = 256
_KEYS: Final = 64

K = TypeVar("K")
V = TypeVar("V")


class Destination:
    """A vendor, its wanted dialect first, and what it calls the model."""

    def __init__(self, vendor: Vendor, model: str, *, remembers: bool = True) -> None:
        self.vendor = vendor
        self.model = model
        self.label = f"{vendor.id}/{model}"
        self.takes_addresses = takes_addresses(vendor, model)
        self.wants_ids = are_wanted(vendor.headers)
        self._plans: dict[str | None, Plan] | None = {} if remembers else None

    def plan(self, secret: str | None) -> Plan:
        """The plan of requests with this key. Raises PrepareError as it does."""
        known = self._plans
        if known is None:
            return Plan(self.vendor, self.model, secret)
        plan = known.get(secret)
        if plan is None:
            plan = Plan(self.vendor, self.model, secret, is_kept=True)
            _kept(known, secret, plan, _KEYS)
        return plan

    def passing(self, vendor: Vendor | None = None) -> "Destination":
        """The same for one request, perhaps in another form of its vendor: nothing of it is remembered."""
        return Destination(vendor or self.vendor, self.model, remembers=False)


class Destinations:
    """Of every name that was asked for, as long as there are not too many."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[tuple[str | None, str | None], Destination] = {}

    def find(self, name: str | None, dialect: str | None) -> Destination:
        """Where a name leads. Raises what `Catalogue.resolve` and `speaking` do."""
        found = self._known.get((name, dialect))
        if found is not None:
            return found
        route = self._catalogue.resolve(name)
        found = Destination(speaking(route.vendor, dialect, route.model), route.model)
        if len(name or "") > _LONGEST_NAME:
            return found
        return _kept(self._known, (name, dialect), found, _NAMES)


def _kept(known: dict[K, V], key: K, value: V, most: int) -> V:
    """Remember a value; of too many, what was remembered first is forgotten."""
    if len(known) >= most:
        del known[next(iter(known))]
    known[key] = value
    return value
