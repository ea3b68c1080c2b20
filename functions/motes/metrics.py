"""The particle of numbers: what a run used, how long it took, what it costs.

Values only. Must never turn a count that is not known into zero.
"""

from typing import Literal

from motes.dataclass import dataclass
from motes.wire_key import wire_key as _key

UsageSource = Literal["measured", "partial", "estimated", "none"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run costs its caller: the price of its tokens times the margin. `amount` is in `currency`."""

    amount: float
    margin: float = 1.0
    currency: str = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """A snapshot of what the run has used so far: tokens, milliseconds, US cents. None is unknown.

    Input tokens are split: new + cache read + cache written = all input. `tokens_out` includes
    reasoning. `tokens_total` is the vendor's own sum where it gives one. Some are told apart, since they have
    prices of their own: of those written to a cache the ones that stay for an hour, of all input and of all
    output those of audio and of images. `cost_cents` is what the vendor says that it bills, `cost` what the
    gateway does.

    `source`: the vendor counted all of it (measured), or some of it (partial), or nothing, and it is the
    gateway's estimate (estimated), or no model was asked and there is nothing to count (none). What a partial
    one lacks is estimated where it is told at a run's end.
    """

    tokens_in: int | None = _key("TIn", None)
    tokens_cache_read: int | None = _key("TCacheRead", None)
    tokens_cache_write: int | None = _key("TCacheWrite", None)
    tokens_out: int | None = _key("TOut", None)
    tokens_out_reasoning: int | None = _key("TOutR", None)
    tokens_total: int | None = _key("TTotal", None)
    tokens_cache_write_1h: int | None = _key("TCacheWrite1h", None)
    tokens_in_audio: int | None = _key("TInAudio", None)
    tokens_in_image: int | None = _key("TInImage", None)
    tokens_out_audio: int | None = _key("TOutAudio", None)
    tokens_out_image: int | None = _key("TOutImage", None)
    start_ms: int | None = _key("dtStart", None)
    inner_ms: int | None = _key("dtInner", None)
    all_ms: int | None = _key("dtAll", None)
    tokens_per_second: float | None = _key("vTOutInner", None)
    cost_cents: float | None = _key("$cReported", None)
    cost: Cost | None = None
    source: UsageSource = _key("source", "measured")
