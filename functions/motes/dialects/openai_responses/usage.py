"""What an answer used, as fields of `Metrics`: new input, cached input read and written, output, reasoning.

Must never turn an unknown count into zero. Sources: OpenAI ("Responses", `usage`), OpenRouter ("Usage
accounting"), xAI ("Usage") and Perplexity ("Agent API") references (read 2026-11-29).
"""

from typing import Final

from motes.dialects.openai_responses.fields import Json, count, inner, number
from motes.transmitter import Emitter

_CENTS_PER_USD: Final = 100
_TICKS_PER_USD: Final = 1e10
"""xAI counts cost in ticks of 1e-10 US dollars."""


def tell(usage: Json, out: Emitter) -> None:
    """Say what one usage object counts."""
    if not usage:
        return
    details, made = inner(usage, "input_tokens_details"), inner(usage, "output_tokens_details")
    prompt = count(usage, "input_tokens")
    read = count(details, "cached_tokens", "cache_read_input_tokens")
    written = count(details, "cache_write_tokens", "cache_creation_input_tokens")
    output = count(usage, "output_tokens")
    fresh = None if prompt is None else prompt - (read or 0) - (written or 0)
    if fresh is not None and fresh < 0:
        out.warn("odd_usage", "the vendor counts more cached tokens than input tokens")
    out.usage(
        partial=prompt is None or output is None,
        tokens_in=fresh,
        tokens_cache_read=read,
        tokens_cache_write=written,
        tokens_out=output,
        tokens_out_reasoning=count(made, "reasoning_tokens"),
        tokens_in_audio=count(details, "audio_tokens"),
        tokens_in_image=count(details, "image_tokens"),
        tokens_out_audio=count(made, "audio_tokens"),
        tokens_out_image=count(made, "image_tokens"),
        tokens_total=count(usage, "total_tokens"),
        cost_cents=_cost(usage),
    )


def _cost(usage: Json) -> float | None:
    """US cents, to four places."""
    dollars = number(usage, "cost")
    if dollars is None:
        dollars = number(inner(usage, "cost"), "total_cost")
    ticks = number(usage, "cost_in_usd_ticks")
    if dollars is None and ticks is not None:
        dollars = ticks / _TICKS_PER_USD
    return None if dollars is None else round(dollars * _CENTS_PER_USD, 4)
