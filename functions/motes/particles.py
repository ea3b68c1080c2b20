"""The vocabulary: every particle motes speaks, and its short wire keys.

Values only: frozen, slotted, without behaviour, ids, clock or order of their own. A particle on the wire
is a flat JSON object with exactly one discriminator key (`t`, `p` or `cg`); a leading underscore means
"continues the last one". A field that has its default value is left out, so no `null` is ever written.
What this module does not know it keeps (`Unknown`): a newer server does not break an older client. Our
additions to the reference keys (`rf_`, `warn`, `set-response-id`, `_fci.id`, `issue.err`, …) break no reader.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from motes.dataclass import dataclass
from motes.errors import VendorError
from motes.metrics import Cost as Cost
from motes.metrics import Metrics as Metrics
from motes.metrics import UsageSource as UsageSource
from motes.wire_key import wire_key as _key

EndReason = Literal[
    "done-dialect",
    "done-dispatch-aborted",
    "done-dispatch-closed",
    "issue-dialect",
    "issue-dispatch-rpc",
]
StopReason = Literal[
    "ok",
    "ok-tool_invocations",
    "cg-issue",
    "filter-content",
    "filter-recitation",
    "filter-refusal",
    "out-of-tokens",
]
Phase = Literal["dialect-issue", "dispatch-prepare", "dispatch-fetch", "dispatch-read", "dispatch-parse"]
RetryScope = Literal["srv-dispatch", "srv-op", "cli-ll"]
ClearStrategy = Literal["none", "since-checkpoint", "all"]
OperationKind = Literal["search-web", "gen-image", "code-exec"]
OperationState = Literal["done", "error"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer. May be empty."""

    text: str = _key("t")


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Nothing happened, and the line is alive."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of reasoning. `weak`: from think tags, or a plan told before calls. `restart`: new block."""

    text: str = _key("_t")
    weak: Literal["tag", "plan"] | None = None
    restart: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningSignature:
    """The vendor's signature of the current reasoning block; opaque, replaces an earlier one."""

    signature: str


@dataclass(frozen=True, slots=True)
class ReasoningRedacted:
    """One parcel of reasoning the vendor encrypted; opaque."""

    data: str = _key("_data")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A piece of the model's refusal to answer."""

    text: str = _key("_t")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the client must answer starts; `arguments` is the JSON text known so far, if any."""

    id: str
    name: str
    arguments: str | None = _key("i_args", None)


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """More argument text. `id` names the call; without it the call is the latest one."""

    arguments: str = _key("_args")
    id: str | None = None


@dataclass(frozen=True, slots=True)
class CodeCall:
    """Code the vendor is going to run, complete."""

    id: str
    language: str
    code: str
    author: str


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What that code gave; `id` is the call's. `error` is a flag or the vendor's words."""

    id: str
    error: bool | str
    result: str
    executor: str
    environment: str


@dataclass(frozen=True, slots=True)
class Audio:
    """One whole audio clip, base64."""

    mime: str = _key("mimeType")
    base64: str = _key("a_b64")
    label: str | None = None
    generator: str | None = None
    duration_ms: int | None = _key("durationMs", None)


@dataclass(frozen=True, slots=True)
class Image:
    """One whole image, base64; `partial` marks a preview that a later image replaces."""

    mime: str = _key("mimeType")
    base64: str = _key("i_b64")
    label: str | None = None
    generator: str | None = None
    prompt: str | None = None
    hint_skip_resize: bool = _key("hintSkipResize", False)
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Video:
    """One whole video, base64."""

    mime: str = _key("mimeType")
    base64: str = _key("v_b64")
    label: str | None = None
    generator: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """Progress of a tool the vendor runs itself. No `state` means active; the same id is an update."""

    id: str = _key("opId")
    text: str = _key("text")
    kind: OperationKind = _key("mot")
    state: OperationState | None = None
    parent_id: str | None = _key("parentOpId", None)
    inputs: tuple[str, ...] = _key("iTexts", ())
    outputs: tuple[str, ...] = _key("oTexts", ())


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of the answer. `start`/`end` are character offsets in the text, `published_at` epoch ms.

    A citation of a document that has no address has an empty `url`, its name in `document` and its
    place (page, characters, block) in `location`.
    """

    title: str
    url: str
    number: int | None = _key("num", None)
    start: int | None = _key("from", None)
    end: int | None = _key("to", None)
    text: str | None = None
    published_at: int | None = _key("pubTs", None)
    document: str | None = _key("doc", None)
    location: Mapping[str, Any] | None = _key("loc", None)


@dataclass(frozen=True, slots=True)
class HostedResource:
    """A file that lies at the vendor, or one delivered inline for download."""

    kind: str
    file_id: str | None = _key("fileId", None)
    container_id: str | None = _key("containerId", None)
    filename: str | None = None
    resource: str | None = _key("fileName", None)
    mime: str | None = _key("mimeType", None)
    is_video: bool = _key("isVideo", False)
    base64: str | None = _key("b64", None)


@dataclass(frozen=True, slots=True)
class VendorState:
    """Opaque state to keep and to send back to the same vendor only."""

    vendor: str
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class End:
    """The last particle of a run. `native_stop` is the vendor's own word for `stop`."""

    reason: EndReason = _key("terminationReason")
    stop: StopReason | None = _key("tokenStopReason", None)
    detail: str | None = _key("tokenStopError", None)
    native_stop: str | None = _key("nativeStop", None)


@dataclass(frozen=True, slots=True)
class Issue:
    """One error that can be shown; `error` carries what a program can act on."""

    phase: Phase = _key("issueId")
    text: str = _key("issueText")
    error: VendorError | None = _key("err", None)


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint: what came before it survives a reset `since-checkpoint`."""

    text: str
    kind: Literal["flow-cont"] = _key("ait", "flow-cont")


@dataclass(frozen=True, slots=True)
class RetryReset:
    """A retry is about to start. `delay_ms` -1 means "gave up"; `attempt` counts the one to come."""

    scope: RetryScope = _key("rScope")
    clear: ClearStrategy = _key("rClearStrategy")
    reason: str = _key("reason")
    attempt: int = _key("attempt")
    max_attempts: int = _key("maxAttempts")
    delay_ms: int = _key("delayMs")
    cause_http: int | None = _key("causeHttp", None)
    cause_conn: str | None = _key("causeConn", None)


@dataclass(frozen=True, slots=True)
class ModelName:
    """The model that really answers."""

    name: str


@dataclass(frozen=True, slots=True)
class ResponseId:
    """The vendor's id of this answer."""

    id: str


@dataclass(frozen=True, slots=True)
class ProviderInfra:
    """Who really serves behind an aggregator."""

    label: str


@dataclass(frozen=True, slots=True)
class UpstreamHandle:
    """A run that lives on at its vendor; times are epoch ms or None."""

    type: str = _key("uht")
    run_id: str = _key("runId")
    created_at: int | None = _key("createdAt", None)
    expires_at: int | None = _key("expiresAt", None)


@dataclass(frozen=True, slots=True)
class HandleSet:
    """How to reattach to this run at its vendor, or delete it there."""

    handle: UpstreamHandle


@dataclass(frozen=True, slots=True)
class Warn:
    """Something was dropped, clamped or skipped, and the run goes on."""

    text: str
    code: str


@dataclass(frozen=True, slots=True)
class DebugRequest:
    """Echo of the upstream request, headers and secrets masked."""

    security: str
    request: Mapping[str, Any] = _key("dispatchRequest")


@dataclass(frozen=True, slots=True)
class DebugProfiler:
    """Where the time of this run went."""

    measurements: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A particle of a newer motes, kept as it came."""

    raw: Mapping[str, Any]


Particle: TypeAlias = (
    Text
    | Heartbeat
    | Reasoning
    | ReasoningSignature
    | ReasoningRedacted
    | Refusal
    | ToolCall
    | ToolCallArguments
    | CodeCall
    | CodeResult
    | Audio
    | Image
    | Video
    | Operation
    | Citation
    | HostedResource
    | VendorState
    | End
    | Issue
    | Note
    | RetryReset
    | Metrics
    | ModelName
    | ResponseId
    | ProviderInfra
    | HandleSet
    | Warn
    | DebugRequest
    | DebugProfiler
    | Unknown
)

VISIBLE: Final = (
    Text,
    Reasoning,
    Refusal,
    ToolCall,
    CodeCall,
    CodeResult,
    Audio,
    Image,
    Video,
    Operation,
    Citation,
    HostedResource,
)

_VISIBLE_WITH_TEXT: Final[frozenset[type]] = frozenset({Text, Reasoning, Refusal})
_ALWAYS_VISIBLE: Final[frozenset[type]] = frozenset(VISIBLE) - _VISIBLE_WITH_TEXT


def is_visible(particle: Particle) -> bool:
    """Whether a reader of the answer would see it; empty text shows nothing."""
    # By class and not by `isinstance`: every particle of every answer is asked this, more than once.
    kind = type(particle)
    if kind in _VISIBLE_WITH_TEXT:
        return bool(particle.text)  # type: ignore[union-attr]
    return kind in _ALWAYS_VISIBLE
