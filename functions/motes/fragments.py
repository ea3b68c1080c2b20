"""The parts of a message: what a run of particles adds up to.

Values that grow while a message is being put together and are only read afterwards. Must never know how
they came to be: no vendor, no stream, no clock.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from motes import particles as p
from motes.costs import unpriced
from motes.dataclass import dataclass
from motes.errors import VendorError


@dataclass(slots=True)
class TextFragment:
    """A run of answer text."""

    text: str = ""
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class ReasoningFragment:
    """One block of reasoning with its signature and encrypted parcels; or a plan, told before calls."""

    text: str = ""
    signature: str | None = None
    redacted: list[str] = field(default_factory=list)
    is_plan: bool = False
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class RefusalFragment:
    """A run of refusal text."""

    text: str = ""
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class ToolCallFragment:
    """A call for the client; `arguments` is JSON text, `complete` tells whether the vendor finished it, which
    is known when the run is over.
    """

    id: str
    name: str
    arguments: str = ""
    complete: bool = False
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class MediaFragment:
    """One image, audio clip or video."""

    media: p.Image | p.Audio | p.Video
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class CodeFragment:
    """Code the vendor ran and, once known, what it gave."""

    call: p.CodeCall | None
    result: p.CodeResult | None = None
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class CitationFragment:
    """One source."""

    citation: p.Citation
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class OperationFragment:
    """A tool the vendor ran: the last state of it. `level` is how deep it stands under other operations, and
    `interrupted` tells that the run was over before it was.
    """

    operation: p.Operation
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    level: int = 0
    interrupted: bool = False


@dataclass(slots=True)
class ResourceFragment:
    """A file at the vendor or for download."""

    resource: p.HostedResource
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


Fragment: TypeAlias = (
    TextFragment
    | ReasoningFragment
    | RefusalFragment
    | ToolCallFragment
    | MediaFragment
    | CodeFragment
    | CitationFragment
    | OperationFragment
    | ResourceFragment
)


@dataclass(slots=True)
class OperationTree:
    """An operation, and those that ran as parts of it."""

    operation: p.Operation
    interrupted: bool = False
    parts: list["OperationTree"] = field(default_factory=list)


@dataclass(slots=True)
class Source:
    """A source of the answer, and where in the text it is cited: pairs of character offsets, the second one
    excluded.
    """

    title: str
    url: str
    document: str | None = None
    number: int | None = None
    published_at: int | None = None
    ranges: list[tuple[int, int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


Outcome = Literal["completed", "aborted", "failed"]


def is_whole(end: p.End) -> bool:
    """Whether the run came to its own end: it stopped for a reason, and nothing broke before it said so."""
    return end.stop is not None and end.reason in ("done-dialect", "done-dispatch-closed")


@dataclass(slots=True)
class Message:
    """One whole answer, or as much of it as came.

    `outcome` is decided once, at the end: `completed`, `aborted` or `failed`; None while it grows. An answer
    that a filter stopped is failed, though nothing broke (`is_whole`). `waiting` is what the run waits for
    while nothing of it comes: another attempt, a paused turn; where it failed, the last of it.
    """

    fragments: list[Fragment] = field(default_factory=list)
    model: str | None = None
    response_id: str | None = None
    provider: str | None = None
    metrics: p.Metrics | None = None
    attempts: int = 1
    handle: p.UpstreamHandle | None = None
    vendor_state: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    warnings: list[p.Warn] = field(default_factory=list)
    unknown: list[p.Unknown] = field(default_factory=list)
    issue: p.Issue | None = None
    end: p.End | None = None
    outcome: Outcome | None = None
    waiting: str | None = None

    @property
    def text(self) -> str:
        """All answer text, in order."""
        return "".join(f.text for f in self.fragments if isinstance(f, TextFragment))

    @property
    def reasoning(self) -> str:
        """All reasoning text, in order; a plan is apart, as its vendor has it."""
        return "".join(f.text for f in self.fragments if isinstance(f, ReasoningFragment) and not f.is_plan)

    @property
    def plan(self) -> str:
        """What the model said it was going to do, before it called tools."""
        return "".join(f.text for f in self.fragments if isinstance(f, ReasoningFragment) and f.is_plan)

    @property
    def refusal(self) -> str:
        """All refusal text, in order."""
        return "".join(f.text for f in self.fragments if isinstance(f, RefusalFragment))

    @property
    def tool_calls(self) -> list[ToolCallFragment]:
        """The client's calls, in order of appearance; none of a run that broke, for they may be half of what
        they were to be (they are among the `fragments`).
        """
        if self.outcome is not None and not self.is_whole:
            return []
        return [f for f in self.fragments if isinstance(f, ToolCallFragment)]

    @property
    def citations(self) -> list[p.Citation]:
        """The sources, in order."""
        return [f.citation for f in self.fragments if isinstance(f, CitationFragment)]

    @property
    def sources(self) -> list[Source]:
        """The sources, each once, in order of appearance, with all places where it is cited."""
        found: dict[tuple[str, str | None, str], Source] = {}
        for one in self.citations:
            key = (one.url, one.document, "" if one.url else one.title)
            source = found.get(key)
            if source is None:
                source = found[key] = Source(one.title, one.url, one.document, one.number, one.published_at)
            if one.start is not None and one.end is not None:
                source.ranges.append((one.start, one.end))
            if one.text is not None:
                source.texts.append(one.text)
        return list(found.values())

    @property
    def operations(self) -> list[OperationTree]:
        """What the vendor ran, as trees; one whose parent was never told of stands for itself."""
        told = [f for f in self.fragments if isinstance(f, OperationFragment)]
        nodes = {f.operation.id: OperationTree(f.operation, f.interrupted) for f in told}
        roots: list[OperationTree] = []
        for fragment in told:
            node, parent = nodes[fragment.operation.id], fragment.operation.parent_id
            above = nodes.get(parent) if parent is not None and fragment.level else None
            (roots if above is None else above.parts).append(node)
        return roots

    @property
    def resources(self) -> list[p.HostedResource]:
        """The files that lie at the vendor, or came for download, in order."""
        return [f.resource for f in self.fragments if isinstance(f, ResourceFragment)]

    @property
    def is_whole(self) -> bool:
        """Whether the run came to its own end, whatever that was."""
        return self.end is not None and is_whole(self.end)

    @property
    def error(self) -> VendorError | None:
        """Why it failed, where it did."""
        if self.issue is not None:
            return self.issue.error or VendorError(message=self.issue.text, kind="server_error")
        if self.outcome == "failed" and self.end is not None:
            return _of_end(self.end)
        return None

    @property
    def cost(self) -> p.Cost | None:
        """What it costs, where anything is known of that. The vendor's own bill, `metrics.cost_cents`, goes
        before a list of prices.
        """
        if self.metrics is None:
            return None
        return self.metrics.cost or unpriced(self.metrics)

    def media(self, kind: type[p.Image | p.Audio | p.Video]) -> list[p.Image | p.Audio | p.Video]:
        """The media of one kind, in order; previews are not among them."""
        media = [f.media for f in self.fragments if isinstance(f, MediaFragment)]
        return [m for m in media if isinstance(m, kind) and not (isinstance(m, p.Image) and m.partial)]


_FILTERS: Mapping[str, str] = {
    "filter-content": "the answer was blocked by a content filter",
    "filter-recitation": "the answer was blocked because it recites",
    "filter-refusal": "the model refused to answer",
}


def _of_end(end: p.End) -> VendorError:
    """The error of a run that ended without an answer and without a word on it."""
    if end.stop is not None and end.stop in _FILTERS:
        said = end.detail or _FILTERS[end.stop]
        return VendorError(message=said, kind="content_blocked", code=end.stop, type=end.native_stop)
    if end.stop is not None:
        said = end.detail or "the model stopped because something went wrong"
        return VendorError(message=said, kind="server_error", code=end.stop, type=end.native_stop)
    return VendorError(
        message=end.detail or "the answer broke off before it was complete",
        kind="stream_truncated",
        code="no_completion",
        retryable=True,
    )
