"""A chat request as the body of Ollama's native chat.

Always a stream. Samplers and limits go into `options`, the form of the answer into `format`, reasoning into
`think`. What there is no word for is left out, with a note each. Must never ask a model to reason unless the
caller did: one that cannot refuses the whole request. Source: Ollama API reference, "Generate a chat
message"; "Modelfile" (parameters), "Structured outputs", "Thinking" (docs.ollama.com, read 2026-11-29).
"""

from typing import Any, Final

from motes import jsontext
from motes.chat import ChatRequest
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.function_tools import asked_tools, parameters_of
from motes.dialects.ollama_chat.messages import Wire, instruct, messages_of
from motes.dialects.ollama_chat.thinking import think_of
from motes.quirks import Quirks

# What a caller may set beside OpenAI's parameters; each is one of `options`.
_OPTIONS: Final = frozenset(
    {
        "main_gpu",
        "min_p",
        "mirostat",
        "mirostat_eta",
        "mirostat_tau",
        "num_batch",
        "num_ctx",
        "num_gpu",
        "num_keep",
        "num_predict",
        "num_thread",
        "penalize_newline",
        "repeat_last_n",
        "repeat_penalty",
        "tfs_z",
        "typical_p",
        "use_mmap",
    }
)
_OTHER_NAMES: Final = {"repetition_penalty": "repeat_penalty"}
_NATIVE: Final = ("keep_alive", "truncate", "shift")
_SAID_ELSEWHERE: Final = ("options", "think", "format")
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

Notes = list[str]


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The request in Ollama's own words. Raises InvalidRequest for what cannot be said in them."""
    notes: Notes = []
    messages = messages_of(request.messages, notes)
    tools = _tools(request, notes)
    json: Wire = {"model": model, "messages": messages}
    json |= {"tools": tools} if tools else {}
    json |= _format(request, model, messages, notes)
    json |= think_of(request, model, quirks, traits, notes)
    options = _options(request, notes)
    json |= {"options": options} if options else {}
    extra = request.model_extra or {}
    json |= {name: extra[name] for name in _NATIVE if extra.get(name) is not None}
    for name in quirks.drop & json.keys():
        del json[name]
        notes.append(f"{name}: dropped, this vendor does not take it")
    _note_the_rest(request, notes)
    json = {**quirks.extra_body, **json, "stream": True}
    return UpstreamBody(json=json, warnings=tuple(dict.fromkeys(notes)))


def _tools(request: ChatRequest, notes: Notes) -> list[Wire]:
    """The functions that may be called. None may be forced; where none may be called, there are none."""
    asked = asked_tools(request, notes)
    if asked.choice == "none":
        return []
    if asked.choice == "required":
        notes.append("tool_choice: this vendor cannot be forced to call a tool; it was left the choice")
    if request.parallel_tool_calls is False and asked.functions:
        notes.append("parallel_tool_calls: dropped, this vendor has no word for it")
    tools = []
    for function in asked.functions:
        if function.strict:
            notes.append(f"tools.{function.name}.strict: dropped, this vendor does not know it")
        described = {"description": function.description} if function.description else {}
        made = {"name": function.name, **described, "parameters": parameters_of(function)}
        tools.append({"type": "function", "function": made})
    return tools


def _format(request: ChatRequest, model: str, messages: list[Wire], notes: Notes) -> Wire:
    """Any JSON, or JSON by a schema; the models of Ollama's cloud are told the schema in words, too."""
    native, wanted = (request.model_extra or {}).get("format"), request.response_format
    if native:
        return {"format": native}
    if wanted is None or wanted.type == "text":
        return {}
    schema = wanted.json_schema.schema_ if wanted.json_schema else None
    if wanted.type == "json_object" or not schema:
        return {"format": "json"}
    if model.endswith(("-cloud", ":cloud")):
        notes.append("response_format: the schema was put into the system text too, cloud models ignore it")
        instruct(
            messages, f"Answer with one JSON value that follows this JSON Schema: {jsontext.dumps(schema)}"
        )
    return {"format": schema}


def _options(request: ChatRequest, notes: Notes) -> Wire:
    """Samplers and limits; what a caller says in Ollama's own words counts most."""
    stops = [stop for stop in request.stops if stop]
    if len(stops) < len(request.stops):
        notes.append("stop: an empty sequence was dropped")
    options: dict[str, Any] = {
        "num_predict": request.output_limit,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": request.top_k,
        "seed": request.seed,
        "stop": stops or None,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
    }
    extra = request.model_extra or {}
    own = {_OTHER_NAMES.get(name, name): value for name, value in extra.items()}
    options |= {name: value for name, value in own.items() if name in _OPTIONS}
    native = extra.get("options")
    options |= native if isinstance(native, dict) else {}
    return {name: value for name, value in options.items() if value is not None}


def _note_the_rest(request: ChatRequest, notes: Notes) -> None:
    """A note for each parameter that was set and has no counterpart."""
    unsaid = [name for name in _NO_WORD_FOR if getattr(request, name)]
    if request.modalities and set(request.modalities) - {"text"}:
        unsaid.append("modalities")
    if request.reasoning and request.reasoning.exclude:
        unsaid.append("reasoning.exclude")
    known = {*_OPTIONS, *_OTHER_NAMES, *_NATIVE, *_SAID_ELSEWHERE}
    extras = (request.model_extra or {}).items()
    unsaid += [name for name, value in extras if name not in known and value not in (None, [], {}, "", False)]
    notes += [f"{name[:60]}: dropped, this vendor has no word for it" for name in unsaid]
