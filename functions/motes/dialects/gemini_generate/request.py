"""A chat request in Google's words.

Must never send what the protocol refuses as a whole, and never leave out a wish of the caller without a
warning.

Source: ai.google.dev/api/generate-content, read 2026-11-29.
"""

from typing import Any, Final
from urllib.parse import quote

from motes.chat import ChatRequest
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.gemini_generate.contents import Conversation
from motes.dialects.gemini_generate.fields import member
from motes.dialects.gemini_generate.generation import generation_config
from motes.dialects.gemini_generate.tools import tool_members
from motes.quirks import Quirks

_COLLECTIONS: Final = ("models/", "tunedModels/")

# Wishes that have no place in this protocol.
_UNKNOWN: Final = (
    "logit_bias",
    "user",
    "metadata",
    "store",
    "prediction",
    "prompt_cache_key",
    "safety_identifier",
    "verbosity",
)
_RARE: Final = frozenset({*_UNKNOWN, "parallel_tool_calls", "service_tier"})
_TIERS: Final = ("flex", "priority", "standard")


def path(model: str) -> str:
    """Where a model answers, as a stream of server-sent events. `models/` before the name may be there."""
    collection = next((head for head in _COLLECTIONS if model.startswith(head)), "models/")
    name = quote(model.removeprefix(collection), safe="")
    return f"v1beta/{collection}{name}:streamGenerateContent?alt=sse"


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request body for a model. Raises InvalidRequest for what cannot be sent at all."""
    warnings: list[str] = []
    request = _without(request, quirks, warnings)
    conversation = Conversation(model, warnings)
    conversation.build(request.messages)
    json: dict[str, Any] = {**quirks.extra_body, "contents": conversation.contents}
    if conversation.system:
        json["systemInstruction"] = {"parts": conversation.system}
    json |= tool_members(request, model, warnings)
    config = generation_config(request, model, traits, warnings)
    if config:
        json["generationConfig"] = config
    if request.gives(_RARE):
        _warn_of_unknown(request, warnings)
    if request.service_tier in _TIERS:
        json["serviceTier"] = request.service_tier
    json |= _extensions(request, quirks)
    _prefer_cache(json, warnings)
    return UpstreamBody(json=json, warnings=tuple(dict.fromkeys(warnings)))


def _without(request: ChatRequest, quirks: Quirks, warnings: list[str]) -> ChatRequest:
    """The request without the parameters that this vendor refuses."""
    refused = sorted(name for name in quirks.drop if getattr(request, name, None) is not None)
    warnings += [f"{name}: this vendor refuses it; dropped" for name in refused]
    return request.model_copy(update=dict.fromkeys(refused)) if refused else request


def _warn_of_unknown(request: ChatRequest, warnings: list[str]) -> None:
    dropped = [name for name in _UNKNOWN if getattr(request, name) not in (None, {}, False)]
    if request.parallel_tool_calls is False:
        dropped.append("parallel_tool_calls")
    if request.service_tier not in (None, "auto", "default", *_TIERS):
        dropped.append("service_tier")
    warnings += [f"{name}: this vendor has nothing like it; dropped" for name in dropped]


def _extensions(request: ChatRequest, quirks: Quirks) -> dict[str, Any]:
    """Members of the caller's request that the vendor's row passes on as they are."""
    extra = request.model_extra or {}
    everything = "*" in quirks.passthrough
    return {name: value for name, value in extra.items() if everything or name in quirks.passthrough}


def _prefer_cache(json: dict[str, Any], warnings: list[str]) -> None:
    """Cached content holds instruction and tools already; Google refuses them a second time."""
    if not member(json, "cachedContent"):
        return
    for name in ("systemInstruction", "tools", "toolConfig"):
        if json.pop(name, None) is not None:
            warnings.append(f"{name}: it is part of the cached content; dropped")
