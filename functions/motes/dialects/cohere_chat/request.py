"""A chat request as the body of Cohere's Chat API, version 2.

Always a stream. What the API has no word for is left out, with a note each, and numbers beyond its ranges are
brought back. Must never send a member that it refuses: unknown ones, a form of the answer or a safety mode
beside tools or documents, a choice without tools. Source: Cohere API reference, "Chat with Streaming";
"Structured outputs", "Tool use", "Safety modes" (docs.cohere.com, read 2026-11-29).
"""

from typing import Any, Final

from motes import jsontext
from motes.chat import ChatRequest, FunctionDefinition
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.cohere_chat.messages import Conversation, Wire
from motes.dialects.cohere_chat.thinking import thinking_of
from motes.dialects.function_tools import AskedTools, asked_tools, parameters_of
from motes.quirks import Quirks

MAX_STOPS: Final = 5
_RANGES: Final = {
    "p": (0.01, 0.99),
    "k": (0, 500),
    "frequency_penalty": (0, 1),
    "presence_penalty": (0, 1),
    "seed": (0, 2**64 - 1),
}
# Members of the API that OpenAI has no word for; a caller may use them as they are.
_NATIVE: Final = ("citation_options", "documents", "k", "p", "priority", "raw_prompting", "strict_tools")
_SAFETY: Final = "safety_mode"
_NO_WORD_FOR: Final = (
    "logit_bias",
    "verbosity",
    "audio",
    "prediction",
    "store",
    "user",
    "metadata",
    "service_tier",
    "prompt_cache_key",
    "safety_identifier",
    "web_search_options",
)
_ANY_JSON: Final = "Answer with one valid JSON value and nothing else."
_JSON_BY_SCHEMA: Final = "Answer with one JSON value and nothing else. It must follow this JSON Schema: "

Notes = list[str]


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request in the API's own words. Raises InvalidRequest for what cannot be said in them."""
    notes: Notes = []
    extra = request.model_extra or {}
    talk = Conversation(request.messages, notes)
    json: Wire = {"model": model, "messages": talk.messages, "stream": True}
    json |= {name: extra[name] for name in _NATIVE if extra.get(name) is not None}
    json |= _tools(request, quirks, notes)
    json |= _documents(talk, extra.get("documents"))
    grounded = bool(json.get("tools") or json.get("documents"))
    json |= _format(request, talk, grounded, notes) | _safety(extra.get(_SAFETY), grounded, notes)
    json |= thinking_of(request, model, quirks, traits, notes)
    json |= _limits(request, notes)
    _bring_back(json, notes)
    for name in quirks.drop & json.keys():
        del json[name]
        notes.append(f"{name}: dropped, this vendor does not take it")
    _note_the_rest(request, notes)
    return UpstreamBody(json={**quirks.extra_body, **json}, warnings=tuple(dict.fromkeys(notes)))


def _tools(request: ChatRequest, quirks: Quirks, notes: Notes) -> Wire:
    asked = asked_tools(request, notes)
    if not asked.functions:
        return {}
    if request.parallel_tool_calls is False:
        notes.append("parallel_tool_calls: dropped, this vendor has no word for it")
    can = quirks.tool_choice == "full"
    if asked.choice == "none" and not can:
        notes.append("tools: left out, since none may be called and this model cannot be told so")
        return {}
    if asked.choice == "required" and not can:
        notes.append("tool_choice: this model cannot be forced to call a tool; it was left the choice")
    forced = can and asked.choice != "auto"
    json: Wire = {"tools": [_tool(function) for function in asked.functions]}
    json |= {"tool_choice": asked.choice.upper()} if forced else {}
    return json | _strict(asked, quirks, notes)


def _tool(function: FunctionDefinition) -> Wire:
    described = {"description": function.description} if function.description else {}
    made = {"name": function.name, **described, "parameters": parameters_of(function)}
    return {"type": "function", "function": made}


def _strict(asked: AskedTools, quirks: Quirks, notes: Notes) -> Wire:
    """Strictness holds for all tools or none, and each must then have a parameter that is required."""
    marks = [bool(function.strict) for function in asked.functions]
    if not any(marks):
        return {}
    if not quirks.strict_tools or not all(parameters_of(f).get("required") for f in asked.functions):
        notes.append("tools.strict: dropped, this vendor wants a required parameter in each tool for it")
        return {}
    if not all(marks):
        notes.append("tools.strict: holds for all tools here, not only for those that are marked")
    return {"strict_tools": True}


def _documents(talk: Conversation, given: Any) -> Wire:
    """The caller's own documents, and the files of the conversation behind them."""
    documents = [*(given if isinstance(given, list) else []), *talk.documents]
    return {"documents": documents} if documents else {}


def _format(request: ChatRequest, talk: Conversation, grounded: bool, notes: Notes) -> Wire:
    """`response_format`, where there are neither tools nor documents; words must do otherwise."""
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return {}
    schema = wanted.json_schema.schema_ if wanted.json_schema else None
    if grounded:
        notes.append("response_format: became an instruction, this vendor has none beside tools or documents")
        talk.instruct(_JSON_BY_SCHEMA + jsontext.dumps(schema) if schema else _ANY_JSON)
        return {}
    return {"response_format": {"type": "json_object"} | ({"json_schema": schema} if schema else {})}


def _safety(mode: Any, grounded: bool, notes: Notes) -> Wire:
    if mode is None:
        return {}
    if grounded:
        notes.append("safety_mode: dropped, this vendor has none beside tools or documents")
        return {}
    return {_SAFETY: mode}


def _limits(request: ChatRequest, notes: Notes) -> Wire:
    stops = [stop for stop in request.stops if stop]
    if len(stops) < len(request.stops):
        notes.append("stop: an empty sequence was dropped")
    if len(stops) > MAX_STOPS:
        notes.append(f"stop: only the first {MAX_STOPS} sequences were sent, this vendor takes no more")
    members = {
        "max_tokens": request.output_limit,
        "temperature": request.temperature,
        "p": request.top_p,
        "k": request.top_k,
        "seed": request.seed,
        "stop_sequences": stops[:MAX_STOPS] or None,
        "frequency_penalty": request.frequency_penalty,
        "presence_penalty": request.presence_penalty,
    }
    return {name: value for name, value in members.items() if value is not None}


def _bring_back(json: Wire, notes: Notes) -> None:
    """Numbers into the ranges of the API."""
    for name, (least, most) in _RANGES.items():
        value = json.get(name)
        if not isinstance(value, int | float):
            continue
        json[name] = min(max(value, least), most)
        if json[name] != value:
            notes.append(f"{name}: sent as {json[name]:g}, this vendor takes {least:g} to {most:g}")


def _note_the_rest(request: ChatRequest, notes: Notes) -> None:
    """A note for each parameter that was set and has no counterpart."""
    unsaid = [name for name in _NO_WORD_FOR if getattr(request, name)]
    if request.modalities and set(request.modalities) - {"text"}:
        unsaid.append("modalities")
    if request.reasoning and request.reasoning.exclude:
        unsaid.append("reasoning.exclude")
    extras = (request.model_extra or {}).items()
    known = {*_NATIVE, _SAFETY}
    unsaid += [name for name, value in extras if name not in known and value not in (None, [], {}, "", False)]
    notes += [f"{name[:60]}: dropped, this vendor has no word for it" for name in unsaid]
