"""What an answer used, out of every spelling that vendors of this dialect have for it.

Gives fields of `Metrics`: new input, cached input read and written, all output, its reasoning part, the
vendor's own total, cost in US cents. Must never turn an unknown count into zero, and never add up the
running totals that some vendors send with every chunk.

Sources: the vendors' API references, read 2026-11-29.
"""

from collections.abc import Mapping
from typing import Any, Final

from motes.dialects.openai_chat.fields import NOTHING, count, inner, number

Counts = dict[str, float | None]

_READ: Final = (
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "total_cached_tokens",
    "num_cached_tokens",
)
_WRITTEN: Final = ("cache_creation_input_tokens", "cache_write_tokens")
_CACHED: Final = frozenset((*_READ, *_WRITTEN))
_COSTS: Final = frozenset({"cost", "estimated_cost", "cost_in_usd_ticks"})
_CENTS_PER_USD: Final = 100
_TICKS_PER_USD: Final = 1e10
"""xAI counts cost in ticks of 1e-10 US dollars."""


def usages_in(chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every usage object of a chunk: Groq's, Moonshot's inside the choice, the standard one last."""
    if "usage" not in choice and "x_groq" not in chunk:
        usage = chunk.get("usage")
        return [usage] if usage and isinstance(usage, dict) else []
    found = (inner(inner(chunk, "x_groq"), "usage"), inner(choice, "usage"), inner(chunk, "usage"))
    return [usage for usage in found if usage]


def counts_of(usage: Mapping[str, Any], *, reasoning_inside: bool) -> Counts:
    """The counts of one usage object. `reasoning_inside`: whether completion tokens include reasoning,
    where the vendor's total does not tell.
    """
    given, made = _input_details(usage), _output_details(usage)
    prompt, read, written = _input(usage, given)
    reasoning = _reasoning(usage, made) if made or "reasoning_tokens" in usage else None
    total = count(usage, "total_tokens")
    output = _output(usage, prompt, total, reasoning or 0, reasoning_inside)
    return {
        "tokens_in": None if prompt is None else prompt - (read or 0) - (written or 0),
        "tokens_cache_read": read,
        "tokens_cache_write": written,
        "tokens_out": output,
        "tokens_out_reasoning": reasoning,
        "tokens_total": total,
        "cost_cents": _cost(usage),
        **(_media(given, made) if given or made else {}),
        **(_speed(usage, output) if "completion_time" in usage else {}),
    }


def inference_cost(event: Mapping[str, Any]) -> Counts:
    """OpenCode's closing event; its input leaves cached tokens out already."""
    usage = inner(event, "normalizedUsage")
    writes = [count(usage, "cacheWrite5mTokens"), count(usage, "cacheWrite1hTokens")]
    known = [tokens for tokens in writes if tokens is not None]
    return {
        "tokens_in": count(usage, "inputTokens"),
        "tokens_cache_read": count(usage, "cacheReadTokens"),
        "tokens_cache_write": sum(known) if known else None,
        "tokens_cache_write_1h": writes[1],
        "tokens_out": count(usage, "outputTokens"),
        "tokens_out_reasoning": count(usage, "reasoningTokens"),
        "cost_cents": _cost(event),
    }


def _input(usage: Mapping[str, Any], details: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    """All input, and what of it was read from and written to a cache."""
    prompt = count(usage, "prompt_tokens", "input_tokens")
    if not details and _CACHED.isdisjoint(usage):
        return prompt, None, None
    read = count(details, "cached_tokens")
    if read is None:
        read = _part_of(
            prompt,
            count(usage, *_READ),
        )
    written = count(details, "cache_write_tokens", "cache_creation_input_tokens", "created_cache_tokens")
    if written is None:
        written = _part_of(prompt, count(usage, *_WRITTEN))
    return prompt, read, written


def _input_details(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in ("prompt_tokens_details", "input_tokens_details", "prompt_token_details"):
        if name in usage and (found := inner(usage, name)):
            return found
    return NOTHING


def _output_details(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    return inner(usage, "completion_tokens_details") or inner(usage, "output_tokens_details")


def _media(given: Mapping[str, Any], made: Mapping[str, Any]) -> Counts:
    """What of input and output was sound and what was pictures."""
    return {
        "tokens_in_audio": count(given, "audio_tokens"),
        "tokens_in_image": count(given, "image_tokens"),
        "tokens_out_audio": count(made, "audio_tokens"),
        "tokens_out_image": count(made, "image_tokens"),
    }


def _part_of(prompt: int | None, tokens: int | None) -> int | None:
    """A count that is no part of the prompt counts something else: such servers keep sums of their own."""
    return None if prompt is not None and tokens is not None and tokens > prompt else tokens


def _reasoning(usage: Mapping[str, Any], made: Mapping[str, Any]) -> int | None:
    inside = count(made, "reasoning_tokens")
    return count(usage, "reasoning_tokens") if inside is None else inside


def _output(
    usage: Mapping[str, Any], prompt: int | None, total: int | None, reasoning: int, inside: bool
) -> int | None:
    """All output with reasoning; the vendor's total decides whether it has to be added."""
    completion = count(usage, "completion_tokens", "output_tokens")
    if completion is None or not reasoning:
        return completion
    if prompt is not None and total is not None:
        if total == prompt + completion:
            return completion
        inside = inside and total != prompt + completion + reasoning
    return completion if inside else completion + reasoning


def _cost(source: Mapping[str, Any]) -> float | None:
    """US cents, to four places."""
    if _COSTS.isdisjoint(source):
        return None
    dollars = number(source, "cost")
    if dollars is None:
        dollars = number(inner(source, "cost"), "total_cost")
    if dollars is None:
        dollars = number(source, "estimated_cost")
    ticks = number(source, "cost_in_usd_ticks")
    if dollars is None and ticks is not None:
        dollars = ticks / _TICKS_PER_USD
    return None if dollars is None else round(dollars * _CENTS_PER_USD, 4)


def _speed(usage: Mapping[str, Any], output: int | None) -> Counts:
    """Groq tells, in seconds, how long it took to write the answer."""
    seconds = number(usage, "completion_time")
    if not seconds or not output:
        return {}
    return {"inner_ms": round(seconds * 1000), "tokens_per_second": round(output / seconds, 2)}
