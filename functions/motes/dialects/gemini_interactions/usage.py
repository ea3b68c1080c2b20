"""What a run used, as fields of `Metrics`: new input, cached input, output, reasoning.

Must never turn an unknown count into zero. Source: google-genai 3.6.1, `Usage` (read 2026-11-29). A run of
deep research may end without any usage; asking for it again is whoever's job who keeps the run.
"""

from motes.dialects.gemini_interactions.fields import Json, count, rows, text
from motes.transmitter import Emitter


def tell(usage: Json, out: Emitter, *, partial: bool = False) -> None:
    """Say what one usage object counts; `partial`: the run goes on."""
    given, answer = count(usage, "total_input_tokens"), count(usage, "total_output_tokens")
    thoughts = count(usage, "total_thought_tokens")
    if given is None and answer is None and thoughts is None:
        return
    cached = count(usage, "total_cached_tokens")
    asked = (given or 0) + (count(usage, "total_tool_use_tokens") or 0)
    if asked < (cached or 0):
        out.warn("odd_usage", "the vendor counts more cached tokens than input tokens")
    unknown = answer is None and thoughts is None
    out.usage(
        partial=partial or given is None or unknown,
        tokens_in=None if given is None else max(0, asked - (cached or 0)),
        tokens_cache_read=cached,
        tokens_out=None if unknown else (answer or 0) + (thoughts or 0),
        tokens_out_reasoning=thoughts,
        tokens_total=count(usage, "total_tokens"),
        **_by_modality(usage, "input_tokens_by_modality", "in"),
        **_by_modality(usage, "output_tokens_by_modality", "out"),
    )


def _by_modality(usage: Json, name: str, way: str) -> dict[str, int | None]:
    """What of input or output was sound and what was pictures."""
    told = {text(row, "modality").lower(): count(row, "tokens") for row in rows(usage, name)}
    return {f"tokens_{way}_{kind}": told.get(kind) for kind in ("audio", "image")}
