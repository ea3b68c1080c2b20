"""What a dialect is: a wire protocol as a value.

Must never hold behaviour of one vendor (a vendor's differences are data, `Quirks`) and must never do I/O.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, Protocol

from motes.chat import ChatRequest
from motes.dataclass import dataclass
from motes.demux.base import Demuxer, WireEvent
from motes.quirks import Quirks
from motes.transmitter import Emitter

DialectName = Literal[
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "gemini-generate",
    "bedrock-converse",
    "bedrock-invoke",
    "ollama-chat",
    "cohere-chat",
    "gemini-interactions",
]


class Parser(Protocol):
    """One per attempt; knows one dialect's grammar and nothing else. Streamed events and one whole JSON
    body go through the same `parse`.

    `parse` may raise ValueError for an event that is not of the grammar at all (not JSON): the executor
    skips and counts it. Anything else it must take.
    """

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """Say what one event means."""
        ...

    def eof(self, out: Emitter) -> None:
        """The socket closed: say `done` if the protocol has no terminator and the answer is complete."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What we know of a model beyond its name; `reasoning` None means: tell by the name."""

    reasoning: bool | None = None


NO_TRAITS: Final = Traits()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamBody:
    """A request body in the dialect's own words, with what was changed on the way there. `written` is its
    JSON text, where the dialect had to write it.
    """

    json: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    written: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRuns:
    """How a run that lives on at its vendor is reached again. Paths are below the vendor's base URL.

    `create` is laid over a request's body to make its run stored and in background. `replay` gives the path
    (GET) that streams a run again, from its start or after a cursor; None where the vendor has no such
    thing. `snapshot` is the path (GET) of the run as it stands, `cancel` (POST) and `delete` (DELETE) stop
    and remove it. `lifetime_s` is how long the vendor keeps a run, in seconds. `tells_usage_late`: a stream
    may end without usage that a snapshot has.
    """

    handle_type: str
    create: Mapping[str, Any]
    replay: Callable[[str, str | None], str] | None
    snapshot: Callable[[str], str]
    cancel: Callable[[str], str] | None
    delete: Callable[[str], str] | None
    lifetime_s: int
    tells_usage_late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A wire protocol as a value; every house exports exactly one, `DIALECT`.

    `path` gives the URL path (with query) below a vendor's base URL for a model. `body` builds the request;
    it raises InvalidRequest for what cannot be sent and warns of what was dropped or clamped. `parser`
    makes a fresh parser. `headers` are sent with every request of this dialect. `inline_media`: no image or
    file can be named by its address on the web.
    """

    name: DialectName
    path: Callable[[str], str]
    body: Callable[[ChatRequest, str, Quirks, Traits], UpstreamBody]
    demuxer: Callable[[int], Demuxer]
    parser: Callable[[Quirks], Parser]
    headers: Mapping[str, str] = field(default_factory=dict)
    stored_runs: StoredRuns | None = None
    inline_media: bool = False
