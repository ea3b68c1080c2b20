"""A chat request as the body of a Messages request.

What the API has no word for is left out, with a note each; what it would refuse is mended where that is
what the caller can only have meant. Must never send a member the API does not know. Source: Anthropic API
reference, "Create a Message" (platform.claude.com/docs, read 2026-11-29).
"""

from dataclasses import replace
from typing import Any, Final

from motes import jsontext
from motes.chat import ChatRequest
from motes.dialects.anthropic_messages.betas import betas_of
from motes.dialects.anthropic_messages.parts import text_block
from motes.dialects.anthropic_messages.tools import choice_of, tools_of
from motes.dialects.anthropic_messages.turns import Turns
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.claude_generations import NO_CLAUDE, Generation, generation_of
from motes.dialects.claude_reasoning import Plan, Situation, plan
from motes.dialects.claude_schema import closed, rooted
from motes.quirks import Quirks

MAX_CACHE_MARKS: Final = 4

# Members of the API that OpenAI has no word for; a caller may use them as they are.
_NATIVE: Final = frozenset(
    {"cache_control", "container", "context_management", "inference_geo", "mcp_servers", "speed"}
)
_SERVICE_TIERS: Final = {
    "auto": "auto",
    "priority": "auto",
    "default": "standard_only",
    "standard_only": "standard_only",
}
_NO_WORD_FOR: Final = (
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "verbosity",
    "audio",
    "prediction",
    "store",
    "prompt_cache_key",
)
# What a request must give for each of these steps to have something to do.
_SAMPLING: Final = frozenset({"temperature", "top_p", "top_k"})
_OTHERS: Final = frozenset({"stop", "user", "safety_identifier", "metadata", "service_tier"})
_UNSAID: Final = frozenset({*_NO_WORD_FOR, "seed", "modalities", "metadata"})

_ANY_JSON: Final = "Answer with one valid JSON value and nothing else."
_JSON_BY_SCHEMA: Final = "Answer with one JSON value and nothing else. It must follow this JSON Schema: "


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request in the API's own words. Raises InvalidRequest for what cannot be said in them."""
    notes: list[str] = []
    generation = _generation(model, quirks, traits)
    turns = Turns(notes, reasons=generation.thinking != "none")
    turns.add_all(request.messages)
    tools = tools_of(request, notes)
    choice = choice_of(request, tools, notes)
    reasoning = plan(request, _situation(request, generation, quirks, turns, choice), notes)
    if reasoning.on or not generation.prefill:
        turns.end_with_user()
    output = _output(request, generation, reasoning, turns, notes)
    json: dict[str, Any] = {} if quirks.model_in_path else {"model": model}
    json["max_tokens"], json["stream"] = reasoning.max_tokens, True
    if turns.system:
        json["system"] = turns.system
    json["messages"] = turns.messages
    if tools:
        json["tools"] = tools
    if choice is not None:
        json["tool_choice"] = _chosen(choice, generation, reasoning, notes)
    if reasoning.thinking:
        json["thinking"] = reasoning.thinking
    if output:
        json["output_config"] = output
    if request.gives(_SAMPLING):
        json |= _sampling(request, generation, reasoning, notes)
    if request.gives(_OTHERS):
        json |= _rest(request, notes)
    json = _by_vendor(json, request, quirks, notes)
    _limit_cache_marks(json, notes)
    if request.gives(_UNSAID):
        _note_the_rest(request, notes)
    betas = betas_of(json)
    return UpstreamBody(
        json=json,
        headers={"anthropic-beta": betas} if betas else {},
        warnings=tuple(dict.fromkeys(notes)),
    )


def _generation(model: str, quirks: Quirks, traits: Traits) -> Generation:
    generation = NO_CLAUDE if quirks.thinking_form == "budget" else generation_of(model)
    return replace(generation, thinking="none", default_on=False) if traits.reasoning is False else generation


def _situation(
    request: ChatRequest, generation: Generation, quirks: Quirks, turns: Turns, choice: dict[str, Any] | None
) -> Situation:
    return Situation(
        generation=generation,
        limit=request.output_limit,
        default_limit=quirks.default_max_tokens,
        forced=_is_forced(choice),
        replays=turns.replays,
        bare_loop=turns.bare_loop,
    )


def _is_forced(choice: dict[str, Any] | None) -> bool:
    return choice is not None and choice["type"] in ("any", "tool")


def _chosen(
    choice: dict[str, Any], generation: Generation, reasoning: Plan, notes: list[str]
) -> dict[str, Any]:
    """The tool choice; a model that reasons, and some of the newest, may not be forced."""
    if _is_forced(choice) and (reasoning.on or not generation.forced_tools):
        notes.append("the forced tool choice became auto: a model that reasons may not be forced")
        return {k: v for k, v in choice.items() if k != "name"} | {"type": "auto"}
    return choice


def _output(
    request: ChatRequest, generation: Generation, reasoning: Plan, turns: Turns, notes: list[str]
) -> dict[str, Any]:
    """`output_config`: effort and the schema of the answer. Where there is no schema, words must do."""
    out: dict[str, Any] = {"effort": reasoning.effort} if reasoning.effort else {}
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return out
    schema = wanted.json_schema.schema_ if wanted.json_schema else None
    if schema and generation.schemas:
        return {**out, "format": {"type": "json_schema", "schema": closed(rooted(schema), notes)}}
    notes.append("response_format became an instruction: this model cannot be held to JSON in this form")
    turns.system += text_block(_JSON_BY_SCHEMA + jsontext.dumps(schema) if schema else _ANY_JSON)
    return out


def _sampling(
    request: ChatRequest, generation: Generation, reasoning: Plan, notes: list[str]
) -> dict[str, Any]:
    given = {name: getattr(request, name) for name in ("temperature", "top_p", "top_k")}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return {}
    if reasoning.on or not generation.sampling:
        why = "the model reasons" if reasoning.on else "this model takes none"
        notes.append(f"sampling parameters were left out, as {why}: {', '.join(given)}")
        return {}
    if "temperature" in given and "top_p" in given:
        notes.append("temperature was left out: it may not be given together with top_p")
        del given["temperature"]
    if given.get("temperature", 0) > 1:
        notes.append("temperature was lowered to 1, the highest there is")
        given["temperature"] = 1.0
    return given


def _rest(request: ChatRequest, notes: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    stops = [stop for stop in request.stops if stop.strip()]
    if len(stops) < len(request.stops):
        notes.append("blank stop sequences were left out: they are refused")
    if stops:
        out["stop_sequences"] = stops
    user = request.user or request.safety_identifier or (request.metadata or {}).get("user_id")
    if isinstance(user, str) and user:
        out["metadata"] = {"user_id": user}
    if request.service_tier in _SERVICE_TIERS:
        out["service_tier"] = _SERVICE_TIERS[request.service_tier]
    elif request.service_tier:
        notes.append(f"service tier {request.service_tier[:40]!r} was left out: there is no such tier here")
    return out


def _by_vendor(
    json: dict[str, Any], request: ChatRequest, quirks: Quirks, notes: list[str]
) -> dict[str, Any]:
    """What the caller says in the API's own words and what the vendor's row adds or takes away."""
    extra = request.model_extra
    if not (extra or quirks.drop or quirks.extra_body):
        return json
    extra, wanted = extra or {}, _NATIVE | quirks.passthrough
    json |= {name: value for name, value in extra.items() if name in wanted and name not in json}
    for name in quirks.drop & json.keys():
        del json[name]
        notes.append(f"{name} was left out: this vendor takes none")
    return {**quirks.extra_body, **json}


def _limit_cache_marks(json: dict[str, Any], notes: list[str]) -> None:
    """At most four marks; the last ones cover the longest prefixes, so the first ones go."""
    blocks = [*json.get("tools", ()), *json.get("system", ())]
    for message in json["messages"]:
        blocks += message["content"]
    marked = [block for block in blocks if "cache_control" in block]
    allowed = MAX_CACHE_MARKS - ("cache_control" in json)
    if len(marked) > allowed:
        notes.append(f"only the last {allowed} of {len(marked)} cache marks were kept: there may be no more")
        for block in marked[: len(marked) - allowed]:
            del block["cache_control"]


def _note_the_rest(request: ChatRequest, notes: list[str]) -> None:
    """A note for each parameter that was set and has no counterpart."""
    unsaid = [name for name in _NO_WORD_FOR if getattr(request, name)]
    if request.seed is not None:
        unsaid.append("seed")
    if request.modalities and set(request.modalities) - {"text"}:
        unsaid.append("modalities")
    if request.metadata and set(request.metadata) - {"user_id"}:
        unsaid.append("metadata")
    if unsaid:
        notes.append(f"parameters this vendor has no word for were left out: {', '.join(unsaid)}")
