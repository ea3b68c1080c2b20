"""What a parser may say: the whole of what it knows of the world behind it.

A parser never sees queue, clock, log or socket. Must never have a method that raises.
"""

from collections.abc import Callable, Mapping
from re import Pattern
from typing import Any, NamedTuple, Protocol

from motes import particles as p
from motes.errors import VendorError


class Emitter(Protocol):
    """Everything a parser may say. No method raises, whatever it is given."""

    def text(self, text: str) -> None:
        """More of the answer."""
        ...

    def tagged_text(self, text: str) -> bool:
        """More of the answer, from a model that may think aloud between `<think>` tags at its head. Gives
        whether it may be that still: if not, what follows is `text`.
        """
        ...

    def reasoning(self, text: str, *, restart: bool = False) -> None:
        """More reasoning; `restart` opens a new block. An empty text makes sure that a block exists."""
        ...

    def plan(self, text: str) -> None:
        """More of what the model says it is going to do, before it calls tools."""
        ...

    def reasoning_signature(self, signature: str) -> None:
        """The signature of the current reasoning block."""
        ...

    def reasoning_redacted(self, data: str) -> None:
        """One parcel of encrypted reasoning."""
        ...

    def refusal(self, text: str) -> None:
        """More of the model's refusal."""
        ...

    def tool_call(self, id: str | None, name: str, arguments: str | None = None) -> str:
        """A client tool call starts. Gives the id to address it by: the vendor's, or one made here."""
        ...

    def tool_call_arguments(self, arguments: str, id: str | None = None) -> None:
        """More argument text of the call `id` (of the latest one without it)."""
        ...

    def usage(self, *, partial: bool = False, **tokens: float | None) -> None:
        """Token counts by field of `Metrics`; merged by name, the last value wins, None changes nothing."""
        ...

    def counting(self, tell: Callable[[], None]) -> None:
        """There are newer counts, which `tell` gives to `usage`: called once, before the last are told."""
        ...

    def model(self, name: str) -> None:
        """The model that really answers."""
        ...

    def response_id(self, id: str) -> None:
        """The vendor's id of this answer; the first one counts."""
        ...

    def provider(self, label: str) -> None:
        """Who serves behind an aggregator."""
        ...

    def handle(self, handle: p.UpstreamHandle) -> None:
        """This run lives on at its vendor under that handle."""
        ...

    def add(self, particle: p.Particle) -> None:
        """A whole particle: image, audio, citation, operation, hosted resource, vendor state, code."""
        ...

    def warn(self, code: str, text: str) -> None:
        """Something odd was skipped or mended; each code is told once a run."""
        ...

    def stop(self, reason: p.StopReason, *, native: str | None = None, detail: str | None = None) -> None:
        """Why the model stopped: the evidence of completion. The last call wins."""
        ...

    def done(self) -> None:
        """The dialect said that it is over."""
        ...

    def issue(self, error: VendorError) -> None:
        """The vendor reports a failure in-band; it ends this attempt."""
        ...

    def verse(self, words: str, verse: "Verse") -> None:
        """The event was these words and nothing else. As long as no other event comes, one that differs from
        it in its words alone (and in what the verse leaves open) means that `verse.say` is called with them.
        """
        ...

    def resume(self, patch: Mapping[str, Any], reason: str) -> None:
        """The vendor paused and wants the request again with `patch` laid over its body."""
        ...


class Verse(NamedTuple):
    """What an event of words and nothing else means, for the next ones that are like it.

    `words_of` gives the words of such an event's JSON object, and nothing for any other. `filler` finds (as
    its group) what else may differ in the bytes behind the words: the value of `member`, or what means
    nothing. `say` says words (never none) and gets the filler as it came. It raises ValueError, and has said
    nothing, where that is no such filler; one with a line end is none.
    """

    words_of: Callable[[Any], str]
    say: Callable[[str, bytes, Emitter], None]
    filler: Pattern[bytes] | None = None
    member: str = ""
