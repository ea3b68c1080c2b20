"""Steps that speak: what the model thought, and what it answered.

A step begins, comes in pieces and is over; one that is told as a whole begins with everything. Must never put
the signature of one thought on another. Source: ai.google.dev/gemini-api/docs/interactions and /thinking
(read 2026-11-29).
"""

from motes.dialects.gemini_interactions import media
from motes.dialects.gemini_interactions.answer import Answer
from motes.dialects.gemini_interactions.citations import Places
from motes.dialects.gemini_interactions.fields import Json, inner, rows, text
from motes.kept_text import KeptText
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt


class Step:
    """One step. `open` until it is over."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.open = True

    def begin(self, raw: Json, out: Emitter) -> None:
        """It begins; what it holds already is told."""

    def piece(self, delta: Json, out: Emitter) -> None:
        """More of it."""

    def close(self, out: Emitter) -> None:
        """It is over; more than one call changes nothing."""
        if self.open:
            self.open = False
            self.end(out)

    def end(self, out: Emitter) -> None:
        """What is told only when it is over."""


class Thought(Step):
    """A block of reasoning: a summary and a signature, either of which may be missing."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._told = False
        self._signature = ""

    def begin(self, raw: Json, out: Emitter) -> None:
        """See `Step`."""
        summary = raw.get("summary")
        if isinstance(summary, str):
            self._think(summary, out)
        for part in rows(raw, "summary", "content"):
            self._part(part, out)
        self._signature = text(raw, "signature")

    def piece(self, delta: Json, out: Emitter) -> None:
        """See `Step`."""
        self._signature = text(delta, "signature") or self._signature
        content = inner(delta, "content")
        if content:
            self._part(content, out)
        else:
            self._think(text(delta, "text", "content"), out)

    def end(self, out: Emitter) -> None:
        """See `Step`."""
        if self._signature:
            if not self._told:
                self._open_block("", out)
            out.reasoning_signature(self._signature)

    def _part(self, part: Json, out: Emitter) -> None:
        if text(part, "type") == "image":
            found = media.particle("image", part, draft=True)
            if found is not None:
                out.add(found)
            return
        self._think(text(part, "text"), out)

    def _think(self, words: str, out: Emitter) -> None:
        if words and self._told:
            out.reasoning(words)
        elif words:
            self._open_block(words, out)

    def _open_block(self, words: str, out: Emitter) -> None:
        self._told = True
        out.reasoning(words, restart=self.answer.thoughts > 0)
        self.answer.thoughts += 1


class Block:
    """A run of text, with the sources that stand in it."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._start = answer.spoken
        self._words = KeptText()
        self._notes: list[Json] = []

    def add(self, part: Json, out: Emitter) -> None:
        """More text, more sources, or both."""
        words = text(part, "text")
        if words:
            self._words.add(words)
            self._answer.say(words, out)
        self._notes += rows(part, "annotations") or [note for note in [inner(part, "annotation")] if note]

    def close(self, out: Emitter) -> None:
        """The text is whole, so that places in it can be counted."""
        if self._notes:
            places = Places(self._words.whole(), self._start)
            for note in self._notes:
                self._answer.cite(note, places, out)


class Output(Step):
    """What the model answered: text and media."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._block: Block | None = None
        self._sound = media.Sound()

    def begin(self, raw: Json, out: Emitter) -> None:
        """See `Step`."""
        self.answer.step_error = inner(raw, "error") or self.answer.step_error
        for part in rows(raw, "content"):
            self.end(out)
            self.piece(part, out)

    def piece(self, delta: Json, out: Emitter) -> None:
        """See `Step`."""
        kind = text(delta, "type")
        if kind == "audio":
            self._close_text(out)
            self._sound.add(delta, out)
        elif kind in media.KINDS:
            self.end(out)
            found = media.particle(kind, delta)
            if found is not None:
                out.add(found)
        elif kind in ("text", "") or kind.startswith(("text_annotation", "annotation")):
            self._sound.close(out)
            self._block = self._block or Block(self.answer)
            self._block.add(delta, out)
        else:
            out.warn("unknown_content", f"a content of type {excerpt(kind, 40)!r} was skipped")

    def end(self, out: Emitter) -> None:
        """See `Step`."""
        self._close_text(out)
        self._sound.close(out)

    def _close_text(self, out: Emitter) -> None:
        block, self._block = self._block, None
        if block is not None:
            block.close(out)
