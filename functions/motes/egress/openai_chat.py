"""Particles in, the bytes of one OpenAI chat-completion stream out.

The law of this wire, because real clients break on anything else: the role once and first; the same id,
created and model in every chunk; a tool call's id, name and type once, by a dense ordinal; no empty delta but
the finishing one; one finish reason of the closed set; nothing after `[DONE]`; a failure is an `error`
object and never looks like success. One encoder per response; pure, so `id` and `created` are arguments.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final

from orjson import dumps

from motes import jsontext
from motes import particles as p
from motes.egress.completion import completion
from motes.egress.failure import error_object
from motes.egress.finish import finish_reason
from motes.egress.places import Places
from motes.egress.reasoning import Delta, ReasoningTrack
from motes.egress.reply import (
    Facts,
    Reply,
    annotations,
    audio,
    extension,
    image,
    kept_rows,
    phase_entry,
    reasoning_item,
    signed_call,
    thought_signature,
    usage,
)
from motes.errors import VendorError
from motes.particles import Text
from motes.reassembly import add_metrics

__all__ = ["COMMENT", "DONE", "UNSAID", "ChunkEncoder", "completion"]

DONE: Final = b"data: [DONE]\n\n"
# One newline only: with two, several clients take the comment for an event of its own and fail on it.
COMMENT: Final = b": keepalive\n"
# What the vendor's own tools did has no part in a chat message that its signature could go back with.
_UNANSWERABLE: Final = (p.Operation, p.CodeCall, p.CodeResult)
_ROLE: Final = b'{"role":"assistant","content":""}'


class ChunkEncoder:
    """Feed it every particle of a run in order; each call gives the bytes to send, often none."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._facts = Facts()
        self._opened = False
        self._has_spoken = False
        self._closed = False
        self._goes_on = False
        """Whether the latest particle was a piece of text, and written."""
        self._envelope = {
            "id": reply.id,
            "object": "chat.completion.chunk",
            "created": reply.created,
            "model": reply.model,
        }
        self._head, self._tail = _frame(self._envelope, reply.include_usage)
        self._around_text = self._head + b'{"content":', b"}" + self._tail
        """Joined by a text it is a chunk, made at once and not in two sums."""
        self._reasoning = ReasoningTrack(reply)
        self._calls: dict[str, int] = {}
        self._latest_call: str | None = None
        self._last_part: p.Particle | None = None
        self._refused = False
        self._images = 0
        self._citations: list[p.Citation] = []
        self._places = Places()
        self._phase: p.VendorState | None = None
        self._issue: p.Issue | None = None
        self._earlier: p.Metrics | None = None

    def open(self) -> bytes:
        """The role chunk, once; call it when the response is committed."""
        if self._opened or self._closed:
            return b""
        self._opened = True
        return self._head + _ROLE + self._tail

    def encode(self, particle: p.Particle) -> bytes:
        """What one particle adds to the stream. After the `End` nothing is added any more."""
        if type(particle) is not Text:
            self._goes_on = False
        elif self._goes_on and particle.text:
            return self.words(particle.text)
        handler = _HANDLERS.get(type(particle))
        return b"" if handler is None or self._closed else handler(self, particle)

    def words(self, text: str) -> bytes:
        """What a piece of text adds that is not empty: this is what most events come to."""
        if not self._goes_on:
            return self.encode(Text(text))
        # Text behind text: nothing can stand between the two.
        self._places.length += len(text)
        try:
            # As `dump_bytes` does it, in a frame less.
            return dumps(text).join(self._around_text)
        except TypeError:
            return jsontext.dump_bytes(text).join(self._around_text)

    def texts(self, some: Sequence[p.Text]) -> Iterable[bytes]:
        """`encode` of each of some pieces of text, in fewer steps."""
        if len(some) == 1:
            return (self.encode(some[0]),)
        first = [] if self._goes_on else [self.encode(some[0])]
        rest = some[len(first) :]
        texts = [one.text for one in rest]
        if not self._goes_on or not all(texts):
            return chain(first, map(self.encode, rest))
        self._places.length += sum(map(len, texts))
        head, tail = self._around_text
        return chain(first, [head + text + tail for text in jsontext.dump_each(texts)])

    def keepalive(self) -> bytes:
        """What to send when nothing was sent for a while; only between events, so at any time."""
        if self._closed:
            return b""
        if self._reply.keepalive == "empty-delta":
            return self.open() or self._head + b"{}" + self._tail
        return COMMENT

    # What can be seen.

    def _on_text(self, particle: p.Text) -> bytes:
        text = particle.text
        if not text:
            return b""
        out = b""
        if type(self._last_part) is not p.Text or self._phase is not None:
            out = self._part(particle) + self._entered() + self.open()
        self._places.length += len(text)
        self._goes_on = True
        return out + jsontext.dump_bytes(text).join(self._around_text)

    def _on_refusal(self, particle: p.Refusal) -> bytes:
        if not particle.text:
            return b""
        self._refused = True
        return self._part(particle) + self._delta({"refusal": particle.text})

    def _on_reasoning(self, particle: p.Reasoning) -> bytes:
        self._last_part = particle
        return self._deltas(self._reasoning.text(particle))

    def _on_signature(self, particle: p.ReasoningSignature) -> bytes:
        self._last_part = particle
        self._reasoning.signature(particle.signature)
        return b""

    def _on_redacted(self, particle: p.ReasoningRedacted) -> bytes:
        self._last_part = particle
        return self._deltas(self._reasoning.parcel(particle.data))

    def _on_tool_call(self, particle: p.ToolCall) -> bytes:
        out = self._part(particle)
        index = len(self._calls)
        id = particle.id if particle.id not in self._calls else f"{particle.id}_{index}"
        self._calls[id] = index
        self._latest_call = id
        function = {"name": particle.name, "arguments": ""}
        first = {"index": index, "id": id, "type": "function", "function": function}
        return out + self._delta({"tool_calls": [first]}) + self._arguments(id, particle.arguments)

    def _on_arguments(self, particle: p.ToolCallArguments) -> bytes:
        return self._arguments(particle.id or self._latest_call, particle.arguments)

    def _arguments(self, id: str | None, arguments: str | None) -> bytes:
        if not arguments or id not in self._calls:
            return b""
        piece = {"index": self._calls[id], "function": {"arguments": arguments}}
        return self._delta({"tool_calls": [piece]})

    def _on_image(self, particle: p.Image) -> bytes:
        out = self._part(particle)
        if particle.partial:
            return out
        self._images += 1
        return out + self._delta({"images": [{"index": self._images - 1, **image(particle)}]})

    def _on_audio(self, particle: p.Audio) -> bytes:
        out = self._part(particle)
        if self._facts.clips:
            self._facts.clips += 1
            return out
        self._facts.clips = 1
        return out + self._delta({"audio": audio(particle, self._reply)})

    def _on_citation(self, particle: p.Citation) -> bytes:
        if not particle.url:
            self._facts.documents.append(particle)
        else:
            self._citations.append(particle)
        return self._part(particle)

    def _entered(self) -> bytes:
        """The phase that the text which begins now was announced to be."""
        phase, self._phase = self._phase, None
        entry = phase_entry(phase.vendor, phase.state, self._places.here) if phase else None
        return self._deltas(self._reasoning.kept(entry)) if entry else b""

    def _on_state(self, particle: p.VendorState) -> bytes:
        item = reasoning_item(particle.vendor, particle.state)
        if item is not None:
            return self._deltas(self._reasoning.kept(item))
        if phase_entry(particle.vendor, particle.state, 0) is not None:
            self._phase = particle
            return b""
        return self._on_other_state(particle)

    def _on_other_state(self, particle: p.VendorState) -> bytes:
        if particle.vendor == "openrouter":
            self._facts.files = kept_rows(particle.state, "annotations")
            rows = kept_rows(particle.state, "reasoning_details")
            return self._deltas(self._reasoning.details(rows)) if rows else b""
        signature = thought_signature(particle.state) if particle.vendor == "gemini" else None
        if signature is None or isinstance(self._last_part, _UNANSWERABLE):
            return b""
        call_id = self._latest_call if isinstance(self._last_part, p.ToolCall) else None
        out = self._deltas(self._reasoning.call_signature(signature, call_id))
        if call_id is None:
            return out
        # Clients of Google's own compatible endpoint look for it on the call.
        signed = signed_call({"index": self._calls[call_id], "function": {"arguments": ""}}, signature)
        return out + self._delta({"tool_calls": [signed]})

    def _part(self, particle: p.Particle) -> bytes:
        """A part that is no reasoning begins or goes on."""
        self._last_part = particle
        return self._deltas(self._reasoning.leave())

    # What is kept for the end.

    def _on_metrics(self, particle: p.Metrics) -> bytes:
        self._facts.metrics = add_metrics(self._earlier, particle) if self._earlier else particle
        return b""

    def _on_note(self, _: p.Note) -> bytes:
        # A paused answer goes on: its next counts start anew.
        self._earlier = self._facts.metrics
        return b""

    def _on_reset(self, particle: p.RetryReset) -> bytes:
        self._facts.attempts += particle.delay_ms >= 0
        if particle.clear != "all" or not self._has_spoken:
            return b""
        # The answer begins anew, and what was written cannot be taken back.
        message = "the vendor's copy of the answer is not what was told so far; ask for the whole of it again"
        error = VendorError(message=message, kind="stream_truncated", code="stream_reset", retryable=True)
        self._closed = True
        return _event(error_object(p.Issue("dispatch-read", message, error))) + DONE

    def _on_model(self, particle: p.ModelName) -> bytes:
        self._facts.model = particle.name
        return b""

    def _on_response_id(self, particle: p.ResponseId) -> bytes:
        self._facts.response_id = self._facts.response_id or particle.id
        return b""

    def _on_provider(self, particle: p.ProviderInfra) -> bytes:
        self._facts.provider = particle.label
        return b""

    def _on_warn(self, particle: p.Warn) -> bytes:
        self._facts.warnings.append(particle)
        return b""

    def _on_issue(self, particle: p.Issue) -> bytes:
        self._issue = particle
        return b""

    def _on_end(self, end: p.End) -> bytes:
        word = finish_reason(end, self._refused)
        out = _event(error_object(self._issue)) if word is None else self._finished(end, word)
        self._closed = True
        return out + DONE

    def _finished(self, end: p.End, word: str) -> bytes:
        if word == "stop" and self._calls:
            word = "tool_calls"
        out = self.open() + self._deltas(self._reasoning.close())
        if self._citations and (found := annotations(map(self._places.moved, self._citations))):
            out += self._delta({"annotations": found})
        counts = usage(self._facts.metrics)
        choice = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": word}
        nothing = {"usage": None} if self._reply.include_usage else {}
        motes = extension(self._reply, self._facts, end)
        out += _event(self._envelope | {"choices": [choice]} | nothing | {"motes": motes})
        if self._reply.include_usage and counts:
            out += _event(self._envelope | {"choices": [], "usage": counts})
        return out

    def _deltas(self, deltas: Iterable[Delta]) -> bytes:
        """Deltas of the reasoning, which may write into the content."""
        out = b""
        for delta in deltas:
            self._places.inserted(len(delta.get("content", "")))
            out += self._delta(delta)
        return out

    def _delta(self, delta: Delta) -> bytes:
        self._has_spoken = True
        return self.open() + self._head + jsontext.dump_bytes(delta) + self._tail


def _frame(envelope: dict[str, Any], include_usage: bool) -> tuple[bytes, bytes]:
    """The bytes before and after a delta, the same for every chunk of a response but the last ones."""
    head = b"data: " + jsontext.dump_bytes(envelope)[:-1] + b',"choices":[{"index":0,"delta":'
    nothing = b',"usage":null' if include_usage else b""
    return head, b',"logprobs":null,"finish_reason":null}]' + nothing + b"}\n\n"


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + jsontext.dump_bytes(value) + b"\n\n"


_HANDLERS: Final[dict[type, Callable[[ChunkEncoder, Any], bytes]]] = {
    p.Text: ChunkEncoder._on_text,
    p.Refusal: ChunkEncoder._on_refusal,
    p.Reasoning: ChunkEncoder._on_reasoning,
    p.ReasoningSignature: ChunkEncoder._on_signature,
    p.ReasoningRedacted: ChunkEncoder._on_redacted,
    p.ToolCall: ChunkEncoder._on_tool_call,
    p.ToolCallArguments: ChunkEncoder._on_arguments,
    p.Image: ChunkEncoder._on_image,
    p.Audio: ChunkEncoder._on_audio,
    p.Citation: ChunkEncoder._on_citation,
    p.CodeCall: ChunkEncoder._part,
    p.CodeResult: ChunkEncoder._part,
    p.Video: ChunkEncoder._part,
    p.Operation: ChunkEncoder._part,
    p.HostedResource: ChunkEncoder._part,
    p.VendorState: ChunkEncoder._on_state,
    p.Metrics: ChunkEncoder._on_metrics,
    p.Note: ChunkEncoder._on_note,
    p.RetryReset: ChunkEncoder._on_reset,
    p.ModelName: ChunkEncoder._on_model,
    p.ResponseId: ChunkEncoder._on_response_id,
    p.ProviderInfra: ChunkEncoder._on_provider,
    p.Warn: ChunkEncoder._on_warn,
    p.Issue: ChunkEncoder._on_issue,
    p.End: ChunkEncoder._on_end,
}

UNSAID: Final = (
    p.Heartbeat,
    p.HandleSet,
    p.DebugRequest,
    p.DebugProfiler,
    p.Unknown,
)
"""Particles that have no words on this wire; with `_HANDLERS` they are all there are."""
