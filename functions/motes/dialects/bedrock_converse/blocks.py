"""The content blocks of an answer: what each says as it opens, grows and closes.

One class a kind of block, one object a block. The blocks of a whole body take the same way as streamed ones:
opened, fed with deltas, closed. Must never raise for what a block holds.
Source: Amazon Bedrock API reference, "ContentBlockStart", "ContentBlockDelta", "ReasoningContentBlockDelta"
(read 2026-11-29).
"""

from dataclasses import field
from typing import cast

from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.bedrock_converse import citations
from motes.dialects.bedrock_converse.events import Citation, Json, obj, text
from motes.dialects.bedrock_converse.media import joined, media
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt


@dataclass(slots=True)
class Answer:
    """What the blocks of one answer share."""

    think_tags: bool = False
    spoken: int = 0
    """Characters of answer text so far."""
    placeable: bool = True
    """Whether `spoken` is the place in the text a reader sees; think tags move it."""
    after_reasoning: bool = False
    operations: dict[str, p.Operation] = field(default_factory=dict)

    def say(self, words: str, out: Emitter) -> None:
        """More answer text."""
        if not words:
            return
        if self.think_tags:
            if not self.spoken and words.lstrip().startswith("<"):
                self.placeable = False
            self.think_tags = out.tagged_text(words)
        else:
            out.text(words)
        self.spoken += len(words)


class Block:
    """One block. `start` is what opened it, empty where nothing did."""

    reasons = False

    def __init__(self, start: Json, answer: Answer) -> None:
        self.start = start
        self.answer = answer
        self._closed = False

    def open(self, out: Emitter) -> None:
        """The block begins."""

    def grow(self, delta: Json, out: Emitter) -> None:
        """One delta: an object of one member, whose name is its kind."""
        if not self.collect(delta):
            names = excerpt(", ".join(delta), 40)
            out.warn("misplaced_delta", f"a delta of {names!r} in a block of another kind was skipped")

    def collect(self, delta: Json) -> bool | None:
        """Keep a delta of which nothing can be said yet. True where it is of this block's kind."""

    def close(self, out: Emitter) -> None:
        """The block is complete; more than one call changes nothing."""
        if not self._closed:
            self._closed = True
            self.finish(out)

    def finish(self, out: Emitter) -> None:
        """What can only be said of a complete block."""


class TextBlock(Block):
    """Answer text. Its citations, which may come before it, are told when it ends: they cover it all."""

    def __init__(self, start: Json, answer: Answer) -> None:
        super().__init__(start, answer)
        self._begin = answer.spoken
        self._citations: list[tuple[Citation, list[str]]] = []

    def grow(self, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        if "text" in delta:
            self.answer.say(text(delta["text"]), out)
        else:
            super().grow(delta, out)

    def collect(self, delta: Json) -> bool:
        """See `Block`."""
        citation = cast("Citation", obj(delta.get("citation")))
        words = citations.quoted(citation)
        if not citations.continues(citation):
            self._citations.append((citation, [words]))
        elif self._citations:
            self._citations[-1][1].append(words)
        return "citation" in delta

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        start, end = (self._begin, self.answer.spoken) if self.answer.placeable else (None, None)
        for citation, words in self._citations:
            out.add(citations.particle(citation, "".join(words), start, end))


class ReasoningBlock(Block):
    """Reasoning: its text as it comes, its signature or what of it is encrypted when it is whole."""

    reasons = True

    def __init__(self, start: Json, answer: Answer) -> None:
        super().__init__(start, answer)
        self._restart = answer.after_reasoning
        self._said = False
        self._signature = ""
        self._redacted: list[str] = []

    def grow(self, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        reasoning = obj(delta.get("reasoningContent"))
        if words := text(reasoning.get("text")):
            self._say(words, out)
        self._signature += text(reasoning.get("signature"))
        if data := text(reasoning.get("redactedContent")):
            self._redacted.append(data)

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        if self._signature:
            if not self._said:
                self._say("", out)
            out.reasoning_signature(self._signature)
        if self._redacted:
            out.reasoning_redacted(joined(self._redacted))

    def _say(self, words: str, out: Emitter) -> None:
        out.reasoning(words, restart=self._restart and not self._said)
        self._said = True


class MediaBlock(Block):
    """An image (in whole bodies also a clip or a video), whose bytes may come in pieces."""

    kind = "image"

    def __init__(self, start: Json, answer: Answer) -> None:
        super().__init__(start, answer)
        self._pieces: list[str] = []

    def grow(self, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        part = obj(delta.get(self.kind))
        source = obj(part.get("source"))
        if piece := text(source.get("bytes")):
            self._pieces.append(piece)
        elif address := text(obj(source.get("s3Location")).get("uri")):
            out.add(p.HostedResource("vnd.aws.s3", file_id=address))
        if message := text(obj(part.get("error")).get("message")):
            out.warn("media_failed", f"the {self.kind} could not be made: {excerpt(message, 200)}")

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        if self._pieces:
            out.add(media(self.kind, text(self.start.get("format")), joined(self._pieces)))


class AudioBlock(MediaBlock):
    """A clip."""

    kind = "audio"


class VideoBlock(MediaBlock):
    """A video."""

    kind = "video"
