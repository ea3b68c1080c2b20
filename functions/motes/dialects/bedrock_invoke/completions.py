"""The answers of models that only complete a text: Titan, Llama, Command, Mistral, the oldest Claude.

One reader for all: each gives a piece of text, at its end a word why it stopped, and counts, under names of
its own. Must never raise for what they hold, and never call an answer complete without that word.
Source: Amazon Bedrock user guide, "Inference request parameters and response fields for foundation models"
(docs.aws.amazon.com, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes import jsontext
from motes.demux.base import WireEvent
from motes.dialects.bedrock_invoke.events import METRICS, Json, count, first, obj, text
from motes.particles import StopReason
from motes.quirks import Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt, from_body

# Where a whole body keeps the answer; a stream has it in the event itself.
_LISTS: Final = ("results", "outputs", "generations", "choices")
_TEXTS: Final = ("outputText", "generation", "completion", "text")
_REASONS: Final = ("completionReason", "stop_reason", "finish_reason")
_INPUTS: Final = ("inputTextTokenCount", "prompt_token_count")
_OUTPUTS: Final = ("totalOutputTextTokenCount", "generation_token_count", "tokenCount")
_ERRORS: Final = ("error", "message", "Message", "__type")

_STOPS: Final[Mapping[str, StopReason]] = {
    "complete": "ok",
    "end_turn": "ok",
    "eos": "ok",
    "finish": "ok",
    "stop": "ok",
    "stop_criteria_met": "ok",
    "stop_sequence": "ok",
    "length": "out-of-tokens",
    "max_tokens": "out-of-tokens",
    "error_limit": "out-of-tokens",
    "content_filter": "filter-content",
    "content_filtered": "filter-content",
    "error_toxic": "filter-content",
}


class CompletionParser:
    """One per attempt."""

    def __init__(self, quirks: Quirks) -> None:
        self._think_tags = quirks.think_tags

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """See `Parser`."""
        data = jsontext.loads(event.data)
        if not isinstance(data, dict):
            raise ValueError("an event of a completion is a JSON object")
        answer = next((found for name in _LISTS if (found := first(data.get(name)))), data)
        words = _text_of(answer)
        if words is None:
            self._on_other(data, out)
        else:
            self._say(words, out)
        _say_counts(data, answer, out)
        reason = next((word for name in _REASONS if (word := text(answer.get(name)))), "")
        if reason:
            _say_stop(reason, out)
        if reason and METRICS in data:
            out.done()

    def eof(self, out: Emitter) -> None:
        """See `Parser`. Whether it is complete, its stop reason said."""

    def _say(self, words: str, out: Emitter) -> None:
        if words and self._think_tags:
            self._think_tags = out.tagged_text(words)
        elif words:
            out.text(words)

    def _on_other(self, data: Json, out: Emitter) -> None:
        if any(data.get(name) for name in _ERRORS):
            out.issue(from_body(data))
        elif not any(name in data for name in (*_REASONS, METRICS)):
            names = excerpt(", ".join(data), 60)
            out.warn("unknown_event", f"an upstream event with the members {names!r} was skipped")


def _text_of(answer: Json) -> str | None:
    return next((text(answer[name]) for name in _TEXTS if name in answer), None)


def _say_counts(data: Json, answer: Json, out: Emitter) -> None:
    """The model's own counts, else those of the service."""
    metrics = obj(data.get(METRICS))
    places = (data, answer)
    given = _count(places, _INPUTS), _count(places, _OUTPUTS)
    counted = count(metrics.get("inputTokenCount")), count(metrics.get("outputTokenCount"))
    tokens_in, tokens_out = (
        own if own is not None else other for own, other in zip(given, counted, strict=True)
    )
    if tokens_in is not None or tokens_out is not None:
        out.usage(tokens_in=tokens_in, tokens_out=tokens_out)


def _count(places: tuple[Json, Json], names: tuple[str, ...]) -> int | None:
    found = (count(place.get(name)) for place in places for name in names)
    return next((number for number in found if number is not None), None)


def _say_stop(reason: str, out: Emitter) -> None:
    word = reason.lower()
    if word not in _STOPS:
        said = excerpt(reason, 40)
        out.warn("unknown_stop_reason", f"the unknown stop reason {said!r} counts as a plain stop")
    out.stop(_STOPS.get(word, "ok"), native=reason)
