"""What every vendor that can be asked lists, as it was last heard; and what the gateway lists of it.

Vendors are asked side by side, each for a few seconds at most, and again only when their answer is too old.
Must never be on the way of a chat, ask a vendor nobody set up, or let one that fails hold up the others.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from motes.api.gateway import Gateway
from motes.api.logline import logline
from motes.dataclass import dataclass
from motes.dispatch import errand
from motes.errors import MotesError, StoreError
from motes.executor.fetch import MAX_JSON, FetchFailed, fetch
from motes.remembered import RETRY_SECONDS, Remembered
from motes.vendors.model_lists import MAX_MODELS, ListedModel, list_of, read
from motes.vendors.vendor import ModelList, Vendor

_log = logging.getLogger("motes.api")

_SECONDS: Final = 5.0
_MAX_PAGES: Final = 20
# It is no failure of a vendor that it has no such list.
_NO_LIST: Final = (404, 405, 501)

Heard = tuple[ListedModel, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name by which a model can be asked for, and whose it is."""

    name: str
    owner: str
    model: ListedModel


class ModelLists:
    """The lists of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._lists: dict[str, _List] = {}

    async def entries(self) -> tuple[list[Entry], list[str]]:
        """Every alias and every listed model, and the vendors that did not answer. Raises StoreError."""
        gateway = self._gateway
        usable = await gateway.usable()
        rows = [gateway.catalogue.vendors[id] for id in usable]
        heard = await asyncio.gather(*[self._of(row) for row in rows])
        listed = [
            Entry(f"{row.id}/{model.id}", row.id, model)
            for row, models in zip(rows, heard, strict=True)
            for model in models or ()
        ]
        known = {(entry.owner, entry.model.id): entry.model for entry in listed}
        aliased = [
            Entry(alias, owner, known.get((owner, model), ListedModel(id=model)))
            for alias, owner, model in gateway.catalogue.aliased(usable)
        ]
        missing = [row.id for row, models in zip(rows, heard, strict=True) if models is None]
        return aliased + listed, missing

    async def entry(self, name: str) -> Entry:
        """One model, listed or not: a vendor serves whatever name it knows. Raises UnknownModel."""
        route = self._gateway.catalogue.resolve(name)
        models = await self._of(route.vendor) or ()
        found = (model for model in models if model.id == route.model)
        return Entry(name, route.vendor.id, next(found, ListedModel(id=route.model)))

    async def _of(self, row: Vendor) -> Heard | None:
        """What the vendor lists, or None where it fails. What the row lists where there is nothing to ask."""
        known = tuple(ListedModel(id=model) for model in row.models)
        place = list_of(row)
        if place is None or not await self._gateway.is_set_up(row):
            return known
        if row.id not in self._lists:
            self._lists[row.id] = self._new(row, place)
        listed = await self._lists[row.id].get()
        return known if listed == () else listed

    def _new(self, row: Vendor, place: ModelList) -> "_List":
        gateway = self._gateway
        return _List(
            partial(_ask, gateway, row, place), gateway.settings.models_max_age_s, gateway.now, row.id
        )


class _List:
    """One vendor's list. One that failed is left alone for a while."""

    def __init__(
        self, ask: Callable[[], Awaitable[Heard]], max_age: float, now: Callable[[], float], vendor: str
    ) -> None:
        self._now = now
        self._failed_at: float | None = None
        self._heard = Remembered(ask, max_age, now, f"models of {vendor}")

    async def get(self) -> Heard | None:
        """The models, or None. Never raises."""
        if self._failed_at is not None and 0 <= self._now() - self._failed_at < RETRY_SECONDS:
            return None
        try:
            models = await self._heard.get()
        except StoreError:
            self._failed_at = self._now()
            return None
        self._failed_at = None
        return models


async def _ask(gateway: Gateway, row: Vendor, place: ModelList) -> Heard:
    """The vendor's whole list. Raises StoreError, whose words are for the log."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await _pages(gateway, row, place)
    except FetchFailed as failure:
        if failure.status in _NO_LIST:
            return ()
        reason = failure.reason
    except TimeoutError:
        reason = "no answer in time"
    except (ValueError, MotesError) as failure:
        reason = str(failure)
    _log.warning(logline("models_not_listed", vendor=row.id, reason=reason))
    raise StoreError(f"the models of {row.id}: {reason}")


async def _pages(gateway: Gateway, row: Vendor, place: ModelList) -> Heard:
    secret = await gateway.key_of(row)
    found: dict[str, ListedModel] = {}
    path, seen = place.path, {place.path}
    for _ in range(_MAX_PAGES):
        asked = errand(row, secret, path, in_place_of=place.in_place_of, headers=place.headers)
        answer = await fetch(gateway.http, asked, limit=MAX_JSON, seconds=_SECONDS)
        page = read(place.shape, answer.json())
        found |= {model.id: model for model in page.models}
        if page.next_query is None or len(found) >= MAX_MODELS:
            break
        path = f"{place.path}{'&' if '?' in place.path else '?'}{page.next_query}"
        if path in seen:
            break
        seen.add(path)
    return tuple(found.values())[:MAX_MODELS]
