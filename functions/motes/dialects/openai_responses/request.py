"""A chat request as the body of a Responses request.

Always a stream; nothing is stored at the vendor unless the caller asks for it, so reasoning comes back
encrypted. Must never drop, clamp or change anything without a note. Source: OpenAI API reference, "Create a
model response" (read 2026-11-29); what vendors do otherwise is data (`Quirks`).
"""

from typing import Any, Final

from motes.chat import ChatRequest, JSONSchemaFormat
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.openai_responses.effort import ENCRYPTED, Plan, plan
from motes.dialects.openai_responses.tools import Tools, tools_of
from motes.dialects.openai_responses.turns import Turns
from motes.dialects.strict_schema import strictly
from motes.quirks import Quirks

PATH: Final = "responses"

# Members that go as they are.
_PLAIN: Final = (
    "temperature",
    "top_p",
    "user",
    "metadata",
    "service_tier",
    "prompt_cache_key",
    "safety_identifier",
)
# Members of a chat request that this protocol has no word for.
_NO_WORD_FOR: Final = (
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "seed",
    "stop",
    "audio",
    "prediction",
)
_SOURCES: Final = "web_search_call.action.sources"
_OUTPUTS: Final = "code_interpreter_call.outputs"


def path(_: str) -> str:
    """The same for every model."""
    return PATH


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request in the protocol's own words. Raises InvalidRequest for what cannot be said in them."""
    notes: list[str] = []
    reasoning = plan(request, model, quirks, traits, notes)
    turns = Turns(quirks, notes)
    turns.add_all(request.messages)
    tools = tools_of(request, quirks, reasoning, notes)
    draft = _Draft(quirks, notes)
    draft.put("model", model)
    draft.put("instructions", "\n\n".join(turns.instructions) or None)
    draft.put("input", turns.items)
    draft.put("tools", tools.entries or None)
    draft.put("tool_choice", tools.choice)
    draft.put("parallel_tool_calls", tools.parallel)
    draft.put("reasoning", dict(reasoning.reasoning) or None)
    _put_limits(request, quirks, reasoning, draft)
    _put_text(request, quirks, draft)
    _put_store(request, quirks, reasoning, tools, draft)
    _put_extensions(request, quirks, draft)
    for name, value in quirks.extra_body.items():
        draft.json.setdefault(name, value)
    return UpstreamBody(json=draft.json, warnings=tuple(dict.fromkeys(notes)))


class _Draft:
    """The one gate to the body: what the vendor refuses stays out, with a note."""

    def __init__(self, quirks: Quirks, notes: list[str]) -> None:
        self.json: dict[str, Any] = {}
        self.notes = notes
        self._refused = quirks.drop

    def put(self, name: str, value: Any) -> None:
        """Set a member, unless there is no value or the vendor does not take it."""
        if value is None:
            return
        if name in self._refused:
            self.notes.append(f"{name}: dropped, this vendor does not take it")
        else:
            self.json[name] = value


def _put_limits(request: ChatRequest, quirks: Quirks, reasoning: Plan, draft: _Draft) -> None:
    """How long, how random; a model that reasons may refuse some of it."""
    limit = request.output_limit
    if request.max_tokens and request.max_completion_tokens not in (None, request.max_tokens):
        draft.notes.append("max_tokens: dropped, max_completion_tokens says otherwise")
    if limit is not None and limit < quirks.min_output_tokens:
        draft.notes.append(f"max_output_tokens: raised to {quirks.min_output_tokens}, the least there is")
        limit = quirks.min_output_tokens
    draft.put("max_output_tokens", limit)
    refused = quirks.drop_when_reasoning if reasoning.active else frozenset()
    for name in _PLAIN:
        value = getattr(request, name)
        if name in refused and value is not None:
            draft.notes.append(f"{name}: dropped, the model does not take it while it reasons")
        else:
            draft.put(name, value)
    unsaid = [name for name in _NO_WORD_FOR if getattr(request, name) not in (None, [], {})]
    if request.modalities and set(request.modalities) - {"text"}:
        unsaid.append("modalities")
    if unsaid:
        draft.notes.append(f"parameters this protocol has no word for were left out: {', '.join(unsaid)}")


def _put_text(request: ChatRequest, quirks: Quirks, draft: _Draft) -> None:
    """The form of the answer, and how wordy it is to be."""
    form = _format(request, draft)
    out: dict[str, Any] = {}
    if form is not None and quirks.output_format == "response_format":
        inside = {name: value for name, value in form.items() if name != "type"}
        draft.put("response_format", {"type": form["type"]} | ({"json_schema": inside} if inside else {}))
    elif form is not None:
        out["format"] = form
    if request.verbosity is not None:
        if "verbosity" in quirks.drop:
            draft.notes.append("verbosity: dropped, this vendor does not take it")
        else:
            out["verbosity"] = request.verbosity
    draft.put("text", out or None)


def _format(request: ChatRequest, draft: _Draft) -> dict[str, Any] | None:
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object" or wanted.json_schema is None or wanted.json_schema.schema_ is None:
        return {"type": "json_object"}
    return _schema(wanted.json_schema, wanted.json_schema.schema_, draft)


def _schema(form: JSONSchemaFormat, schema: dict[str, Any], draft: _Draft) -> dict[str, Any]:
    if form.strict:
        schema = strictly(schema, "response_format.json_schema.schema", draft.notes.append)
    out: dict[str, Any] = {"type": "json_schema", "name": form.name, "schema": schema}
    if form.description is not None:
        out["description"] = form.description
    if form.strict is not None:
        out["strict"] = form.strict
    return out


def _put_store(request: ChatRequest, quirks: Quirks, reasoning: Plan, tools: Tools, draft: _Draft) -> None:
    """Whether the vendor keeps the answer; what it does not keep must come back with it."""
    in_background = (request.model_extra or {}).get(
        "background"
    ) is True and "background" in quirks.passthrough
    stored = request.store if request.store is not None else in_background
    if "store" not in quirks.drop:
        draft.json["store"] = stored
    elif request.store:
        draft.notes.append("store: dropped, this vendor keeps nothing")
    wanted = [
        ENCRYPTED if reasoning.opaque and not stored else "",
        _SOURCES if tools.has("web_search") else "",
        _OUTPUTS if tools.has("code_interpreter") else "",
    ]
    include = [name for name in wanted if name in quirks.includes]
    if include:
        draft.json["include"] = include


def _put_extensions(request: ChatRequest, quirks: Quirks, draft: _Draft) -> None:
    """What chat completions have no word for and this vendor knows; and the stream."""
    for name, value in (request.model_extra or {}).items():
        if name == "include" and "include" in quirks.passthrough and isinstance(value, list):
            draft.json["include"] = list(dict.fromkeys([*draft.json.get("include", []), *value]))
        elif name in quirks.passthrough or "*" in quirks.passthrough:
            draft.json.setdefault(name, value)
        elif value not in (None, [], {}, "", False):
            draft.notes.append(f"{name[:40]}: dropped, this vendor does not know it")
    draft.json["stream"] = True
    options = (request.stream_options.model_extra or {}) if request.stream_options else {}
    if "include_obfuscation" in options:
        draft.put("stream_options", {"include_obfuscation": options["include_obfuscation"]})
