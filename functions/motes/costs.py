"""What tokens cost: a price a million of each kind, and the gateway's margin on it.

Pure. Where the prices come from is `prices`' business. Must never change a count, and never take a count that
is not known for zero: what cannot be priced has no cost.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeAlias

from motes import particles as p
from motes.dataclass import dataclass

MILLION: Final = Decimal(1_000_000)
_CENTS: Final = Decimal(100)
_AS_BILLED: Final = Decimal(1)

Pricing: TypeAlias = Callable[[p.Metrics], p.Cost | None]
"""What the counts of one request cost, or None where nobody knows (yet)."""

Price: TypeAlias = Callable[[p.Metrics], Decimal | None]
"""The vendor's price of the counts of one request, in US dollars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """US dollars a million tokens. A kind without a rate of its own costs what other input does; what is
    written to a cache for an hour, what is written at all.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None

    def __call__(self, metrics: p.Metrics) -> Decimal | None:
        """See `Price`."""
        if not is_countable(metrics):
            return None
        written, lasting = metrics.tokens_cache_write or 0, metrics.tokens_cache_write_1h or 0
        read = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        write_1h = write if self.cache_write_1h is None else self.cache_write_1h
        total = (
            self.input * max(0, metrics.tokens_in or 0)
            + read * (metrics.tokens_cache_read or 0)
            + write * max(0, written - lasting)
            + write_1h * min(written, lasting)
            + self.output * (metrics.tokens_out or 0)
        )
        return total / MILLION


def is_countable(metrics: p.Metrics) -> bool:
    """Whether input and output are known, each at least in part."""
    return prompt_of(metrics) is not None and metrics.tokens_out is not None


def prompt_of(metrics: p.Metrics) -> int | None:
    """All input: new, read from a cache, written to one. None where none of it is known."""
    new, read, written = metrics.tokens_in, metrics.tokens_cache_read, metrics.tokens_cache_write
    if read is None and written is None:
        return new
    return (new or 0) + (read or 0) + (written or 0)


def cost_of(metrics: p.Metrics, price: Price | None, margin: Decimal) -> p.Cost | None:
    """The cost of one request: what its vendor says that it bills, else by the price; times the margin."""
    if metrics.cost_cents is not None:
        amount: Decimal | None = Decimal(repr(metrics.cost_cents)) / _CENTS
    else:
        amount = price(metrics) if price is not None else None
    return None if amount is None else p.Cost(float(amount * margin), float(margin))


def unpriced(metrics: p.Metrics) -> p.Cost | None:
    """The `Pricing` of who has no prices: what the vendor says that it bills."""
    return None if metrics.cost_cents is None else cost_of(metrics, None, _AS_BILLED)
