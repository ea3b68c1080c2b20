"""The content blocks of an answer: what each says as it opens, grows and closes, and how it is sent back.

One class a kind of block, one object a block. Streamed blocks and those of a whole body take the same way:
opened, fed with what deltas there are, closed. `replay` gives the block as the vendor wants it in a
continuation: signatures and encrypted parcels verbatim, inputs as objects, nothing blank. Must never raise
for what a block holds. Source: "Streaming Messages", "Extended thinking" and "Compaction"
(platform.claude.com/docs, read 2026-11-29).
"""

from dataclasses import field
from math import inf
from typing import Any, Final

from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.anthropic_messages.citations import citation
from motes.dialects.anthropic_messages.events import Json, obj, objects, text
from motes.kept_text import KeptText
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

_LONGEST_UNPAUSED: Final = 64 * 1024
"""Characters of a text before any tool of the vendor's; one that is longer is not kept for a continuation."""
_SUMMARY: Final = ("content", "encrypted_content")


@dataclass(slots=True)
class Answer:
    """What the blocks of one answer share."""

    think_tags: bool = False
    container: str | None = None
    spoken: int = 0
    """Characters of answer text so far."""
    placeable: bool = True
    """Whether `spoken` is the place in the text a reader sees; think tags move it."""
    after_reasoning: bool = False
    has_pausable: bool = False
    """Whether there was a block of a kind at which the vendor may pause: its own tools', mostly."""
    operations: dict[str, p.Operation] = field(default_factory=dict)
    _state: dict[str, Any] = field(default_factory=dict)

    def say(self, words: str, out: Emitter) -> None:
        """More answer text."""
        if self.think_tags:
            if not self.spoken and words.lstrip().startswith("<"):
                self.placeable = False
            self.think_tags = out.tagged_text(words)
        else:
            out.text(words)
        self.spoken += len(words)

    def keep(self, name: str, value: Json, out: Emitter) -> None:
        """Opaque state for the next turn; told whole each time, as a later one replaces an earlier one."""
        if value and self._state.get(name) != value:
            self._state[name] = value
            out.add(p.VendorState("anthropic", dict(self._state)))

    def hold(self, container: object, out: Emitter) -> None:
        """The container the vendor runs code in, where an event names one."""
        found = obj(container)
        if not found:
            return
        self.container = text(found.get("id")) or self.container
        if self.container:
            expires = text(found.get("expires_at")) or None
            self.keep("container", {"id": self.container, "expiresAt": expires}, out)


class Block:
    """A block of a kind that has nothing to say; kept to be sent back as it came."""

    reasons = False
    pauses = True
    """Whether the vendor may pause an answer that has one."""
    is_lost = False
    """Whether it was too long to be kept, and cannot be sent back."""

    def __init__(self, raw: Json, answer: Answer) -> None:
        self.raw = raw
        self.answer = answer
        self._closed = False

    def open(self, out: Emitter) -> None:
        """The block begins; it may be whole already."""

    def grow(self, kind: str, delta: Json, out: Emitter) -> None:
        """One delta."""
        if kind == "text_delta":
            self.answer.say(text(delta.get("text")), out)
            return
        out.warn("unknown_delta", f"a delta of type {excerpt(kind, 40)!r} was skipped")

    def close(self, out: Emitter) -> None:
        """The block is complete; more than one call changes nothing."""
        if not self._closed:
            self._closed = True
            self.finish(out)

    def finish(self, out: Emitter) -> None:
        """What can only be said of a complete block."""

    def replay(self) -> dict[str, Any] | None:
        """The block to send back, or None where the vendor would refuse it."""
        return dict(self.raw)


class TextBlock(Block):
    """Answer text. Its citations are told when it ends: only then is their place in the text known.

    It is kept for a continuation, as long as there may be one: an answer that the vendor has used no tool of
    its own for is not paused.
    """

    pauses = False

    def __init__(self, raw: Json, answer: Answer) -> None:
        super().__init__(raw, answer)
        self._start = answer.spoken
        self._words = KeptText(most=inf if answer.has_pausable else _LONGEST_UNPAUSED)
        self._citations = objects(raw.get("citations"))

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        self.say(text(self.raw.get("text")), out)

    def grow(self, kind: str, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        if kind == "text_delta":
            self.say(text(delta.get("text")), out)
        elif kind == "citations_delta":
            self._citations.append(obj(delta.get("citation")))
        else:
            super().grow(kind, delta, out)

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        place = (self._start, self.answer.spoken) if self.answer.placeable else (None, None)
        for raw in self._citations:
            if raw:
                out.add(citation(raw, *place))

    def replay(self) -> dict[str, Any] | None:
        """See `Block`."""
        words = self._words.whole()
        if not words.strip():
            return None
        cited = {"citations": self._citations} if self._citations else {}
        return {"type": "text", "text": words, **cited}

    @property
    def is_lost(self) -> bool:  # type: ignore[override]
        """See `Block`."""
        return self._words.is_lost

    def say(self, words: str, out: Emitter) -> None:
        """More of the text."""
        if words:
            self._words.add(words)
            self.answer.say(words, out)

    def again(self, words: str, padding: bytes, out: Emitter) -> None:
        """More of the text, as it mostly comes. See `Verse`."""
        if padding and padding.strip(b" "):
            raise ValueError("no padding")
        self._words.add(words)
        self.answer.say(words, out)


class ThinkingBlock(Block):
    """Reasoning with its signature, which may come at either end and belongs behind the text."""

    reasons = True
    pauses = False

    def __init__(self, raw: Json, answer: Answer) -> None:
        super().__init__(raw, answer)
        self._words = KeptText()
        self._signature = text(raw.get("signature"))

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        words = text(self.raw.get("thinking"))
        self._words.add(words)
        out.reasoning(words, restart=self.answer.after_reasoning)

    def grow(self, kind: str, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        if kind == "thinking_delta":
            if words := text(delta.get("thinking")):
                self._words.add(words)
                out.reasoning(words)
        elif kind == "signature_delta":
            self._signature = text(delta.get("signature")) or self._signature
        else:
            super().grow(kind, delta, out)

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        if self._signature:
            out.reasoning_signature(self._signature)

    def replay(self) -> dict[str, Any] | None:
        """See `Block`."""
        if not self._signature:
            return None
        return {"type": "thinking", "thinking": self._words.whole(), "signature": self._signature}


class RedactedBlock(Block):
    """Reasoning the vendor encrypted."""

    reasons = True
    pauses = False

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        if data := text(self.raw.get("data")):
            out.reasoning_redacted(data)


class CompactionBlock(Block):
    """A summary that stands for the earlier conversation; the next turn must send it back."""

    def __init__(self, raw: Json, answer: Answer) -> None:
        super().__init__(raw, answer)
        self._parts = dict(raw)

    def grow(self, kind: str, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        if kind != "compaction_delta":
            super().grow(kind, delta, out)
            return
        self._parts |= {name: delta[name] for name in _SUMMARY if text(delta.get(name))}

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        parts = {name: self._parts[name] for name in _SUMMARY if text(self._parts.get(name))}
        self.answer.keep("compaction", parts, out)

    def replay(self) -> dict[str, Any] | None:
        """See `Block`."""
        return self._parts


class UnknownBlock(Block):
    """A block of a kind that is not known yet: counted, kept for a continuation, not shown."""

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        kind = excerpt(text(self.raw.get("type")), 40)
        out.warn("unknown_block", f"a content block of type {kind!r} was skipped")
