"""Builds the body of a chat-completions request.

Always a stream, always with usage where the vendor has it. Must never ask for several answers or for log
probabilities, and never drop, clamp or change anything without a warning.

Source: OpenAI API reference, "Create chat completion" (read 2026-11-29); what vendors do otherwise is data
(`Quirks`).
"""

from typing import Any, Final

from motes import jsontext
from motes.chat import ChatRequest, JSONSchemaFormat
from motes.dataclass import maker
from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.openai_chat.draft import Draft
from motes.dialects.openai_chat.effort import Reasoning, plan
from motes.dialects.openai_chat.messages import messages_of
from motes.dialects.openai_chat.tools import tools_of
from motes.dialects.openai_chat.turns import instruct
from motes.dialects.strict_schema import strictly
from motes.quirks import JSONSupport, Quirks

PATH: Final = "chat/completions"
_new_body: Final = maker(UpstreamBody)

# Members that go as they are.
_PLAIN: Final = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "seed",
    "verbosity",
    "modalities",
    "prediction",
    "user",
    "metadata",
    "service_tier",
    "store",
    "prompt_cache_key",
    "safety_identifier",
    "web_search_options",
)
_LIMITS: Final = frozenset({*_PLAIN, "stop", "audio"})
"""One of them must be given for a request to have limits beyond its length."""

_STREAMED_AUDIO: Final = "pcm16"
_ANY_OBJECT: Final = {"type": "json_object"}
_AN_OBJECT: Final = "Answer with one JSON object and nothing else."
_BY_SCHEMA: Final = "Answer with one JSON object that follows this JSON Schema: "


def path(_: str) -> str:
    """The same for every model."""
    return PATH


def body(request: ChatRequest, model: str, quirks: Quirks, traits: Traits) -> UpstreamBody:
    """The upstream's request body. Raises InvalidRequest for what cannot be meant."""
    early: list[str] = []
    tools = tools_of(request, quirks, early.append)
    reasoning = plan(request, model, quirks, traits, forbidden=tools.rules_reasoning_out)
    draft = Draft(quirks.drop, quirks.rename, quirks.passthrough)
    for warning in (*early, *reasoning.warnings):
        draft.warn(warning)
    tools.give_way(quirks.tool_choice, reasoning.active, draft.warn)
    draft.put("model", model)
    messages = messages_of(request, quirks, draft, bool(tools.entries))
    draft.put("messages", messages)
    draft.put("tools", tools.entries or None)
    draft.put("tool_choice", tools.choice)
    draft.put("parallel_tool_calls", tools.parallel)
    support = (reasoning.active and quirks.json_when_reasoning) or quirks.json_schema
    _put_format(request, messages, support, draft)
    _put_limits(request, quirks, reasoning, draft)
    _put_reasoning(request, reasoning, draft)
    _put_extensions(request, draft)
    _put_stream(request, quirks.usage_mode, draft)
    draft.fill(quirks.with_tools if tools.entries else {})
    draft.fill(quirks.extra_body)
    written = draft.mend()
    return _new_body(json=draft.json, warnings=draft.warnings, written=written)


def _put_limits(request: ChatRequest, quirks: Quirks, reasoning: Reasoning, draft: Draft) -> None:
    """How long, how random, where to stop; a model that reasons may refuse some of it."""
    if request.max_tokens and request.max_completion_tokens not in (None, request.max_tokens):
        draft.warn("max_tokens: dropped, max_completion_tokens says otherwise")
    draft.put(_token_field(quirks, reasoning), _limit(request, quirks, draft))
    if not request.gives(_LIMITS):
        return
    refused = quirks.drop_when_reasoning if reasoning.active else frozenset()
    members: dict[str, Any] = {name: getattr(request, name) for name in _PLAIN}
    members["stop"] = _stops(request, quirks.max_stop, draft)
    members["audio"] = _audio(request, draft)
    for name, value in members.items():
        if value is None:
            continue
        if name in refused:
            draft.warn(f"{name}: dropped, the model does not take it while it reasons")
        else:
            draft.put(name, _within(name, value, quirks, draft))


def _limit(request: ChatRequest, quirks: Quirks, draft: Draft) -> int | None:
    limit = request.output_limit
    if limit is None and quirks.fallback_limit is not None:
        draft.warn(f"max_tokens: {quirks.fallback_limit} was sent, this vendor wants a limit")
        return quirks.fallback_limit
    return limit


def _within(name: str, value: Any, quirks: Quirks, draft: Draft) -> Any:
    """A number in the range this vendor takes."""
    if name not in quirks.ranges or not isinstance(value, int | float):
        return value
    least, most = quirks.ranges[name]
    near = min(max(value, least), most)
    if near != value:
        draft.warn(f"{name}: sent as {near:g}, this vendor takes {least:g} to {most:g}")
    return near


def _token_field(quirks: Quirks, reasoning: Reasoning) -> str:
    if quirks.token_field == "by-model":  # noqa: S105 (a name of a member)
        return "max_completion_tokens" if reasoning.able else "max_tokens"
    return quirks.token_field


def _stops(request: ChatRequest, most: int | None, draft: Draft) -> str | list[str] | None:
    stops = [stop for stop in request.stops if stop]
    if len(stops) < len(request.stops):
        draft.warn("stop: an empty sequence was dropped")
    if most is not None and len(stops) > most:
        draft.warn(f"stop: only the first {most} sequences were sent, this vendor takes no more")
        stops = stops[:most]
    if isinstance(request.stop, str):
        return stops[0] if stops else None
    return stops or None


def _audio(request: ChatRequest, draft: Draft) -> dict[str, Any] | None:
    """Sound is streamed as raw samples only; it becomes a WAV clip on the way back."""
    audio = request.audio
    if audio is None or audio.get("format") == _STREAMED_AUDIO:
        return audio
    draft.warn(f"audio.format: sent as {_STREAMED_AUDIO!r}, the only one that is streamed")
    return audio | {"format": _STREAMED_AUDIO}


def _put_format(
    request: ChatRequest, messages: list[dict[str, Any]], support: JSONSupport, draft: Draft
) -> None:
    """The form of the answer, by the vendor's own means as far as they go; the rest is said in words."""
    form = request.response_format
    if form is None or form.type == "text":
        return
    schema = _schema(form.json_schema, draft) if form.type == "json_schema" and form.json_schema else None
    if schema is not None and support in ("native", "schema-only"):
        draft.put("response_format", {"type": "json_schema", "json_schema": schema})
        return
    if support in ("native", "json-object"):
        draft.put("response_format", _ANY_OBJECT)
    if schema is not None:
        draft.warn(
            "response_format: this vendor takes no schema; it was put into the system text as an instruction"
        )
        instruct(messages, _BY_SCHEMA + jsontext.dumps(schema.get("schema") or {}))
    elif support in ("schema-only", "none"):
        draft.warn(
            "response_format: this vendor has no such form; it was put into the system text as an instruction"
        )
        instruct(messages, _AN_OBJECT)


def _schema(form: JSONSchemaFormat, draft: Draft) -> dict[str, Any]:
    out: dict[str, Any] = {"name": form.name}
    if form.description is not None:
        out["description"] = form.description
    if form.schema_ is not None:
        out["schema"] = form.schema_
        if form.strict:
            out["schema"] = strictly(form.schema_, "response_format.json_schema.schema", draft.warn)
    if form.strict is not None:
        out["strict"] = form.strict
    return out


def _put_reasoning(request: ChatRequest, reasoning: Reasoning, draft: Draft) -> None:
    draft.json |= reasoning.members
    asked = request.reasoning
    if asked is not None and "reasoning" not in reasoning.members:
        lost = [name for name in ("exclude", *(asked.model_extra or {})) if getattr(asked, name, None)]
        if lost:
            draft.warn(f"reasoning ({', '.join(lost)}): dropped, this vendor has no such option")


def _put_extensions(request: ChatRequest, draft: Draft) -> None:
    """What is no part of OpenAI's protocol: passed on to the vendors that know it."""
    if request.top_k is None and not request.model_extra:
        return
    members = {"top_k": request.top_k, **(request.model_extra or {})}
    for name, value in draft.extras(members).items():
        ours = draft.json.get(name)
        if name not in draft.json:
            draft.put(name, value)
        elif isinstance(ours, dict) and isinstance(value, dict):
            draft.json[name] = {**ours, **value}


def _put_stream(request: ChatRequest, usage: str, draft: Draft) -> None:
    draft.json["stream"] = True
    others = (request.stream_options.model_extra or {}) if request.stream_options else {}
    if usage == "forbidden":
        if others:
            draft.warn("stream_options: dropped, this vendor does not take them")
        return
    options = {**others, "include_usage": True} if usage == "ask" else others
    draft.put("stream_options", options or None)
