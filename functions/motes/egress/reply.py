"""What is the same in every piece of one response, and what the pieces have in common.

Pure values and views. Must never read a clock or make an id: both are arguments.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from operator import attrgetter
from typing import Any, Final

from motes import particles as p
from motes.costs import prompt_of
from motes.dataclass import dataclass
from motes.egress.message_json import cost_json, usage_json
from motes.settings import Keepalive, ReasoningField

_SIGNATURE_FORMATS: Final = {
    "anthropic-messages": "anthropic-claude-v1",
    "bedrock-converse": "bedrock-converse-v1",
    "bedrock-invoke": "anthropic-claude-v1",
    "gemini-generate": "google-gemini-v1",
    "gemini-interactions": "google-interactions-v1",
    "openai-responses": "openai-responses-v1",
}
_NUMBERS: Final = frozenset({int, float, bool})
_GIVEN: Final = ("cached_tokens", "cache_write_tokens", "audio_tokens", "image_tokens")
_SPENT: Final = ("reasoning_tokens", "audio_tokens", "image_tokens")
_given: Final = attrgetter("tokens_cache_read", "tokens_cache_write", "tokens_in_audio", "tokens_in_image")
_spent: Final = attrgetter("tokens_out_reasoning", "tokens_out_audio", "tokens_out_image")
GEMINI_FORMAT: Final = "google-gemini-v1"
UNKNOWN_FORMAT: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One response: who asked for what, and how the caller wants it told.

    `model` is what the caller asked for, `upstream_model` what the vendor was asked for. `created` is in
    epoch seconds.
    """

    id: str
    created: int
    model: str
    vendor: str
    upstream_model: str
    signature_format: str = UNKNOWN_FORMAT
    include_usage: bool = False
    reasoning_field: ReasoningField = "reasoning_content"
    keepalive: Keepalive = "comment"


def signature_format(dialect: str) -> str:
    """How OpenRouter's vocabulary calls the reasoning signatures of a dialect."""
    return _SIGNATURE_FORMATS.get(dialect, UNKNOWN_FORMAT)


@dataclass(slots=True)
class Facts:
    """What was learnt about a run on the way, told at its end in the `motes` member."""

    model: str | None = None
    response_id: str | None = None
    provider: str | None = None
    metrics: p.Metrics | None = None
    attempts: int = 1
    clips: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)
    """Annotations of files, in the vendor's own form: typed clients break on them in the message."""
    documents: list[p.Citation] = field(default_factory=list)
    warnings: list[p.Warn] = field(default_factory=list)

    @property
    def remarks(self) -> list[dict[str, str]]:
        """Everything that was dropped, clamped or mended on the way, ours included."""
        told = [{"code": warning.code, "text": warning.text} for warning in self.warnings]
        if self.clips > 1:
            text = f"{self.clips - 1} more audio clips have no place in this answer: ask for particles"
            told.append({"code": "audio_dropped", "text": text})
        return told


def usage(metrics: p.Metrics | None) -> dict[str, Any] | None:
    """OpenAI's usage object, whole or none at all; details are told only where they are known."""
    counts: dict[str, Any] = usage_json(metrics) or {}
    if metrics is None or counts.get("prompt") is None or counts.get("completion") is None:
        return None
    told: dict[str, Any] = {
        "prompt_tokens": counts["prompt"],
        "completion_tokens": counts["completion"],
        "total_tokens": counts["total"],
    }
    # Of most answers nobody tells any.
    for place, names, values in (
        ("prompt_tokens_details", _GIVEN, _given(metrics)),
        ("completion_tokens_details", _SPENT, _spent(metrics)),
    ):
        if values.count(None) < len(names):
            told[place] = _known(**dict(zip(names, values, strict=True)))
    return told


def _source(metrics: p.Metrics | None) -> str | None:
    """Where the counts come from; told also where there is nothing to count."""
    if metrics is None:
        return None
    is_counted = metrics.tokens_out is not None and prompt_of(metrics) is not None
    return metrics.source if is_counted or metrics.source == "none" else None


def extension(reply: Reply, facts: Facts, end: p.End) -> dict[str, Any]:
    """The `motes` member: what OpenAI's words have no place for. Only what is known is in it."""
    metrics = facts.metrics
    told: dict[str, Any] = {
        "vendor": reply.vendor,
        "model": facts.model or reply.upstream_model,
        "attempts": facts.attempts,
    }
    if facts.provider:
        told["provider"] = facts.provider
    if facts.response_id:
        told["response_id"] = facts.response_id
    if end.native_stop:
        told["native_finish_reason"] = end.native_stop
    if end.detail:
        told["detail"] = end.detail
    if source := _source(metrics):
        told["usage_source"] = source
        if source == "none":
            # Nobody was asked who could count.
            told["synthetic"] = True
    if cost := cost_json(metrics):
        told["cost"] = cost
    if facts.documents or facts.files or facts.warnings or facts.clips > 1:
        documents = [document(citation) for citation in facts.documents]
        told |= _known(documents=documents, files=facts.files, warnings=facts.remarks)
    return told


def annotation(citation: p.Citation) -> dict[str, Any]:
    """A source with an address, as OpenAI annotates it. An unknown place in the text is 0 to 0."""
    place = {
        "start_index": citation.start or 0,
        "end_index": citation.end or 0,
        "title": citation.title,
        "url": citation.url,
    }
    return {"type": "url_citation", "url_citation": place}


def annotations(citations: Iterable[p.Citation]) -> list[dict[str, Any]]:
    """The sources with an address, each place of each once."""
    seen: set[tuple[Any, ...]] = set()
    out = []
    for citation in citations:
        key = (citation.start or 0, citation.end or 0, citation.title, citation.url)
        if citation.url and key not in seen:
            seen.add(key)
            out.append(annotation(citation))
    return out


def document(citation: p.Citation) -> dict[str, Any]:
    """A source without an address."""
    location = dict(citation.location) if citation.location else None
    return _known(title=citation.title, document=citation.document, text=citation.text, location=location)


def image(media: p.Image) -> dict[str, Any]:
    """An image as aggregators send it in a chat message."""
    return {"type": "image_url", "image_url": {"url": f"data:{media.mime};base64,{media.base64}"}}


def audio(media: p.Audio, reply: Reply) -> dict[str, Any]:
    """A whole audio clip; there is one in an answer."""
    clip = {"id": f"audio_{reply.id}", "data": media.base64, "mime_type": media.mime}
    return clip | _known(transcript=media.label)


def signed_text(text: str, signature: str, format: str) -> dict[str, Any]:
    """A whole block of reasoning with the signature it must go back with."""
    return {"type": "reasoning.text", "text": text, "signature": signature, "format": format}


def encrypted(data: str, format: str, call_id: str | None = None) -> dict[str, Any]:
    """An opaque parcel of reasoning; `call_id` names the tool call it belongs to."""
    return {"type": "reasoning.encrypted", "data": data, "format": format} | _known(id=call_id)


def reasoning_item(vendor: str, state: Any) -> dict[str, Any] | None:
    """A reasoning item of a Responses host in a vendor state, encrypted for that host, if there is one."""
    item = state.get("reasoningItem") if isinstance(state, Mapping) else None
    data = item.get("encryptedContent") if isinstance(item, Mapping) else None
    if not isinstance(item, Mapping) or not isinstance(data, str) or not data:
        return None
    id = item.get("id")
    return encrypted(data, _responses_format(vendor), id if isinstance(id, str) else None)


def phase_entry(vendor: str, state: Any, start: int) -> dict[str, Any] | None:
    """What the answer's text is from a place on (commentary, final answer), if a vendor state says so. The
    models of a Responses host want to hear it again, and a chat message has no other place for it.
    """
    phase = state.get("messagePhase") if isinstance(state, Mapping) else None
    if not isinstance(phase, str) or not phase:
        return None
    return {"type": "reasoning.phase", "phase": phase, "start": start, "format": _responses_format(vendor)}


def _responses_format(vendor: str) -> str:
    return f"{vendor}-responses-v1"


def thought_signature(state: Any) -> str | None:
    """Gemini's signature in a vendor state, if there is one."""
    value = state.get("thoughtSignature") if isinstance(state, Mapping) else None
    return value if isinstance(value, str) and value else None


def signed_call(call: dict[str, Any], signature: str) -> dict[str, Any]:
    """A call with Gemini's signature of it where Google's own compatible endpoint puts it."""
    return call | {"extra_content": {"google": {"thought_signature": signature}}}


def kept_rows(state: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of one list in a vendor's state, which is the vendor's own and may be anything."""
    rows = state.get(name)
    return [dict(row) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def told_details(rows: list[dict[str, Any]], hidden: bool) -> list[dict[str, Any]]:
    """The vendor's own details; where reasoning is hidden, only what nobody can read."""
    return [row for row in rows if not hidden or row.get("type") == "reasoning.encrypted"]


def _known(**members: Any) -> dict[str, Any]:
    """The members that say something. Zero does; None and what is empty do not."""
    return {
        name: value
        for name, value in members.items()
        if value is not None and (value or type(value) in _NUMBERS)
    }
