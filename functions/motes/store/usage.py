"""What a run used and what it cost, as a row; and what a store of such rows must be able to do.

Must never hold a word of a question or an answer: the caller's own label (`context`) is all there is of him
beside his key's id.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final, Literal, Protocol

from motes.dataclass import dataclass
from motes.metrics import UsageSource

FinishClass = Literal["stop", "length", "tool_calls", "content_filter", "cut", "failed", "cancelled"]
"""OpenAI's words for a good end; `cut`: the answer had begun; `failed`: it had not; `cancelled`: by the
caller, or because he left.
"""

DAY: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """One run. `at` is when it began, in epoch seconds. Of all input `tokens_cached` were read from a cache
    and `tokens_written` written to one, of all output `tokens_reasoning` were reasoning. None is unknown.

    `cost` is what its caller pays, margin and all; None where nobody knows the price, or where the caller
    pays the vendor himself.
    """

    run: str
    at: float
    key: str
    vendor: str
    model: str
    finish: FinishClass
    source: UsageSource
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_written: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost: float | None = None
    currency: str = "USD"
    margin: float = 1.0
    context: str | None = None


class UsageStore(Protocol):
    """The rows. Each method raises StoreError where the store fails."""

    async def add(self, rows: Sequence[UsageRow]) -> None:
        """Keep rows; one whose run is there already, at that time, takes its place."""
        ...

    def between(self, since: float, until: float) -> AsyncIterator[Sequence[UsageRow]]:
        """The rows of a time, `until` not among it, oldest first, in pieces that fit into memory."""
        ...
