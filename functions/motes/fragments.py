"""The parts of a message: what a run of particles adds up to.

Values that grow while a message is being put together and are only read afterwards. Must never know how
they came to be: no vendor, no stream, no clock.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from motes import particles as p
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
    """A call for the client; `arguments` is JSON text, `complete` tells whether the vendor finished it."""

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
    """A tool the vendor ran: the last state of it."""

    operation: p.Operation
    state: dict[str, Mapping[str, Any]] = field(default_factory=dict)


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
class Message:
    """One whole answer, or as much of it as came.

    `outcome` is decided once, at the end: `completed`, `aborted` or `failed`; None while it grows.
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
    outcome: str | None = None

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
        """The client's calls, in order of appearance."""
        return [f for f in self.fragments if isinstance(f, ToolCallFragment)]

    @property
    def citations(self) -> list[p.Citation]:
        """The sources, in order."""
        return [f.citation for f in self.fragments if isinstance(f, CitationFragment)]

    @property
    def error(self) -> VendorError | None:
        """Why it failed, where it did."""
        return self.issue.error if self.issue else None

    def media(self, kind: type[p.Image | p.Audio | p.Video]) -> list[p.Image | p.Audio | p.Video]:
        """The media of one kind, in order; previews are not among them."""
        media = [f.media for f in self.fragments if isinstance(f, MediaFragment)]
        return [m for m in media if isinstance(m, kind) and not (isinstance(m, p.Image) and m.partial)]
