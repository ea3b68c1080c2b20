"""Reads the answers of chat-completions upstreams: streamed chunks, or one whole body.

Every vendor's variant goes through the same lines; a member that is missing, null or of another type says
nothing. Must never raise but for an event that is no JSON object, and never call an answer complete
without a finish reason, `[DONE]`, or the whole body of an answer that is not streamed.

Sources: OpenAI API reference, "Chat completion chunk object", and the references named in `events`
(read 2026-11-29).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from motes import jsontext, vendor_errors
from motes import particles as p
from motes.demux.base import WireEvent
from motes.dialects.openai_chat.calls import SIGNATURE, ToolCalls, thought_signature
from motes.dialects.openai_chat.content import Piece, pieces_of, url_of
from motes.dialects.openai_chat.failures import failure_in
from motes.dialects.openai_chat.fields import NOTHING, inner, rows, text
from motes.dialects.openai_chat.finish import failure_of, stop_of
from motes.dialects.openai_chat.frames import DONE, IDLE, chunks_in, first_choice, json_or_text, plain_text
from motes.dialects.openai_chat.media import Speech, picture
from motes.dialects.openai_chat.said import Cumulative, Either, Said
from motes.dialects.openai_chat.sources import Sources
from motes.dialects.openai_chat.thoughts import FIELDS, Details, Thought, thoughts_of
from motes.dialects.openai_chat.usage import Counts, counts_of, inference_cost, usages_in
from motes.emitter import Emitter, Verse
from motes.errors import VendorError
from motes.quirks import Quirks

_LONGEST_DONE: Final = 64
_UNSAID: Final = ("", "null")
# Most deltas have no other members: there is no need to look for any.
_SPOKEN: Final = frozenset({"role", "content", "refusal", "reasoning_details", *FIELDS})

# Letters that hide how long the words are.
_OBFUSCATION: Final = re.compile(rb'"obfuscation": *"([A-Za-z0-9]*)"')

_CHANNELS: Final[Mapping[str, type[Said]]] = {"increment": Said, "cumulative": Cumulative, "either": Either}


class ChatParser:
    """One answer of one upstream."""

    def __init__(self, quirks: Quirks) -> None:
        self._tagged = quirks.think_tags
        self._reasoning_inside = quirks.reasoning_in_completion
        self._error_kinds = quirks.error_kinds
        channel = _CHANNELS[quirks.delta_mode]
        self._text = channel()
        self._thought = channel()
        self._by_delta = False
        self._calls = ToolCalls()
        self._details = Details()
        self._sources = Sources()
        self._speech = Speech()
        self._pictures: set[str] = set()
        self._refused = False
        self._named = False
        self._identified = False
        """Whether model and id were told, so that a chunk that repeats them says nothing."""
        self._stopped: p.StopReason | None = None
        self._chunks = 0
        self._whole_body = False

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """Say what one event means. Raises ValueError for what is no JSON object."""
        data = event.data
        if len(data) < _LONGEST_DONE and data.strip() == DONE:
            # Alone it ends nothing: there must have been an answer.
            if self._chunks:
                self._close(out)
                out.done()
        elif event.name == "error":
            self._fail(vendor_errors.from_body(json_or_text(event.data)), out)
        elif event.name not in IDLE:
            value = jsontext.loads(data)
            if self._identified and (words := plain_text(value)):
                self._chunks += 1
                self._by_delta = True
                self._again(words, b"", out)
                out.verse(words, Verse(plain_text, self._again, _OBFUSCATION))
                return
            for chunk in (value,) if type(value) is dict else chunks_in(value):
                self._on_chunk(chunk, out)

    def eof(self, out: Emitter) -> None:
        """A whole body needs no terminator: that its JSON is complete is the evidence."""
        if self._stopped is None and self._chunks == 1 and self._whole_body:
            out.warn("no_finish_reason", "the whole answer came without a finish reason")
            self._stop("ok", None, out)
        if self._stopped is not None:
            self._close(out)

    def _again(self, words: str, obfuscation: bytes, out: Emitter) -> None:
        """A chunk of text and nothing else, as most are. See `Verse`."""
        if obfuscation and not obfuscation.isalnum():
            raise ValueError("no obfuscation")
        news = self._text.news(words)
        if self._tagged:
            self._say(news, out)
        elif news:
            out.text(news)

    def _on_chunk(self, chunk: Mapping[str, Any], out: Emitter) -> None:
        self._chunks += 1
        if "type" in chunk and text(chunk, "type") in IDLE:
            return
        choice = first_choice(chunk)
        self._on_identity(chunk, out)
        self._on_usage(chunk, choice, out)
        self._sources.read(chunk, out)
        self._on_choice(choice, chunk, out)
        failure = failure_in(chunk, choice)
        if failure is not None:
            self._fail(failure, out)
        else:
            self._on_finish(choice, out)

    def _on_identity(self, chunk: Mapping[str, Any], out: Emitter) -> None:
        if not self._identified:
            model, id = text(chunk, "model"), text(chunk, "id")
            if model and not self._named:
                self._named = True
                out.model(model)
            out.response_id(id)
            self._identified = bool(id and self._named)
        if "provider" in chunk:
            out.provider(text(chunk, "provider"))

    def _on_usage(self, chunk: Mapping[str, Any], choice: Mapping[str, Any], out: Emitter) -> None:
        for usage in usages_in(chunk, choice):
            self._count(counts_of(usage, reasoning_inside=self._reasoning_inside), out)
        if chunk.get("x-opencode-type") == "inference-cost":
            self._count(inference_cost(chunk), out)

    def _count(self, counts: Counts, out: Emitter) -> None:
        if (counts["tokens_in"] or 0) < 0:
            out.warn("odd_usage", "the vendor counts more cached tokens than prompt tokens")
        half = counts["tokens_in"] is None or counts["tokens_out"] is None
        if not half or any(value is not None for value in counts.values()):
            out.usage(partial=half, **counts)

    def _on_choice(self, choice: Mapping[str, Any], chunk: Mapping[str, Any], out: Emitter) -> None:
        delta = inner(choice, "delta")
        message = inner(choice, "message") if "message" in choice else NOTHING
        if any(delta.values()) and any(value for key, value in delta.items() if key != "role"):
            self._by_delta = True
            self._on_delta(delta, out)
        elif message and (self._text or self._thought or self._calls):
            self._on_repeated(message, out)
        elif message:
            self._whole_body = text(chunk, "object") != "chat.completion.chunk" and "delta" not in choice
            self._on_delta(message, out)

    def _on_delta(self, delta: Mapping[str, Any], out: Emitter) -> None:
        """What a delta adds, or what a whole message holds; reasoning before everything else."""
        self._on_thoughts(delta, out)
        if "executed_tools" in delta:
            self._sources.run(delta, out)
        for piece in pieces_of(delta.get("content")):
            self._on_piece(piece, out)
        self._on_refusal(text(delta, "refusal"), out)
        if not _SPOKEN.issuperset(delta):
            self._calls.read(rows(delta, "tool_calls"), out)
            self._calls.read_legacy(inner(delta, "function_call"), out)
            self._on_attachments(delta, out)

    def _on_attachments(self, delta: Mapping[str, Any], out: Emitter) -> None:
        for row in rows(delta, "images"):
            self._on_picture(url_of(row), out)
        if self._speech.add(inner(delta, "audio")):
            self._speak(out)
        self._sources.annotate(delta, out)
        signature = thought_signature(delta)
        if signature:
            out.add(p.VendorState("gemini", {SIGNATURE: signature}))

    def _on_repeated(self, message: Mapping[str, Any], out: Emitter) -> None:
        """A message after other pieces: it repeats what deltas said, or it is the next piece itself."""
        thought = "".join(thought.text for thought in thoughts_of(message))
        answer = "".join(value for kind, value in pieces_of(message.get("content")) if kind == "text")
        self._think(self._thought.repeat(thought) if self._by_delta else self._thought.reach(thought), out)
        self._say(self._text.repeat(answer) if self._by_delta else self._text.reach(answer), out)
        if not self._calls:
            self._calls.read(rows(message, "tool_calls"), out)
            self._calls.read_legacy(inner(message, "function_call"), out)
        self._on_attachments(message, out)

    def _on_thoughts(self, delta: Mapping[str, Any], out: Emitter) -> None:
        self._details.keep(delta)
        for thought in thoughts_of(delta):
            self._on_thought(thought, out)

    def _on_thought(self, thought: Thought, out: Emitter) -> None:
        self._think(self._thought.news(thought.text), out)
        if thought.signature:
            out.reasoning_signature(thought.signature)
        if thought.encrypted:
            out.reasoning_redacted(thought.encrypted)

    def _on_piece(self, piece: Piece, out: Emitter) -> None:
        match piece:
            case "text", value:
                self._say(self._text.news(value), out)
            case "reasoning", value:
                self._think(self._thought.news(value), out)
            case "signature", value:
                if value:
                    out.reasoning_signature(value)
            case "refusal", value:
                self._on_refusal(value, out)
            case "image", value:
                self._on_picture(value, out)
            case "reference", value:
                self._sources.refer(value, out)
            case _, value:
                out.warn("unknown_part", f"a part of the content of type {value!r} was skipped")

    def _on_refusal(self, refusal: str, out: Emitter) -> None:
        if refusal:
            self._refused = True
            out.refusal(refusal)

    def _on_picture(self, url: str, out: Emitter) -> None:
        found = picture(url)
        if found is not None and url not in self._pictures:
            self._pictures.add(url)
            out.add(found)

    def _on_finish(self, choice: Mapping[str, Any], out: Emitter) -> None:
        word = choice.get("finish_reason")
        if not isinstance(word, str) or word in _UNSAID:
            return
        failure = failure_of(word)
        if failure is not None:
            out.issue(failure)
            return
        reason = stop_of(word)
        if reason is None:
            out.warn("unknown_finish_reason", f"the finish reason {word[:40]!r} is not known")
        if text(choice, "moderation_hit_type"):
            reason = "filter-content"
        self._stop(reason or "ok", word, out)

    def _stop(self, reason: p.StopReason, word: str | None, out: Emitter) -> None:
        if reason == "ok" and self._stopped not in (None, "ok"):
            return
        self._stopped = reason
        out.stop("filter-refusal" if reason == "ok" and self._refused else reason, native=word)

    def _close(self, out: Emitter) -> None:
        """Everything was said: what waited for the end is told."""
        self._calls.close(out)
        self._speak(out)
        kept = {"reasoning_details": self._details.worth_keeping(), "annotations": self._sources.files}
        state = {name: value for name, value in kept.items() if value}
        if state:
            out.add(p.VendorState("openrouter", state))
        if self._refused and self._stopped is None:
            out.stop("filter-refusal")

    # How it is said.

    def _fail(self, error: VendorError, out: Emitter) -> None:
        out.issue(vendor_errors.recoded(error, self._error_kinds))

    def _say(self, value: str, out: Emitter) -> None:
        if value and self._tagged:
            self._tagged = out.tagged_text(value)
        elif value:
            out.text(value)

    def _think(self, value: str, out: Emitter) -> None:
        if value:
            # Reasoning that comes apart needs no tags; text that has begun goes on as it began.
            self._tagged = self._tagged and bool(self._text)
            out.reasoning(value)

    def _speak(self, out: Emitter) -> None:
        clip = self._speech.take()
        if clip is not None:
            out.add(clip)
