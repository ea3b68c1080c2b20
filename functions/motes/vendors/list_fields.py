"""What entries of vendors' model lists say, by any of the names vendors have for it.

Pure and tolerant: a value of the wrong type is no value. Must never guess: what is not told is None. Prices
are given as OpenRouter gives them, which clients know: US dollars for one token, in decimals, as text.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

Json = Mapping[str, Any]

_MAX_ID: Final = 300
# The year 5138, and in milliseconds 1973.
_LATEST: Final = 10**11
_CONTEXT: Final = (
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "context_size",
    "max_input_tokens",
    "n_ctx_train",
)
_OUTPUT: Final = ("max_output_tokens", "max_completion_tokens", "max_tokens")
_PRICES: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt": ("prompt", "input", "input_tokens"),
    "completion": ("completion", "output", "output_tokens"),
    "input_cache_read": ("input_cache_read", "cache_read_tokens", "cached_input"),
    "input_cache_write": ("input_cache_write",),
}
_TOOLS: Final = ("function_calling", "supports_tools", "tools", "tool_use", "trained_for_tool_use")
_VISION: Final = ("vision", "supports_image_input", "supports_image_in", "image_input")
_REASONING: Final = ("reasoning", "supports_reasoning", "thinking")
_CHAT: Final = ("completion_chat", "supports_chat", "chat_completion")
_FEATURES: Final[Mapping[str, frozenset[str]]] = {
    "tools": frozenset({"tools", "tool-use", "function-calling", "function_calling"}),
    "vision": frozenset({"vision", "image-input"}),
    "reasoning": frozenset({"reasoning", "include_reasoning", "thinking"}),
}
_NO_CHAT_TYPES: Final = frozenset(
    {"audio", "embedding", "embeddings", "image", "moderation", "rerank", "transcribe", "video"}
)


def text(value: Any) -> str | None:
    """A text that can be a name."""
    return value if isinstance(value, str) and 0 < len(value) <= _MAX_ID else None


def member(item: Json, name: str) -> Json:
    """An object within; an empty one where there is none."""
    value = item.get(name)
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[Json]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: Any) -> frozenset[str]:
    """The words of a list."""
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()


def count(value: Any) -> int | None:
    """A whole number above zero, also where it is written as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 < value < 2**53 else None


def first_count(places: Iterable[Json], *names: str) -> int | None:
    """The first number under any of the names, in any of the places."""
    found = (count(place.get(name)) for place in places for name in names)
    return next((number for number in found if number is not None), None)


def moment(value: Any) -> int | None:
    """Epoch seconds of an RFC 3339 time."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return seconds(int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()))
    except (ValueError, OverflowError, OSError):
        return None


def seconds(value: Any) -> int | None:
    """Epoch seconds, also where milliseconds are told."""
    number = count(value)
    if number is not None and number > _LATEST:
        number //= 1000
    return number if number is not None and number <= _LATEST else None


def flag(item: Json, *names: str) -> bool | None:
    """The first of the switches that is told: a bool, or an object that says `supported`."""
    for name in names:
        value = item.get(name)
        if isinstance(value, dict):
            value = value.get("supported", True)
        if isinstance(value, str):
            value = {"true": True, "false": False}.get(value.lower())
        if isinstance(value, bool):
            return value
    return None


def prices(asked: Json, unit: int) -> dict[str, str]:
    """US dollars for one token. What is asked is for 10 to the power of `unit` tokens."""
    told: dict[str, str] = {}
    for name, aliases in _PRICES.items():
        found = (_price(asked.get(alias), unit) for alias in aliases)
        if (price := next((one for one in found if one is not None), None)) is not None:
            told[name] = price
    return told


def _price(value: Any, unit: int) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        price = Decimal(str(value)[:40]).scaleb(-unit)
    except (InvalidOperation, ValueError):
        return None
    # Below zero means that the price depends on the model that is chosen (OpenRouter's `auto`).
    if not price.is_finite() or not 0 <= price < 1 or price.adjusted() < -30:
        return None
    return format(price.normalize(), "f")


def context_of(item: Json) -> int | None:
    """How many tokens fit, wherever it stands; of a model that several hosts serve, the most."""
    places = (item, *(member(item, name) for name in ("top_provider", "metadata", "meta", "limits")))
    hosts = (count(host.get("context_length")) for host in objects(item.get("providers")))
    return first_count(places, *_CONTEXT) or max((size for size in hosts if size), default=None)


def output_of(item: Json) -> int | None:
    """How many tokens an answer may have."""
    places = (item, *(member(item, name) for name in ("top_provider", "metadata", "limits")))
    return first_count(places, *_OUTPUT)


def priced(item: Json) -> Json:
    """Where its prices stand: in the entry, in its metadata, or with the first host that tells them."""
    places = (item, member(item, "metadata"), *objects(item.get("providers")))
    return next((found for place in places if (found := member(place, "pricing"))), {})


def ability(item: Json, what: str) -> bool | None:
    """Whether it takes tools, sees or reasons, by any of the ways to say so."""
    names = {"tools": _TOOLS, "vision": _VISION, "reasoning": _REASONING}[what]
    places = (item, member(item, "capabilities"), *objects(item.get("providers")))
    told = [said for place in places if (said := flag(place, *names)) is not None]
    if told:
        return any(told)
    named = words(item.get("features")) | words(item.get("supported_parameters"))
    if what == "vision":
        return _sees(item, named)
    return bool(named & _FEATURES[what]) if named else None


def _sees(item: Json, named: frozenset[str]) -> bool | None:
    inputs = words(item.get("input_modalities")) | words(member(item, "architecture").get("input_modalities"))
    if inputs:
        return "image" in inputs
    return True if named & _FEATURES["vision"] else None


def is_no_chat(item: Json) -> bool:
    """Whether the entry says itself that it cannot be talked to."""
    if flag(item, *_CHAT) is False or flag(member(item, "capabilities"), *_CHAT) is False:
        return True
    outputs = words(item.get("output_modalities")) | words(
        member(item, "architecture").get("output_modalities")
    )
    kind = text(item.get("type")) or text(item.get("model_type")) or ""
    return kind in _NO_CHAT_TYPES or bool(outputs and "text" not in outputs)
