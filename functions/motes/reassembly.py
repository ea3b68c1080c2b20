"""Particles in, one message out.

How a run ended is decided in `finalisation` and nowhere else. Must never raise for what it is fed: a particle
it cannot place is kept or told. The work is linear in what is fed, whatever the order.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from motes import particles as p
from motes.finalisation import finalised, is_preview
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
_Places = dict[str | None, int]


class Reassembler:
    """Feed it every particle of a run in order; `message` grows live."""

    def __init__(self) -> None:
        self._message = Message()
        # What open fragments gained: joined once, since text that is added to text is copied every time.
        self._gained: dict[int, tuple[_Growing, list[str]]] = {}
        # Places in the list of fragments: by id, of the text that goes on, of what was fed last.
        self._calls: _Places = {}
        self._codes: _Places = {}
        self._operations: _Places = {}
        self._text: int | None = None
        self._fed = -1
        # The checkpoint: how many fragments there were, what those were that changed since, and which places.
        self._kept = 0
        self._before: dict[int, Fragment] = {}
        self._moved: list[tuple[_Places, str | None, int | None]] = []
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
        """The message of a run that is over."""
        return finalised(self.message)

    @property
    def _last(self) -> Fragment | None:
        return self._message.fragments[-1] if self._message.fragments else None

    def _add(self, fragment: Fragment) -> int:
        self._fed = len(self._message.fragments)
        self._message.fragments.append(fragment)
        return self._fed

    def _open(self, fragment: Fragment) -> int:
        """Add a fragment that text does not go on behind."""
        self._text = None
        self._message.waiting = None
        return self._add(fragment)

    def _changing(self, index: int) -> Fragment:
        """The fragment at a place, which is about to change; a checkpoint keeps what it was."""
        self._fed = index
        fragment = self._message.fragments[index]
        if index < self._kept and index not in self._before:
            self._before[index] = _copy(fragment)
        return fragment

    def _place(self, places: _Places, id: str | None, index: int | None) -> None:
        """Remember where something stands, or that it is done with; a reset forgets it again."""
        self._moved.append((places, id, places.get(id)))
        if index is None:
            places.pop(id, None)
        else:
            places[id] = index

    def _grow(self, index: int, piece: str) -> None:
        fragment = self._changing(index)
        # Only ever asked for a place where text, reasoning, a refusal or a call stands.
        growing: _Growing = fragment  # type: ignore[assignment]
        self._gained.setdefault(id(growing), (growing, []))[1].append(piece)

    def _on_text(self, particle: p.Text) -> None:
        if self._text is not None and (self._phase is None or not particle.text):
            self._message.waiting = None
            self._grow(self._text, particle.text)
        elif particle.text:
            phase, self._phase = self._phase, None
            self._text = self._open(TextFragment(particle.text, {phase.vendor: phase.state} if phase else {}))

    def _on_refusal(self, particle: p.Refusal) -> None:
        if isinstance(self._last, RefusalFragment):
            self._grow(self.count - 1, particle.text)
        elif particle.text:
            self._open(RefusalFragment(particle.text))

    def _on_reasoning(self, particle: p.Reasoning) -> None:
        last, is_plan = self._last, particle.weak == "plan"
        self._text = None
        if (
            isinstance(last, ReasoningFragment)
            and last.signature is None
            and last.is_plan == is_plan
            and not particle.restart
        ):
            self._grow(self.count - 1, particle.text)
        else:
            self._add(ReasoningFragment(particle.text, is_plan=is_plan))

    def _reasoning(self) -> ReasoningFragment:
        """The block of reasoning that what comes now belongs to; an empty one where there is none."""
        index = (
            self.count - 1 if isinstance(self._last, ReasoningFragment) else self._add(ReasoningFragment())
        )
        block = self._changing(index)
        assert isinstance(block, ReasoningFragment)  # noqa: S101 (for the type)
        return block

    def _on_signature(self, particle: p.ReasoningSignature) -> None:
        self._text = None
        self._reasoning().signature = particle.signature

    def _on_redacted(self, particle: p.ReasoningRedacted) -> None:
        last = self._last
        self._text = None
        spoken = isinstance(last, ReasoningFragment) and (last.text or any(self._pieces(last)))
        if isinstance(last, ReasoningFragment) and not spoken and last.signature is None:
            self._reasoning().redacted.append(particle.data)
        else:
            self._add(ReasoningFragment(redacted=[particle.data]))

    def _pieces(self, fragment: Fragment) -> list[str]:
        gained = self._gained.get(id(fragment))
        return gained[1] if gained else []

    def _on_tool_call(self, particle: p.ToolCall) -> None:
        call = ToolCallFragment(particle.id, particle.name, particle.arguments or "")
        index = self._open(call)
        self._place(self._calls, call.id, index)
        self._place(self._calls, None, index)

    def _on_arguments(self, particle: p.ToolCallArguments) -> None:
        index = self._calls.get(particle.id)
        if index is None:
            self._warn("orphan_arguments", "argument text without a tool call was left out")
        else:
            self._grow(index, particle.arguments)

    def _on_code_call(self, particle: p.CodeCall) -> None:
        self._place(self._codes, particle.id, self._open(CodeFragment(particle)))

    def _on_code_result(self, particle: p.CodeResult) -> None:
        index = self._codes.get(particle.id)
        if index is None:
            self._open(CodeFragment(None, particle))
            return
        self._place(self._codes, particle.id, None)
        self._text = None
        fragment = self._changing(index)
        assert isinstance(fragment, CodeFragment)  # noqa: S101 (for the type)
        fragment.result = particle

    def _on_media(self, particle: p.Image | p.Audio | p.Video) -> None:
        last = self._last
        if last is not None and is_preview(last) and self.count > self._kept:
            self._message.fragments.pop()
        self._open(MediaFragment(particle))

    def _on_citation(self, particle: p.Citation) -> None:
        self._add(CitationFragment(particle))

    def _on_operation(self, particle: p.Operation) -> None:
        index = self._operations.get(particle.id)
        if index is None:
            level = self._level_under(particle.parent_id)
            self._place(self._operations, particle.id, self._add(OperationFragment(particle, level=level)))
            return
        fragment = self._changing(index)
        assert isinstance(fragment, OperationFragment)  # noqa: S101 (for the type)
        fragment.operation = particle

    def _level_under(self, parent_id: str | None) -> int:
        parent = self._operations.get(parent_id) if parent_id is not None else None
        above = self._message.fragments[parent] if parent is not None else None
        return above.level + 1 if isinstance(above, OperationFragment) else 0

    def _on_resource(self, particle: p.HostedResource) -> None:
        self._text = None
        self._add(ResourceFragment(particle))

    def _on_state(self, particle: p.VendorState) -> None:
        """Encrypted reasoning belongs to the block before it, a phase to the text that comes next; what else
        belongs to a fragment, to the one that was told of last.
        """
        members = particle.state if isinstance(particle.state, Mapping) else {}
        if _PHASE in members:
            self._phase = particle
        elif _REASONING_ITEM in members:
            self._reasoning().state[particle.vendor] = particle.state
        elif particle.vendor in _FRAGMENT_STATES and 0 <= self._fed < self.count:
            self._changing(self._fed).state[particle.vendor] = particle.state
        else:
            kept = self._message.vendor_state
            kept[particle.vendor] = {**kept.get(particle.vendor, {}), **members}

    def _on_note(self, particle: p.Note) -> None:
        self._kept, self._before, self._moved = len(self.message.fragments), {}, []
        self._text = self._phase = None
        self._earlier, self.message.metrics = self.message.metrics, None
        self._message.waiting = particle.text

    def _on_reset(self, particle: p.RetryReset) -> None:
        self._message.waiting = particle.reason
        if particle.scope == "cli-ll" and particle.clear == "none":
            # The reader joins the same run again, and nothing of it is over.
            return
        # The attempt that named itself is dead; the next one has an id of its own.
        self._message.response_id = self._phase = self._text = None
        self._message.attempts += particle.delay_ms >= 0
        if particle.clear == "since-checkpoint":
            self._go_back()
        elif particle.clear == "all":
            self._kept, self._before, self._moved = 0, {}, []
            self._go_back()
            self._calls, self._codes, self._operations = {}, {}, {}
            self._message.metrics = self._earlier = self._message.handle = None
            self._message.model = self._message.provider = self._message.issue = None
            self._message.vendor_state = {}

    def _go_back(self) -> None:
        """To the checkpoint, or to the beginning where there was none."""
        fragments = self._message.fragments
        self._gained.clear()
        del fragments[self._kept :]
        for index, fragment in self._before.items():
            fragments[index] = fragment
        self._before = {}
        self._fed = len(fragments) - 1
        for places, id, place in reversed(self._moved):
            if place is None:
                places.pop(id, None)
            else:
                places[id] = place
        self._moved = []

    def _on_metrics(self, particle: p.Metrics) -> None:
        self._message.metrics = add_metrics(self._earlier, particle) if self._earlier else particle

    def _on_model(self, particle: p.ModelName) -> None:
        self._message.model = particle.name

    def _on_response_id(self, particle: p.ResponseId) -> None:
        self._message.response_id = self._message.response_id or particle.id

    def _on_provider(self, particle: p.ProviderInfra) -> None:
        self._message.provider = particle.label

    def _on_handle(self, particle: p.HandleSet) -> None:
        """The same run told again is as old as it was."""
        known, handle = self._message.handle, particle.handle
        if known is not None and (known.type, known.run_id) == (handle.type, handle.run_id):
            told = [at for at in (known.created_at, handle.created_at) if at is not None]
            handle = replace(handle, created_at=min(told, default=None))
        self._message.handle = handle

    def _on_warn(self, particle: p.Warn) -> None:
        self._message.warnings.append(particle)

    def _warn(self, code: str, text: str) -> None:
        """Told once, however often it happens."""
        if all(warning.code != code for warning in self._message.warnings):
            self._message.warnings.append(p.Warn(text, code))

    def _on_issue(self, particle: p.Issue) -> None:
        self._text = None
        self._message.issue = particle

    def _on_end(self, particle: p.End) -> None:
        if self._message.end is not None:
            self._warn("second_end", "the run ended more than once: its last word counts")
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


def _copy(fragment: Fragment) -> Fragment:
    if isinstance(fragment, ReasoningFragment):
        return replace(fragment, state=dict(fragment.state), redacted=list(fragment.redacted))
    return replace(fragment, state=dict(fragment.state))


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
