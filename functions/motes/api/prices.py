"""What each model costs: the operator's own prices, else those of genai-prices.

That list takes more processor time to load than ten runs, so it is loaded in a thread, while a run goes
on that has begun to answer, and asked once for a model. Must never hold a stream up:
a run whose price is not known in time has none in its last chunk, and gets it in its usage row.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from motes import particles as p
from motes.api.logline import logline
from motes.costs import Price, Pricing, Rates, cost_of, is_countable, prompt_of
from motes.settings import Settings
from motes.vendors.vendor import Vendor

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from genai_prices.types import ModelInfo, Provider, Usage

_log = logging.getLogger("motes.api")

_MOST: Final = 1000
"""Models are remembered so many: their names are the callers' words."""
LookUp: TypeAlias = Callable[[Vendor | None, str], Price | None]

_FAULTS: Final = (LookupError, ValueError, TypeError, ArithmeticError)


class PriceBook:
    """The prices of one process. `vendors` are the rows of its catalogue; `look_up`, which runs in a thread,
    finds the price of one of them's model.
    """

    def __init__(
        self, settings: Settings, vendors: Mapping[str, Vendor], look_up: LookUp | None = None
    ) -> None:
        self.margin = settings.margin
        self._vendors = vendors
        self._look_up = look_up or listed
        self._own = {label: Rates(**rates.model_dump()) for label, rates in settings.prices.items()}
        self._has_list = settings.price_list == "genai-prices"
        self._found: dict[str, Future[Price | None]] = {}
        self._known: dict[str, Price | None] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._guard = threading.Lock()
        self._sought = 0

    def begin(self, label: str) -> None:
        """Look a model (vendor/model) up, beside whatever goes on."""
        if self._has_list and label not in self._own and label not in self._found:
            if len(self._found) >= _MOST:
                self._found.clear()
                self._known.clear()
            vendor, _, model = label.partition("/")
            self._found[label] = self._seek(self._vendors.get(vendor), model)

    def _seek(self, vendor: Vendor | None, model: str) -> "Future[Price | None]":
        from concurrent.futures import ThreadPoolExecutor

        with self._guard:
            self._threads = self._threads or ThreadPoolExecutor(1, "motes-prices")
            self._sought += 1
            found = self._threads.submit(self._look_up, vendor, model)
        found.add_done_callback(self._on_found)
        return found

    def _on_found(self, _: "Future[Price | None]") -> None:
        """A thread that nobody needs any more ends, and its memory is the next one's."""
        with self._guard:
            self._sought -= 1
            if not self._sought and self._threads is not None:
                self._threads.shutdown(wait=False)
                self._threads = None

    def pricing(self, label: str) -> Pricing:
        """How a run of that model is priced, with what is known when it is asked."""

        return partial(self.cost, label)

    def cost(self, label: str, metrics: p.Metrics) -> p.Cost | None:
        """What a run of that model costs, with what is known now."""
        return cost_of(metrics, self._price(label), self.margin)

    async def settled(self, label: str) -> None:
        """Wait until it is known what a model costs, or that nobody knows."""
        self.begin(label)
        if label in self._found:
            await asyncio.wait([asyncio.wrap_future(self._found[label])])

    def is_settled(self, label: str) -> bool:
        """Whether waiting would change nothing."""
        found = self._found.get(label)
        return label in self._own or not self._has_list or (found is not None and found.done())

    def _price(self, label: str) -> Price | None:
        if label in self._known:
            return self._known[label]
        own, found = self._own.get(label), self._found.get(label)
        if own is not None or found is None or not found.done():
            return own
        self._known[label] = found.result()
        return self._known[label]


class ListedPrice:
    """A `Price` of the list. It knows tiers, and prices that hold from a day or at an hour."""

    def __init__(self, model: "ModelInfo", provider: "Provider") -> None:
        self._model = model
        self._provider = provider

    def __call__(self, metrics: p.Metrics) -> Decimal | None:
        """See `Price`."""
        if not is_countable(metrics):
            return None
        # Where the parts of the input cannot be told from each other, it is all taken for text.
        for is_detailed in (True, False):
            with suppress(*_FAULTS):
                usage = _usage(metrics, is_detailed)
                now = datetime.now(UTC)
                return self._model.calc_price(usage, self._provider, genai_request_timestamp=now).total_price
        return None


def listed(row: Vendor | None, model: str) -> Price | None:
    """By the provider's name or its address, and never by the model's name alone: who runs an open model on
    his own machine pays nobody for it.
    """
    from motes.api.price_list import excerpt

    sold = excerpt(row.priced_as or row.id, row.base_url or "-") if row is not None else None
    if row is None or sold is None:
        return None
    try:
        if (found := sold.model(model)) is None:
            raise LookupError(model)
        price = ListedPrice(found, sold.provider)
        # What is made at the first calculation is made here.
        price(p.Metrics(tokens_in=1, tokens_out=1))
        return price
    except _FAULTS:
        _log.debug(logline("no_price", vendor=row.id, model=model))
        return None


def _usage(metrics: p.Metrics, is_detailed: bool) -> "Usage":
    from genai_prices.types import Usage

    media = {
        "input_audio_tokens": metrics.tokens_in_audio,
        "input_image_tokens": metrics.tokens_in_image,
        "output_audio_tokens": metrics.tokens_out_audio,
        "output_image_tokens": metrics.tokens_out_image,
    }
    return Usage(
        input_tokens=max(0, prompt_of(metrics) or 0),
        cache_read_tokens=metrics.tokens_cache_read,
        cache_write_tokens=metrics.tokens_cache_write,
        cache_write_1h_tokens=metrics.tokens_cache_write_1h,
        output_tokens=metrics.tokens_out,
        **(media if is_detailed else {}),
    )
