"""One run that goes on in this process: its numbers, its handle, its end.

Every batch passes here on its way to whoever reads it. Must never tell a handle that is not stored, nor give
a number to what is no part of the run: heartbeats, and our own word that it goes on elsewhere.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Literal

from motes import particles as p
from motes.egress.failure import presentable
from motes.errors import VendorError
from motes.executor.run import Batch
from motes.runs.record import Record
from motes.runs.tape import Tape

Stop = Literal["cancelled", "lost", "shutdown"]

ABANDONED: Final = "run_abandoned"
"""The code of the error by which a run ends whose process was gone, and which lives on nowhere."""
_NOTED: Final = frozenset({p.HandleSet, p.RetryReset, p.Note, p.Warn, p.Metrics, p.Issue, p.End})
_OWN_CODES: Final = frozenset({"platform_deadline", "shutdown"})
_LINE_PHASES: Final = frozenset({"dispatch-read", "dispatch-fetch"})
_UNSTORED: Final = p.Warn("the gateway could not store how this run is reached again", "handle_not_stored")


class LiveRun:
    """One run. `seq` is the number of the last particle told; a run that others can follow has a `tape`."""

    def __init__(
        self, record: Record, *, seq: int = 0, tape: Tape | None = None, secret: str | None = None
    ) -> None:
        self.record = record
        self.seq = seq
        self.tape = tape
        self.readers = 0
        self.secret = secret
        """The vendor's key that the caller brought, if any; it is in no record."""
        self.stop: Stop | None = None
        self.cut: p.Issue | None = None
        self.end: p.End | None = None
        self.issue: p.Issue | None = None
        self.metrics: p.Metrics | None = None
        self.is_handed_over = False
        self._attempt_first = seq + 1

    @property
    def id(self) -> str:
        """Our id of it."""
        return self.record.run.id

    @property
    def lives_on(self) -> bool:
        """Whether another process can take it up where this one leaves it."""
        return self.record.run.handle is not None

    async def told(
        self, source: AsyncGenerator[Batch, None], *, rejoins: bool
    ) -> AsyncGenerator[Batch, None]:
        """The source's batches as they are told. Where `rejoins`, a broken line to a run that lives on is not
        told: it is left in `cut`.
        """
        async with aclosing(source):
            while not self._is_stopped() and (batch := await anext(source, None)) is not None:
                if self._is_stopped():
                    break
                parting = await self._pass(batch, rejoins)
                if batch:
                    yield batch
                if parting:
                    self.is_handed_over = True
                    yield parting
                if self.end is not None or self.cut is not None or self.is_handed_over:
                    return
        for words in self._last_words():
            yield words

    def _is_stopped(self) -> bool:
        if self.record.is_cancelled and self.stop is None:
            self.stop = "cancelled"
        if self.record.is_lost and self.stop is None:
            self.stop = "lost"
        return self.stop is not None

    async def _pass(self, batch: Batch, rejoins: bool) -> Batch:
        """Number what is in the batch, in place; gives what is no part of the run, taken out of it."""
        if (issue := _issue_in(batch)) is not None:
            if self._hands_over(issue):
                return self._parted(batch, issue)
            if rejoins and self.lives_on and is_cut(issue):
                # What came with it is what our own layers made of the silence; the rest comes again.
                self.cut = presentable(issue, None)
                batch.clear()
                return []
        for at, particle in enumerate(batch):
            kind = type(particle)
            if kind is not p.Heartbeat:
                self.seq += 1
                if kind in _NOTED:
                    batch[at] = await self._noted(particle)
        return []

    async def _noted(self, particle: p.Particle) -> p.Particle:
        match particle:
            case p.HandleSet():
                stored = await self.record.set_handle(particle.handle, self._attempt_first)
                return particle if stored else _UNSTORED
            case p.RetryReset() | p.Note():
                self._attempt_first = self.seq + 1
            case p.Warn() if particle.code == "request_changed":
                self._attempt_first = self.seq + 1
            case p.Metrics():
                self.metrics = particle
            case p.Issue():
                self.issue = presentable(particle, None)
                return self.issue
            case p.End():
                self.end = particle
        return particle

    def _hands_over(self, issue: p.Issue) -> bool:
        return self.lives_on and issue.error is not None and issue.error.code in _OWN_CODES

    def _parted(self, batch: Batch, issue: p.Issue) -> Batch:
        """Empty the batch of what our own layers made of the end of our time; gives the words that say how
        the run is reached again.
        """
        self.issue = presentable(issue, None)
        end = next((one for one in batch if isinstance(one, p.End)), p.End("issue-dispatch-rpc"))
        parting: Batch = [self._resumable(self.issue), end]
        batch.clear()
        return parting

    def _resumable(self, issue: p.Issue) -> p.Issue:
        error = issue.error
        assert error is not None  # noqa: S101 (for the type: `_hands_over` saw it)
        where = f"/v1/runs/{self.id}/particles?after={self.seq}"
        message = f"{error.message} (run {self.id}: GET {where}, or /v1/chat/completions/{self.id})"
        details = {**(error.details or {}), "run_id": self.id, "resume": where}
        return p.Issue(issue.phase, message, replace(error, message=message, details=details))

    def failed(self) -> Batch:
        """How a run ends in which code of ours failed."""
        message = "the gateway failed in the middle of the run"
        error = VendorError(message=message, kind="server_error", code="internal_error")
        self.issue, self.end = p.Issue("dispatch-read", message, error), p.End("issue-dispatch-rpc")
        self.seq += 2
        return [self.issue, self.end]

    def _last_words(self) -> list[Batch]:
        """How a run ends that was stopped here, or whose source fell silent."""
        issue = p.Issue("dispatch-read", *_words(self.stop))
        end = p.End("done-dispatch-aborted")
        if self.stop != "cancelled" and self._hands_over(issue):
            self.is_handed_over, self.issue = True, issue
            return [[self._resumable(issue), end]]
        self.seq += 2
        self.issue, self.end = issue, end
        return [[issue, end]]


def _issue_in(batch: Batch) -> p.Issue | None:
    for particle in batch:
        if isinstance(particle, p.Issue):
            return particle
    return None


def is_cut(issue: p.Issue) -> bool:
    """Whether the line broke, which says nothing of how the run came out."""
    error = issue.error
    return issue.phase in _LINE_PHASES and error is not None and error.retryable


def _words(stop: Stop | None) -> tuple[str, VendorError]:
    told: dict[Stop | None, tuple[str, dict[str, Any]]] = {
        "cancelled": ("the run was cancelled", {"kind": "server_error", "code": "cancelled"}),
        "lost": (
            "another process of this gateway has taken up the run",
            {"kind": "server_error", "code": "shutdown", "retryable": True},
        ),
        "shutdown": (
            "the gateway was shut down",
            {"kind": "server_error", "code": "shutdown", "retryable": True},
        ),
        None: ("the run fell silent", {"kind": "stream_truncated", "code": "internal_error"}),
    }
    message, members = told[stop]
    return message, VendorError(message=message, **members)
