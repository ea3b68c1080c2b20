"""The output items that speak: messages and reasoning.

An item is told piece by piece, then as a whole, once or several times; a whole one that was never begun is
told at once. Must never say a thing twice, and never call an item's unknown part text. Source: OpenAI API
reference, "Responses", output items (read 2026-11-29).
"""

from typing import Final

from motes.dialects.openai_responses.answer import Answer
from motes.dialects.openai_responses.fields import Json, place, rows, text
from motes.dialects.openai_responses.said import Said
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

_CHANNEL_OF_PART: Final = {
    "output_text": "text",
    "text": "text",
    "refusal": "refusal",
    "summary_text": "summary",
    "reasoning_text": "reasoning",
}


class Item:
    """One output item. `kind` is the vendor's type of it, `call_id` what a call is answered by."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.kind = ""
        self.id = ""
        self.call_id = ""
        self.whole = False
        """Whether the vendor called it completed."""

    def add(self, raw: Json, out: Emitter) -> None:
        """The item begins; what it holds already may be preliminary."""

    def finish(self, raw: Json, out: Emitter) -> None:
        """The item as a whole; more than one call changes nothing."""

    def close(self, out: Emitter) -> None:
        """The answer is over."""


class SpokenItem(Item):
    """A message or a reasoning item: parts, each with a text. Servers mix the two up, so one reader does."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._parts: dict[tuple[str, int], Said] = {}
        self._thought: Said | None = None
        self._phase = ""
        self._kept = False

    def add(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        self._enter(raw, out)

    def stream(self, channel: str, event: Json, out: Emitter) -> None:
        """A piece of one of its texts."""
        part = self._part(channel, event)
        self._tell(channel, part, part.add(text(event, "delta")), out)

    def complete(self, channel: str, event: Json, out: Emitter) -> None:
        """One of its texts, whole."""
        self._reach(channel, self._part(channel, event), text(event, "text", "refusal"), out)

    def note(self, event: Json, out: Emitter) -> None:
        """A source of one of its texts."""
        annotation = event.get("annotation")
        if isinstance(annotation, dict):
            part = self._part("text", event)
            self.answer.cite(annotation, place(event, "annotation_index"), part, out)

    def finish(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        self._enter(raw, out)
        for name in ("summary", "content"):
            for index, part in enumerate(rows(raw, name)):
                self._finish_part(index, part, out)
        self.whole = self.whole or text(raw, "status") == "completed"
        if text(raw, "encrypted_content") and not self._kept:
            self._kept = True
            self.answer.keep_reasoning(raw, self._thought, out)

    def read_part(self, event: Json, part: Json, out: Emitter) -> None:
        """One part as a whole, in an event of its own."""
        self._finish_part(place(event, "content_index", "summary_index") or 0, part, out)

    def _enter(self, raw: Json, out: Emitter) -> None:
        phase = text(raw, "phase")
        if phase and not self._phase and not self._parts:
            self._phase = phase
            self.answer.enter_phase(phase, out)

    def _finish_part(self, index: int, raw: Json, out: Emitter) -> None:
        kind = text(raw, "type")
        channel = _CHANNEL_OF_PART.get(kind)
        if channel is None:
            out.warn("unknown_part", f"a part of type {excerpt(kind, 40)!r} was skipped")
            return
        part = self._parts.setdefault((channel, index), Said())
        self._reach(channel, part, text(raw, "text", "refusal"), out)
        for number, annotation in enumerate(rows(raw, "annotations")):
            self.answer.cite(annotation, number, part, out)

    def _part(self, channel: str, event: Json) -> Said:
        return self._parts.setdefault((channel, place(event, "content_index", "summary_index") or 0), Said())

    def _reach(self, channel: str, part: Said, whole: str, out: Emitter) -> None:
        rest = part.rest(whole)
        if rest is None:
            out.warn("text_differs", "the whole text of a part is not what its pieces said; the pieces stand")
        else:
            self._tell(channel, part, rest, out)
        if channel == "text":
            self.answer.finish_part(out)

    def _tell(self, channel: str, part: Said, words: str, out: Emitter) -> None:
        if not words:
            return
        if channel == "text":
            self.answer.say(part, words, out)
        elif channel == "refusal":
            self.answer.refuse(words, out)
        else:
            self._thought = part
            self.answer.think(part, words, out)
