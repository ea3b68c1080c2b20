"""Particles in, one message out.

`finalize()` is the only place that decides how a run ended. Must never raise for what it is fed: a
particle it cannot place is kept or counted.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from motes import particles as p
from motes.fragments import (
    CitationFragment,
    CodeFragment,
    Fragment,
    MediaFragment,
    Message,
    OperationFragment,
    ReasoningFragment,
    RefusalFragment,
    ResourceFragment,
    TextFragment,
    ToolCallFragment,
)

# Where the state belongs: to the fragment it follows, or to the message as a whole.
_FRAGMENT_STATES: Final = frozenset({"gemini", "openai", "xai"})
_REASONING_ITEM: Final = "reasoningItem"
_PHASE: Final = "messagePhase"


_Growing = TextFragment | RefusalFragment | ReasoningFragment | ToolCallFragment


class Reassembler:
    """Feed it every particle of a run in order; `message` grows live."""

    def __init__(self) -> None:
        self._message = Message()
        # What open fragments gained: joined once, since text that is added to text is copied every time.
        self._gained: dict[int, tuple[_Growing, list[str]]] = {}
        self._calls: dict[str | None, ToolCallFragment] = {}
        self._checkpoint: list[Fragment] = []
        self._phase: p.VendorState | None = None
        self._earlier: p.Metrics | None = None

    @property
    def message(self) -> Message:
        """The message as far as it came."""
        for fragment, pieces in self._gained.values():
            if isinstance(fragment, ToolCallFragment):
                fragment.arguments += "".join(pieces)
            else:
                fragment.text += "".join(pieces)
        self._gained.clear()
        return self._message

    @property
    def count(self) -> int:
        """How many fragments there are so far."""
        return len(self._message.fragments)

    def feed(self, particle: p.Particle) -> None:
        """Add one particle."""
        handler = _HANDLERS.get(type(particle))
        if handler is not None:
            handler(self, particle)

    def finalize(self) -> Message:
        """Decide the outcome, mark what stayed open, and give the message."""
        message = self.message
        if message.end is None:
            message.end = p.End("done-dispatch-closed")
        message.outcome = _outcome(message.end)
        for index, fragment in enumerate(message.fragments):
            if isinstance(fragment, OperationFragment) and fragment.operation.state is None:
                state: p.OperationState = "done" if message.outcome == "completed" else "error"
                message.fragments[index] = OperationFragment(
                    replace(fragment.operation, state=state), fragment.state
                )
        self._settle_calls(message)
        return message

    def _settle_calls(self, message: Message) -> None:
        """A failed turn hands over no call that may be half of one; the token limit keeps it raw."""
        whole = message.outcome == "completed" and message.end is not None
        for call in message.tool_calls:
            call.complete = whole
        if message.outcome != "completed":
            message.fragments = [f for f in message.fragments if not isinstance(f, ToolCallFragment)]

    @property
    def _last(self) -> Fragment | None:
        return self._message.fragments[-1] if self._message.fragments else None

    def _add(self, fragment: Fragment) -> None:
        self._message.fragments.append(fragment)

    def _grow(self, fragment: _Growing, piece: str) -> None:
        self._gained.setdefault(id(fragment), (fragment, []))[1].append(piece)

    def _on_text(self, particle: p.Text) -> None:
        if self._phase is not None and particle.text:
            state, self._phase = {self._phase.vendor: self._phase.state}, None
            self._add(TextFragment(particle.text, state))
        elif isinstance(self._last, TextFragment):
            self._grow(self._last, particle.text)
        elif particle.text:
            self._add(TextFragment(particle.text))

    def _on_refusal(self, particle: p.Refusal) -> None:
        if isinstance(self._last, RefusalFragment):
            self._grow(self._last, particle.text)
        elif particle.text:
            self._add(RefusalFragment(particle.text))

    def _on_reasoning(self, particle: p.Reasoning) -> None:
        last, is_plan = self._last, particle.weak == "plan"
        if (
            isinstance(last, ReasoningFragment)
            and last.signature is None
            and last.is_plan == is_plan
            and not particle.restart
        ):
            self._grow(last, particle.text)
        else:
            self._add(ReasoningFragment(particle.text, is_plan=is_plan))

    def _on_signature(self, particle: p.ReasoningSignature) -> None:
        if isinstance(self._last, ReasoningFragment):
            self._last.signature = particle.signature
        else:
            self._add(ReasoningFragment(signature=particle.signature))

    def _on_redacted(self, particle: p.ReasoningRedacted) -> None:
        last = self._last
        spoken = isinstance(last, ReasoningFragment) and (last.text or any(self._pieces(last)))
        if isinstance(last, ReasoningFragment) and not spoken and last.signature is None:
            last.redacted.append(particle.data)
        else:
            self._add(ReasoningFragment(redacted=[particle.data]))

    def _pieces(self, fragment: Fragment) -> list[str]:
        gained = self._gained.get(id(fragment))
        return gained[1] if gained else []

    def _on_tool_call(self, particle: p.ToolCall) -> None:
        call = ToolCallFragment(particle.id, particle.name, particle.arguments or "")
        self._calls[call.id] = self._calls[None] = call
        self._add(call)

    def _on_arguments(self, particle: p.ToolCallArguments) -> None:
        call = self._calls.get(particle.id)
        if call is not None:
            self._grow(call, particle.arguments)

    def _on_code_call(self, particle: p.CodeCall) -> None:
        self._add(CodeFragment(particle))

    def _on_code_result(self, particle: p.CodeResult) -> None:
        for fragment in reversed(self._message.fragments):
            if isinstance(fragment, CodeFragment) and fragment.call and fragment.call.id == particle.id:
                fragment.result = particle
                return
        self._add(CodeFragment(None, particle))

    def _on_media(self, particle: p.Image | p.Audio | p.Video) -> None:
        last = self._last
        if isinstance(last, MediaFragment) and isinstance(last.media, p.Image) and last.media.partial:
            self._message.fragments.pop()
        self._add(MediaFragment(particle))

    def _on_citation(self, particle: p.Citation) -> None:
        self._add(CitationFragment(particle))

    def _on_operation(self, particle: p.Operation) -> None:
        for fragment in self._message.fragments:
            if isinstance(fragment, OperationFragment) and fragment.operation.id == particle.id:
                fragment.operation = particle
                return
        self._add(OperationFragment(particle))

    def _on_resource(self, particle: p.HostedResource) -> None:
        self._add(ResourceFragment(particle))

    def _on_state(self, particle: p.VendorState) -> None:
        """Encrypted reasoning belongs to the fragment before it, a phase to the text that comes next."""
        members = particle.state if isinstance(particle.state, Mapping) else {}
        belongs = particle.vendor in _FRAGMENT_STATES or _REASONING_ITEM in members
        if _PHASE in members:
            self._phase = particle
        elif belongs and self._last is not None:
            self._last.state[particle.vendor] = particle.state
        else:
            self._message.vendor_state[particle.vendor] = particle.state

    def _on_note(self, _: p.Note) -> None:
        self._checkpoint = deepcopy(self.message.fragments)
        self._earlier, self.message.metrics = self.message.metrics, None

    def _on_reset(self, particle: p.RetryReset) -> None:
        # The attempt that named itself is dead; the next one has an id of its own.
        self.message.response_id = self._phase = None
        self.message.attempts += particle.delay_ms >= 0
        if particle.clear == "since-checkpoint":
            self.message.fragments = deepcopy(self._checkpoint)
        elif particle.clear == "all":
            self.message.fragments, self._checkpoint = [], []
            self.message.metrics = self._earlier = None
        self._calls = {}
        for call in self.message.tool_calls:
            self._calls[call.id] = self._calls[None] = call

    def _on_metrics(self, particle: p.Metrics) -> None:
        self._message.metrics = add_metrics(self._earlier, particle) if self._earlier else particle

    def _on_model(self, particle: p.ModelName) -> None:
        self._message.model = particle.name

    def _on_response_id(self, particle: p.ResponseId) -> None:
        self._message.response_id = self._message.response_id or particle.id

    def _on_provider(self, particle: p.ProviderInfra) -> None:
        self._message.provider = particle.label

    def _on_handle(self, particle: p.HandleSet) -> None:
        self._message.handle = particle.handle

    def _on_warn(self, particle: p.Warn) -> None:
        self._message.warnings.append(particle)

    def _on_issue(self, particle: p.Issue) -> None:
        self._message.issue = particle

    def _on_end(self, particle: p.End) -> None:
        self._message.end = particle

    def _on_unknown(self, particle: p.Unknown) -> None:
        self._message.unknown.append(particle)


_HANDLERS: Final[dict[type, Callable[[Reassembler, Any], None]]] = {
    p.Text: Reassembler._on_text,
    p.Refusal: Reassembler._on_refusal,
    p.Reasoning: Reassembler._on_reasoning,
    p.ReasoningSignature: Reassembler._on_signature,
    p.ReasoningRedacted: Reassembler._on_redacted,
    p.ToolCall: Reassembler._on_tool_call,
    p.ToolCallArguments: Reassembler._on_arguments,
    p.CodeCall: Reassembler._on_code_call,
    p.CodeResult: Reassembler._on_code_result,
    p.Image: Reassembler._on_media,
    p.Audio: Reassembler._on_media,
    p.Video: Reassembler._on_media,
    p.Citation: Reassembler._on_citation,
    p.Operation: Reassembler._on_operation,
    p.HostedResource: Reassembler._on_resource,
    p.VendorState: Reassembler._on_state,
    p.Note: Reassembler._on_note,
    p.RetryReset: Reassembler._on_reset,
    p.Metrics: Reassembler._on_metrics,
    p.ModelName: Reassembler._on_model,
    p.ResponseId: Reassembler._on_response_id,
    p.ProviderInfra: Reassembler._on_provider,
    p.HandleSet: Reassembler._on_handle,
    p.Warn: Reassembler._on_warn,
    p.Issue: Reassembler._on_issue,
    p.End: Reassembler._on_end,
    p.Unknown: Reassembler._on_unknown,
}

IGNORED: Final = (p.Heartbeat, p.DebugRequest, p.DebugProfiler)
"""Particles that say nothing about the message; with `_HANDLERS` they are all there are."""


def _outcome(end: p.End) -> str:
    if end.stop is not None and end.reason in ("done-dialect", "done-dispatch-closed"):
        return "completed"
    return "aborted" if end.reason == "done-dispatch-aborted" else "failed"


_SUMMED: Final = (
    "tokens_in",
    "tokens_cache_read",
    "tokens_cache_write",
    "tokens_cache_write_1h",
    "tokens_in_audio",
    "tokens_in_image",
    "tokens_out",
    "tokens_out_reasoning",
    "tokens_out_audio",
    "tokens_out_image",
    "tokens_total",
    "cost_cents",
)


def add_metrics(first: p.Metrics, second: p.Metrics) -> p.Metrics:
    """The sum of two segments of one run (a paused one and its continuation)."""
    sums: dict[str, Any] = {}
    for name in _SUMMED:
        values = [v for v in (getattr(first, name), getattr(second, name)) if v is not None]
        sums[name] = sum(values) if values else None
    source = second.source if first.source == second.source else "partial"
    return replace(second, **sums, cost=_added(first.cost, second.cost), source=source)


def _added(first: p.Cost | None, second: p.Cost | None) -> p.Cost | None:
    """A sum of which a part is not known is not known."""
    if first is None or second is None:
        return None
    return replace(second, amount=first.amount + second.amount)
