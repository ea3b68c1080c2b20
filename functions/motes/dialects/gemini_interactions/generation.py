"""The generation_config and the form of the answer.

Must never drop or clamp without a note, and never ask for summaries of thoughts nobody wants to see. Source:
google-genai 3.6.1, `GenerationConfig` and `ResponseFormat` (read 2026-11-29).
"""

from typing import Any, Final

from motes.chat import ChatRequest, Effort
from motes.dialects.base import Traits
from motes.model_rules import rule_of
from motes.quirks import Quirks

Wire = dict[str, Any]

_MAX_STOPS: Final = 5
_MAX_SEED: Final = 2**31 - 1
_LEVELS: Final[dict[Effort, str]] = {
    "off": "minimal",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "xhigh",
}
# Budgets, in tokens, up to which a level is meant: there is nothing else.
_BUDGETS: Final[tuple[tuple[int, Effort], ...]] = ((1024, "low"), (8192, "medium"))
_MEDIA: Final = frozenset({"image", "audio", "video"})


def generation_config(
    request: ChatRequest, model: str, quirks: Quirks, traits: Traits, notes: list[str]
) -> Wire:
    """How long, how random, how hard to think; empty where the caller leaves everything to the model."""
    config = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.output_limit,
        "seed": _seed(request, notes),
        "stop_sequences": _stops(request, notes),
        "thinking_level": _level(request, model, quirks, traits, notes),
        "thinking_summaries": _summaries(request, traits),
        "speech_config": _speech(request),
    }
    return {name: value for name, value in config.items() if value not in (None, [])}


def response_format(request: ChatRequest, notes: list[str]) -> list[Wire]:
    """JSON by a schema, and what else than text is wanted."""
    wanted = request.response_format
    out: list[Wire] = []
    if wanted is not None and wanted.type != "text":
        schema = wanted.json_schema.schema_ if wanted.json_schema else None
        plain = {name: value for name, value in (schema or {}).items() if name != "$schema"}
        form = {"type": "text", "mime_type": "application/json"}
        out.append(form | ({"schema": plain} if plain else {}))
    words = [word.lower() for word in request.modalities or []]
    if set(words) & _MEDIA and "text" in words and not out:
        out.append({"type": "text"})
    for word in dict.fromkeys(words):
        if word in _MEDIA:
            out.append({"type": word})
        elif word != "text":
            notes.append(f"modalities: {word[:20]!r} is not known to this vendor; dropped")
    return out


def _stops(request: ChatRequest, notes: list[str]) -> list[str]:
    stops = [stop for stop in request.stops if stop]
    if len(stops) > _MAX_STOPS:
        notes.append(f"stop: this vendor takes {_MAX_STOPS} stop sequences; the first {_MAX_STOPS} were kept")
    return stops[:_MAX_STOPS]


def _seed(request: ChatRequest, notes: list[str]) -> int | None:
    """A seed is a 32-bit number here; a larger one keeps its low bits, so that it stays the same seed."""
    seed = request.seed
    if seed is None or -_MAX_SEED <= seed <= _MAX_SEED:
        return seed
    notes.append("seed: this vendor takes 31 bits; the higher ones were cut off")
    return seed & _MAX_SEED


def _level(request: ChatRequest, model: str, quirks: Quirks, traits: Traits, notes: list[str]) -> str | None:
    """The vendor's word for what the caller wants; None leaves it to the model."""
    budget, effort = request.reasoning_budget, request.effort
    if effort is None and budget:
        notes.append("reasoning budget: this vendor knows levels only")
        effort = next((level for limit, level in _BUDGETS if budget <= limit), "high")
    if effort is None:
        return None
    if traits.reasoning is False:
        if effort != "off":
            notes.append(f"reasoning: {model} does not reason; dropped")
        return None
    rule = rule_of(model, quirks.model_rules)
    words = (rule and rule.efforts) or quirks.effort_map
    level = words.get(effort, _LEVELS[effort]) if words else _LEVELS[effort]
    if level != effort:
        notes.append(f"reasoning: {model} cannot be set to {effort!r}; its thinking level is {level}")
    return level


def _summaries(request: ChatRequest, traits: Traits) -> str | None:
    hidden = traits.reasoning is False or (request.reasoning and request.reasoning.exclude)
    return "auto" if request.wants_reasoning and not hidden else None


def _speech(request: ChatRequest) -> list[Wire] | None:
    voice = (request.audio or {}).get("voice")
    return [{"voice": voice}] if isinstance(voice, str) and voice else None
