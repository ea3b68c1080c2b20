"""The vendors' lists of models, read: one page of a body in, the models and the query of the next page out.

Pure, and tolerant: what is not as a shape has it is left out, and only a body that holds no list at all is a
failure. Sources: the vendors' API references, "List models" (read 2026-11-29).
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final
from urllib.parse import quote

from motes.dataclass import dataclass
from motes.dialects.base import DialectName
from motes.vendors import list_fields as told
from motes.vendors.list_fields import Json
from motes.vendors.vendor import BY_DIALECT, ListShape, ModelList, Vendor

MAX_MODELS: Final = 5000
"""More are not listed of one vendor."""

_PLAIN: Final = ModelList()
_OF_DIALECT: Final[Mapping[DialectName, ModelList]] = {
    "anthropic-messages": ModelList(
        path="v1/models?limit=1000", shape="anthropic", headers={"anthropic-version": "2023-06-01"}
    ),
    "gemini-generate": ModelList(path="v1beta/models?pageSize=1000", shape="gemini"),
    "ollama-chat": ModelList(path="api/tags", shape="ollama"),
    "cohere-chat": ModelList(path="v1/models?endpoint=chat&page_size=1000", shape="cohere"),
}
# Amazon's lists stand at another host, where a key of this row does not go.
_WITHOUT: Final[frozenset[DialectName]] = frozenset({"bedrock-converse", "bedrock-invoke"})
_RETIRED_AT_NOVITA: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """One model as its vendor lists it: epoch seconds, tokens, what it can do, dollars for one token. None:
    the vendor does not tell.
    """

    id: str
    name: str | None = None
    created: int | None = None
    context_length: int | None = None
    max_output_tokens: int | None = None
    tools: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None
    pricing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """Some models, and the query that asks for the next ones, where there are more."""

    models: tuple[ListedModel, ...]
    next_query: str | None = None


def list_of(vendor: Vendor) -> ModelList | None:
    """Where the vendor's list is, or None where it has none."""
    if vendor.model_list is not BY_DIALECT:
        return vendor.model_list
    dialect = vendor.surfaces[0].dialect
    return None if dialect in _WITHOUT else _OF_DIALECT.get(dialect, _PLAIN)


def read(shape: ListShape, body: Any) -> Page:
    """One page. Raises ValueError where the body holds no list."""
    reader = _READERS[shape]
    found = (reader(item) for item in _items(body)[:MAX_MODELS])
    return Page(tuple(model for model in found if model is not None), _next_query(body))


def _items(body: Any) -> list[Json]:
    """The entries, which stand alone (Together) or in a member."""
    found = body
    if isinstance(body, dict):
        found = next((body[name] for name in ("data", "models", "result") if name in body), None)
    if not isinstance(found, list):
        raise ValueError("no list of models")
    return told.objects(found)


def _next_query(body: Any) -> str | None:
    """How the next page is asked for: by the last id (Anthropic), or by a token (Google, Cohere)."""
    if not isinstance(body, dict):
        return None
    if body.get("has_more") is True and (last := told.text(body.get("last_id"))):
        return f"after_id={_quoted(last)}"
    for member, parameter in (("nextPageToken", "pageToken"), ("next_page_token", "page_token")):
        token = body.get(member)
        if isinstance(token, str) and token:
            return f"{parameter}={_quoted(token)}"
    return None


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _openai(item: Json, unit: int = 0) -> ListedModel | None:
    """OpenAI's entries, and what others add to them. Prices are for 10 to the power of `unit` tokens."""
    id = told.text(item.get("id"))
    if id is None or told.is_no_chat(item):
        return None
    return ListedModel(
        id=id,
        name=told.text(item.get("display_name")) or told.text(item.get("name")),
        created=told.seconds(item.get("created")),
        context_length=told.context_of(item),
        max_output_tokens=told.output_of(item),
        tools=told.ability(item, "tools"),
        vision=told.ability(item, "vision"),
        reasoning=told.ability(item, "reasoning"),
        pricing=told.prices(told.priced(item), unit),
    )


def _per_million(item: Json) -> ListedModel | None:
    return _openai(item, unit=6)


def _anthropic(item: Json) -> ListedModel | None:
    id, able = told.text(item.get("id")), told.member(item, "capabilities")
    if id is None:
        return None
    return ListedModel(
        id=id,
        name=told.text(item.get("display_name")),
        created=told.moment(item.get("created_at")),
        context_length=told.count(item.get("max_input_tokens")),
        max_output_tokens=told.count(item.get("max_tokens")),
        tools=told.flag(able, "tools", "tool_use"),
        vision=told.flag(able, "image_input", "vision"),
        reasoning=told.flag(able, "thinking"),
    )


def _gemini(item: Json) -> ListedModel | None:
    id, methods = told.text(item.get("name")), told.words(item.get("supportedGenerationMethods"))
    if id is None or (methods and "generateContent" not in methods):
        return None
    return ListedModel(
        id=id.removeprefix("models/"),
        name=told.text(item.get("displayName")),
        context_length=told.count(item.get("inputTokenLimit")),
        max_output_tokens=told.count(item.get("outputTokenLimit")),
        reasoning=told.flag(item, "thinking"),
    )


def _cohere(item: Json) -> ListedModel | None:
    id, endpoints = told.text(item.get("name")), told.words(item.get("endpoints"))
    if id is None or (endpoints and "chat" not in endpoints):
        return None
    return ListedModel(
        id=id,
        context_length=told.context_of(item),
        tools=told.ability(item, "tools"),
        vision=told.ability(item, "vision"),
        reasoning=told.ability(item, "reasoning"),
    )


def _xai(item: Json) -> ListedModel | None:
    """Prices are cents for a hundred million tokens."""
    model = _openai(item)
    asked = {
        "prompt": item.get("prompt_text_token_price"),
        "completion": item.get("completion_text_token_price"),
        "input_cache_read": item.get("cached_prompt_text_token_price"),
    }
    return model and replace(model, pricing=told.prices(asked, unit=10))


def _novita(item: Json) -> ListedModel | None:
    """Prices are ten-thousandths of a dollar for a million tokens."""
    model, endpoints = _openai(item), told.words(item.get("endpoints"))
    if item.get("status") == _RETIRED_AT_NOVITA or (endpoints and "chat/completions" not in endpoints):
        return None
    asked = {
        "prompt": item.get("input_token_price_per_m"),
        "completion": item.get("output_token_price_per_m"),
    }
    return model and replace(model, pricing=told.prices(asked, unit=10))


def _cloudflare(item: Json) -> ListedModel | None:
    """An entry is asked for by its `name`; what it can do stands in a list of properties."""
    id, task = told.text(item.get("name")), told.text(told.member(item, "task").get("name"))
    if id is None or task not in (None, "Text Generation"):
        return None
    properties = {
        told.text(one.get("property_id")) or "": one.get("value")
        for one in told.objects(item.get("properties"))
    }
    return ListedModel(
        id=id,
        context_length=told.count(properties.get("context_window")),
        tools=told.flag(properties, "function_calling"),
        vision=told.flag(properties, "vision"),
        reasoning=told.flag(properties, "reasoning"),
    )


def _ollama(item: Json) -> ListedModel | None:
    id, able = told.text(item.get("model")) or told.text(item.get("name")), item.get("capabilities")
    can = told.words(able)
    if id is None or (can and "completion" not in can):
        return None
    return ListedModel(
        id=id,
        created=told.moment(item.get("modified_at")),
        tools="tools" in can if can else None,
        vision="vision" in can if can else None,
        reasoning="thinking" in can if can else None,
    )


def _lmstudio(item: Json) -> ListedModel | None:
    model = _openai({"id": item.get("key"), **item})
    return model and replace(model, name=told.text(item.get("display_name")))


_READERS: Final[Mapping[ListShape, Callable[[Json], ListedModel | None]]] = {
    "openai": _openai,
    "per-million": _per_million,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "cohere": _cohere,
    "xai": _xai,
    "novita": _novita,
    "cloudflare": _cloudflare,
    "ollama": _ollama,
    "lmstudio": _lmstudio,
}
