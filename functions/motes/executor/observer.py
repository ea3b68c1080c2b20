"""What can be told about a run while it goes on, and to whom.

The executor knows no log: a host passes an `Observer` in. Nothing here may carry a secret: no header, no
URL, no body.
"""

from typing import Literal, Protocol

from motes import particles as p
from motes.dataclass import dataclass

Step = Literal["connecting", "waiting", "reading", "backing-off"]


class Counting(Protocol):
    """Whoever reads an answer, and counts its bytes."""

    received: int


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far a run has come. Times are seconds of the event loop's clock; bytes are those of the answer.

    `waiting` means that the request is on its way and no byte of the answer has come.
    """

    started: float
    step: Step = "connecting"
    earlier: int = 0
    """Bytes that whoever read before has counted."""
    reading: Counting | None = None
    last_byte_at: float | None = None
    handle: p.UpstreamHandle | None = None

    @property
    def received(self) -> int:
        """All bytes that have come."""
        return self.earlier + (0 if self.reading is None else self.reading.received)

    def on_sending(self) -> None:
        """The request goes out."""
        self.step = "waiting"

    def on_reading(self, reading: Counting) -> None:
        """What comes next is read, and counted, there."""
        self.earlier, self.reading = self.received, reading


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRequest:
    """A run that the platform is about to cut. Times in seconds; `context` is the caller's own label.

    `last_event_age` is the time since the last byte from upstream, None where none has come.
    """

    vendor: str
    model: str
    dialect: str
    context: str | None
    elapsed: float
    remaining: float
    step: Step
    received: int
    last_event_age: float | None
    handle: p.UpstreamHandle | None


class Observer(Protocol):
    """Hears of what a host wants to log or count. `label` is vendor/model. No method may raise or block."""

    def slow_request(self, report: SlowRequest) -> None:
        """The deadline is near and the run goes on."""
        ...

    def retrying(self, label: str, reset: p.RetryReset) -> None:
        """An attempt failed and another one follows."""
        ...

    def failed(self, label: str, issue: p.Issue) -> None:
        """The run ends with this issue."""
        ...

    def warned(self, label: str, warning: p.Warn) -> None:
        """The vendor sent what was not expected and was passed over; told once a kind and attempt."""
        ...

    def bug(self, label: str, error: Exception) -> None:
        """Code of ours raised where it must not. The run ends with an issue."""
        ...

    def run_ended(self, label: str, end: p.End, metrics: p.Metrics) -> None:
        """The run is over; called once a run, whichever way it ends. Tokens that are unknown are None."""
        ...


class NullObserver:
    """Hears everything and says nothing."""

    def slow_request(self, report: SlowRequest) -> None:
        """See `Observer`."""

    def retrying(self, label: str, reset: p.RetryReset) -> None:
        """See `Observer`."""

    def failed(self, label: str, issue: p.Issue) -> None:
        """See `Observer`."""

    def warned(self, label: str, warning: p.Warn) -> None:
        """See `Observer`."""

    def bug(self, label: str, error: Exception) -> None:
        """See `Observer`."""

    def run_ended(self, label: str, end: p.End, metrics: p.Metrics) -> None:
        """See `Observer`."""
