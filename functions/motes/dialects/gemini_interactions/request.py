"""A chat request in the words of the Interactions API.

Always a stream; nothing is kept at the vendor unless the caller asks for it, or the agent works in no other
way. Must never drop, clamp or change anything without a note. Source: google-genai 3.6.1,
`CreateModelInteraction` and `CreateAgentInteraction` (read 2026-11-29).
"""

from typing import Any, Final

from motes.chat import ChatRequest
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.gemini_interactions.agents import Kind, kind_of, plain
from motes.dialects.gemini_interactions.generation import generation_config, response_format
from motes.dialects.gemini_interactions.runs import PATH
from motes.dialects.gemini_interactions.tools import choice_of, tools_of
from motes.dialects.gemini_interactions.turns import Turns
from motes.quirks import Quirks

# Members of a chat request that this protocol has no word for.
_NO_WORD_FOR: Final = (
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "user",
    "metadata",
    "prediction",
    "prompt_cache_key",
    "safety_identifier",
    "verbosity",
)
_TIERS: Final = ("flex", "priority", "standard", "deferred")
_BACKGROUND: Final = "background"


def path(_: str) -> str:
    """The same for every model and agent."""
    return PATH


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request body for a model or an agent. Raises InvalidRequest for what cannot be sent at all."""
    notes: list[str] = []
    request = _without(request, quirks, notes)
    kind = kind_of(model)
    turns = Turns(kind, notes)
    turns.add_all(request.messages)
    json: dict[str, Any] = {"agent" if kind.agent else "model": plain(model), "input": turns.input}
    if turns.instruction:
        json["system_instruction"] = "\n\n".join(turns.instruction)
    _put_generation(json, request, model, quirks, traits, notes)
    _put_kept(json, request, kind, quirks, notes)
    if request.service_tier in _TIERS:
        json["service_tier"] = request.service_tier
    _note_unsaid(request, notes)
    _put_extensions(json, request, kind, quirks, notes)
    json["stream"] = True
    return UpstreamBody(json=json, warnings=tuple(dict.fromkeys(notes)))


def _without(request: ChatRequest, quirks: Quirks, notes: list[str]) -> ChatRequest:
    """The request without the parameters that this vendor refuses."""
    refused = sorted(name for name in quirks.drop if getattr(request, name, None) is not None)
    notes += [f"{name}: dropped, this vendor does not take it" for name in refused]
    return request.model_copy(update=dict.fromkeys(refused)) if refused else request


def _put_generation(
    json: dict[str, Any],
    request: ChatRequest,
    model: str,
    quirks: Quirks,
    traits: Traits,
    notes: list[str],
) -> None:
    """Tools, limits and form; an agent sets its own limits."""
    kind = kind_of(model)
    tools = tools_of(request, kind, notes)
    choice = choice_of(request, tools, notes)
    if tools:
        json["tools"] = tools
    own: list[str] = []
    config = generation_config(request, model, quirks, traits, own)
    if choice is not None:
        config["tool_choice"] = choice
    if config and kind.agent:
        notes.append(f"{', '.join(config)}: dropped, an agent takes no generation_config")
    elif config:
        notes += own
        json["generation_config"] = config
    form = response_format(request, notes)
    if form:
        json["response_format"] = form


def _put_kept(
    json: dict[str, Any], request: ChatRequest, kind: Kind, quirks: Quirks, notes: list[str]
) -> None:
    """Whether the run is kept at the vendor, and goes on without us."""
    asked = (request.model_extra or {}).get(_BACKGROUND) is True and _BACKGROUND in quirks.passthrough
    background = asked if kind.background is None else kind.background
    if asked and not background:
        notes.append("background: dropped, this agent or model does not run in it")
    stored = kind.stored or background or bool(request.store)
    if request.store is False and stored:
        notes.append("store: this run must be kept at its vendor, otherwise it cannot be made")
    json["store"] = stored
    if background:
        json[_BACKGROUND] = True


def _note_unsaid(request: ChatRequest, notes: list[str]) -> None:
    unsaid = [name for name in _NO_WORD_FOR if getattr(request, name) not in (None, [], {})]
    if request.parallel_tool_calls is False:
        unsaid.append("parallel_tool_calls")
    if request.service_tier not in (None, "auto", "default", *_TIERS):
        unsaid.append("service_tier")
    notes += [f"{name}: dropped, this vendor has nothing like it" for name in unsaid]


def _put_extensions(
    json: dict[str, Any], request: ChatRequest, kind: Kind, quirks: Quirks, notes: list[str]
) -> None:
    """What chat completions have no word for and this vendor knows; then what the kind of run needs."""
    for name, value in (request.model_extra or {}).items():
        if name in quirks.passthrough or "*" in quirks.passthrough:
            if name != _BACKGROUND:
                json.setdefault(name, value)
        elif value not in (None, [], {}, "", False):
            notes.append(f"{name[:40]}: dropped, this vendor does not know it")
    for name, value in (*kind.members.items(), *quirks.extra_body.items()):
        json.setdefault(name, value)
