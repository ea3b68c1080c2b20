"""The one way from a dialect's grammar to particles.

A parser talks to an `Emitter` and never sees queue, clock, log or socket; the `Transmitter` behind it
queues particles for the executor and settles what every vendor gets wrong alike: characters cut in half
between deltas, tool calls without id or arguments, ids used twice, a `stop` that hides tool calls.
Must never raise for what a vendor sends, and never branch on a vendor.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from motes import particles as p
from motes.dataclass import dataclass
from motes.emitter import Emitter, Verse
from motes.errors import VendorError
from motes.jsontext import mend_surrogates
from motes.particles import Text
from motes.thinktags import ThinkTags

__all__ = ["Continue", "Emitter", "Retry", "Transmitter", "Verdict"]


@dataclass(frozen=True, slots=True)
class Retry:
    """The upstream failed in a way another attempt may mend, and nothing visible was said yet."""

    error: VendorError


@dataclass(frozen=True, slots=True)
class Continue:
    """The upstream paused: send the same request again with `patch` laid over its JSON body.

    `motes.continuation.continued` lays it: a member `messages+` is appended to the body's `messages` (and
    merged into a last turn of the same role), any other member replaces the body's; text over an object
    replaces the object's `id` only.
    """

    patch: Mapping[str, Any]
    reason: str


Verdict: TypeAlias = p.End | Retry | Continue

_new: Final = object.__new__
_set_text: Final[Callable[[Text, str], None]] = Text.__dict__["text"].__set__


class Transmitter:
    """Parser calls in, particles out; the first verdict wins and nothing is said after it."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self.verdict: Verdict | None = None
        self.text_length = 0
        """Characters of answer text queued in this attempt."""
        self.stopped: p.StopReason | None = None
        self.latest_verse: tuple[str, Verse] | None = None
        """The latest event, if it was words and nothing else; whoever reads the next one clears it."""
        self.warnings: dict[str, int] = {}
        self.failed_with: p.Issue | None = None
        """What ended this attempt, where it failed."""
        self.upstream_handle: p.UpstreamHandle | None = None
        """Where the run lives on at the vendor, as told last."""
        self._new_id = new_id
        self.words = ""
        """A piece of text that was said first since the last drain: of most reads all there is, and then no
        particle has to be made of it.
        """
        self.queue: list[p.Particle] = []
        """The particles queued behind it."""
        self._halves: dict[tuple[str, str], str] = {}
        self._tags: ThinkTags | None = None
        self._calls: dict[str, bool] = {}
        self._latest_call: str | None = None
        self._call_at = -1
        """How long the text was when the latest particle was queued, where that was of a call."""
        self._has_shown = False
        """Whether a visible particle was queued before any text."""
        self._native: str | None = None
        self._detail: str | None = None
        self._counts: dict[str, Any] = {}
        self._tell_counts: Callable[[], None] | None = None
        self._sent_counts: dict[str, Any] | None = None
        self._known: set[tuple[str, str]] = set()
        self._has_response_id = False

    # What a parser says.

    def text(self, text: str) -> None:
        """See `Emitter`."""
        if self._halves or not text.isascii():
            text = self._join("text", "", text)
        if text and self.verdict is None:
            # As `_put` does it, in fewer steps: this is what most events come to.
            self.text_length += len(text)
            if self.words or self.queue:
                # As `Text(text)` makes it, without a frame for its `__init__`.
                words = _new(Text)
                _set_text(words, text)
                self.queue.append(words)
            else:
                self.words = text

    def tagged_text(self, text: str) -> bool:
        """See `Emitter`."""
        if self._tags is None:
            self._tags = ThinkTags()
        if self._tags.passes(text):
            self.text(text)
        else:
            self._put_pieces(self._tags.feed(text))
        return not self._tags.is_over

    def reasoning(self, text: str, *, restart: bool = False) -> None:
        """See `Emitter`."""
        whole = self._join("reasoning", "", text)
        if whole or restart or not text:
            self._put(p.Reasoning(whole, restart=restart))

    def plan(self, text: str) -> None:
        """See `Emitter`."""
        if whole := self._join("plan", "", text):
            self._put(p.Reasoning(whole, weak="plan"))

    def reasoning_signature(self, signature: str) -> None:
        """See `Emitter`."""
        self._put(p.ReasoningSignature(signature))

    def reasoning_redacted(self, data: str) -> None:
        """See `Emitter`."""
        self._put(p.ReasoningRedacted(data))

    def refusal(self, text: str) -> None:
        """See `Emitter`."""
        whole = self._join("refusal", "", text)
        if whole:
            self._put(p.Refusal(whole))

    def tool_call(self, id: str | None, name: str, arguments: str | None = None) -> str:
        """See `Emitter`."""
        if not id or id in self._calls:
            id = self._new_id()
        whole = self._join("arguments", id, arguments or "")
        self._calls[id] = bool(whole.strip())
        self._latest_call = id
        self._put(p.ToolCall(id, name or "unknown_function", whole or None))
        self._call_at = self.text_length
        return id

    def tool_call_arguments(self, arguments: str, id: str | None = None) -> None:
        """See `Emitter`."""
        id = id or self._latest_call
        if id is None or id not in self._calls:
            self.warn("orphan_arguments", "argument text without a tool call was skipped")
            return
        whole = self._join("arguments", id, arguments)
        if whole:
            self._calls[id] = self._calls[id] or bool(whole.strip())
            self._put_arguments(id, whole)

    def usage(self, *, partial: bool = False, **tokens: float | None) -> None:
        """See `Emitter`."""
        known: dict[str, Any] = tokens
        if None in tokens.values():
            known = {name: value for name, value in tokens.items() if value is not None}
        if known:
            self._counts.update(known, source="partial" if partial else "measured")
        if self._sent_counts is None:
            # At once and not at the next drain: how the bytes were cut must not show in the particles.
            self._put_metrics()

    def counting(self, tell: Callable[[], None]) -> None:
        """See `Emitter`."""
        self._tell_counts = tell

    def model(self, name: str) -> None:
        """See `Emitter`."""
        if name and self._first_time("model", name):
            self._put(p.ModelName(name))

    def response_id(self, id: str) -> None:
        """See `Emitter`."""
        if id and not self._has_response_id:
            self._has_response_id = True
            self._put(p.ResponseId(id))

    def provider(self, label: str) -> None:
        """See `Emitter`."""
        if label and self._first_time("provider", label):
            self._put(p.ProviderInfra(label))

    def handle(self, handle: p.UpstreamHandle) -> None:
        """See `Emitter`."""
        if self.verdict is None:
            self.upstream_handle = handle
        self._put(p.HandleSet(handle))

    def add(self, particle: p.Particle) -> None:
        """See `Emitter`."""
        if isinstance(particle, p.CodeCall) and not particle.id:
            particle = replace(particle, id=self._new_id())
        self._put(particle)

    def warn(self, code: str, text: str) -> None:
        """See `Emitter`."""
        self.warnings[code] = self.warnings.get(code, 0) + 1
        if self.warnings[code] == 1:
            self._put(p.Warn(text, code))

    def stop(self, reason: p.StopReason, *, native: str | None = None, detail: str | None = None) -> None:
        """See `Emitter`."""
        self.stopped = reason
        self._native = native or self._native
        self._detail = detail or self._detail

    def done(self) -> None:
        """See `Emitter`."""
        if self.stopped is None:
            self.stopped = "ok"
            self.warn("no_finish_reason", "the stream ended in good order without a finish reason")
        self._finish("done-dialect", self.stopped)

    def issue(self, error: VendorError) -> None:
        """See `Emitter`."""
        if self.verdict is None and error.retryable and not self.said_anything:
            self.verdict = Retry(error)
            return
        self.fail("dialect-issue", error)

    def verse(self, words: str, verse: Verse) -> None:
        """See `Emitter`."""
        self.latest_verse = words, verse

    def resume(self, patch: Mapping[str, Any], reason: str) -> None:
        """See `Emitter`."""
        if self.verdict is None:
            self._flush_text()
            self._put_metrics()
            self.verdict = Continue(patch, reason)

    # What the executor says.

    def fail(self, phase: p.Phase, error: VendorError, reason: p.EndReason | None = None) -> None:
        """End this attempt with an issue; what came before it is kept.

        The one stop reason that stands beside an issue is `cg-issue`: the vendor itself ended it that way.
        """
        if isinstance(self.verdict, p.End):
            return
        self.verdict = None
        self._flush_text()
        issue = self.failed_with = p.Issue(phase, error.message, error)
        self._put(issue)
        in_band = phase == "dialect-issue"
        stop: p.StopReason | None = "cg-issue" if self.stopped == "cg-issue" else None
        self._finish(reason or ("issue-dialect" if in_band else "issue-dispatch-rpc"), stop)

    def leave_paused(self) -> None:
        """Nobody continues a pause: what came is the answer, with the vendor's own word for its end."""
        if isinstance(self.verdict, Continue):
            self.verdict = None
            self.done()

    @property
    def said_anything(self) -> bool:
        """Whether a visible particle was queued in this attempt."""
        return self.text_length > 0 or self._has_shown

    def end(self) -> p.End | None:
        """The `End` of this attempt, where it has come to one."""
        return self.verdict if isinstance(self.verdict, p.End) else None

    def drain(self) -> list[p.Particle]:
        """The particles queued since the last drain, in order. `End` is not among them: see `end`."""
        queue, self.queue = self.queue, []
        if self.words:
            queue.insert(0, Text(self.words))
            self.words = ""
        return queue

    # How it is done.

    def _put(self, particle: p.Particle) -> None:
        if self.verdict is not None:
            return
        self._call_at = -1
        if not self._has_shown and not self.text_length:
            self._has_shown = p.is_visible(particle)
        self.queue.append(particle)

    def _put_pieces(self, pieces: Iterator[tuple[str, str]]) -> None:
        for kind, piece in pieces:
            if kind == "text":
                self.text(piece)
            elif whole := self._join("reasoning", "", piece):
                self._put(p.Reasoning(whole, weak="tag"))

    def _put_arguments(self, id: str, arguments: str) -> None:
        in_place = self._call_at == self.text_length and id == self._latest_call
        self._put(p.ToolCallArguments(arguments, None if in_place else id))
        self._call_at = self.text_length

    def _put_metrics(self) -> None:
        if self._tell_counts is not None:
            tell, self._tell_counts = self._tell_counts, None
            tell()
        if self._counts and self._counts != self._sent_counts:
            self._sent_counts = self._counts.copy()
            self._put(p.Metrics(**self._counts))

    def _first_time(self, what: str, value: str) -> bool:
        if (what, value) in self._known:
            return False
        self._known.add((what, value))
        return True

    def _join(self, channel: str, key: str, text: str) -> str:
        """Keep the first half of a character until the second comes; UTF-8 cannot carry half of one."""
        slot = (channel, key)
        held = self._halves.pop(slot, "") if self._halves else ""
        if not held and text.isascii():
            return text
        whole = held + text
        if whole and "\ud800" <= whole[-1] <= "\udbff":
            self._halves[slot], whole = whole[-1], whole[:-1]
        try:
            whole.encode()
        except UnicodeEncodeError:
            return mend_surrogates(whole)
        return whole

    def _flush_text(self) -> None:
        """Give what is held back: an unfinished tag, the first half of a character as U+FFFD."""
        if self._tags is not None and not self._tags.is_over:
            self._put_pieces(self._tags.close())
        if not self._halves:
            return
        halves, self._halves = self._halves, {}
        for channel, key in halves:
            if channel == "text":
                self._put(p.Text("\ufffd"))
            elif channel in ("reasoning", "plan"):
                self._put(p.Reasoning("\ufffd", weak="plan" if channel == "plan" else None))
            elif channel == "refusal":
                self._put(p.Refusal("\ufffd"))
            else:
                self._put_arguments(key, "\ufffd")

    def _finish(self, reason: p.EndReason, stop: p.StopReason | None) -> None:
        if self.verdict is not None:
            return
        self._flush_text()
        if self._calls and stop not in (None, "out-of-tokens", "cg-issue"):
            # A call cut by the token limit stays as it is; any other call without arguments has none.
            for id in [id for id, begun in self._calls.items() if not begun]:
                self._put_arguments(id, "{}")
        if stop == "ok" and self._calls:
            stop = "ok-tool_invocations"
        self._put_metrics()
        self.verdict = p.End(reason, stop, self._detail, self._native)
