"""One run that goes on in this process: its numbers, its handle, its end.

Every batch passes here on its way to whoever reads it. Must never tell a handle that is not stored, nor give
a number to what is no part of the run: heartbeats, and our own word that it goes on elsewhere.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from motes import particles as p
from motes.egress.failure import presentable
from motes.errors import VendorError
from motes.executor.run import NO_LANE, Batch, Lane
from motes.runs.record import Record
from motes.runs.tape import Tape

Stop = Literal["cancelled", "lost", "shutdown"]
Rejoin: TypeAlias = Callable[[p.Issue], AsyncGenerator[Batch, None]]
"""What follows of a run whose line broke, as that issue says."""
Hears: TypeAlias = "Callable[[LiveRun], None]"

ABANDONED: Final = "run_abandoned"
"""The code of the error by which a run ends whose process was gone, and which lives on nowhere."""
# All others only have a number.
_NOTED: Final = frozenset({p.Heartbeat, p.HandleSet, p.RetryReset, p.Note, p.Warn, p.Metrics, p.Issue, p.End})
# Those of them that may become another particle, have no number, or want to know theirs.
_RARE: Final = _NOTED - {p.Metrics, p.End}
_OWN_CODES: Final = frozenset({"platform_deadline", "shutdown"})
_LINE_PHASES: Final = frozenset({"dispatch-read", "dispatch-fetch"})
_UNSTORED: Final = p.Warn("the gateway could not store how this run is reached again", "handle_not_stored")


def _nobody(_: "LiveRun") -> None:
    """Nobody wants to know."""


class LiveRun:
    """One run. `seq` is the number of the last particle told; a run that others can follow has a `tape`.
    `hidden` is the vendor's key that it is asked with, which no issue may show.
    """

    def __init__(
        self,
        record: Record,
        *,
        seq: int = 0,
        tape: Tape | None = None,
        secret: str | None = None,
        hidden: str | None = None,
        lane: Lane = NO_LANE,
    ) -> None:
        self.record = record
        self.tape = tape
        self.readers = 0
        self.secret = secret
        """The vendor's key that the caller brought, if any; it is in no record."""
        self.stop: Stop | None = None
        self.end: p.End | None = None
        self.issue: p.Issue | None = None
        self.metrics: p.Metrics | None = None
        self.is_handed_over = False
        self.is_taken = False
        """Whether it was another process's before, which may have told more than it wrote."""
        self._hidden = hidden
        self._lane = lane
        self._seq = seq - lane.count
        self._cut: p.Issue | None = None
        self._is_over = False
        self._attempt_first = seq + 1

    @property
    def id(self) -> str:
        """Our id of it."""
        return self.record.run.id

    @property
    def seq(self) -> int:
        """The number of the last particle told."""
        return self._seq + self._lane.count

    @seq.setter
    def seq(self, number: int) -> None:
        self._seq = number - self._lane.count

    @property
    def lives_on(self) -> bool:
        """Whether another process can take it up where this one leaves it."""
        return self.record.run.handle is not None

    async def told(
        self,
        source: AsyncGenerator[Batch, None],
        rejoined: Rejoin | None = None,
        *,
        on_begin: Hears = _nobody,
        on_over: Hears = _nobody,
    ) -> AsyncGenerator[Batch, None]:
        """The source's batches as they are told. A broken line to a run that lives on is not told where there
        is a way back to it: what that gives comes next.
        """
        record, has_plain = self.record, _NOTED.isdisjoint
        on_begin(self)
        try:
            try:
                if not self._is_stopped():
                    async for batch in source:
                        if record.is_halted:
                            break
                        if batch and has_plain(map(type, batch)):
                            self.seq += len(batch)
                            yield batch
                        elif words := await self._passed(batch, rejoined is not None):
                            yield words
                        if self._is_over or record.is_halted:
                            break
            finally:
                await source.aclose()
            if rejoined is not None and self._cut is not None:
                async with aclosing(self._rejoined(rejoined, self._cut)) as rest:
                    async for batch in rest:
                        yield batch
            elif not self._is_over:
                yield self._last_words()
        finally:
            on_over(self)

    def _rejoined(self, rejoined: Rejoin, cut: p.Issue) -> AsyncGenerator[Batch, None]:
        self._cut, self._is_over = None, False
        return self.told(rejoined(cut))

    def shut_down(self) -> None:
        """Have it end with its last words, since this process ends."""
        self.stop = self.stop or ("cancelled" if self.record.is_cancelled else "shutdown")
        self.record.is_halted = True

    def _is_stopped(self) -> bool:
        if self.stop is None:
            self.stop = "cancelled" if self.record.is_cancelled else "lost" if self.record.is_lost else None
        return self.stop is not None

    async def _passed(self, batch: Batch, rejoins: bool) -> Batch:
        """Number and note what is in the batch, in place; gives what is to be told."""
        kinds = list(map(type, batch))
        if _RARE.isdisjoint(kinds):
            self.seq += len(batch)
            for particle in batch:
                if type(particle) in _NOTED:
                    self._noted(particle)
            return batch
        if p.Issue in kinds and (words := self._turned(batch, rejoins)) is not None:
            return words
        first, noted = self.seq + 1, _NOTED
        for at, kind in enumerate(kinds):
            if kind not in noted:
                continue
            if kind is p.Heartbeat:
                first -= 1
                continue
            self.seq, particle = first + at, batch[at]
            if isinstance(particle, p.HandleSet):
                batch[at] = await self._with_handle(particle)
            else:
                batch[at] = self._noted(particle)
        self.seq = first + len(batch) - 1
        return batch

    def _turned(self, batch: Batch, rejoins: bool) -> Batch | None:
        """What is told in place of a batch with an issue that is not the run's end; else None."""
        issue = next(one for one in batch if isinstance(one, p.Issue))
        if self._hands_over(issue):
            self._is_over = self.is_handed_over = True
            return self._parting(batch, issue)
        if rejoins and self.lives_on and is_cut(issue):
            # What came with it is what our own layers made of the silence; the rest comes again.
            self._is_over, self._cut = True, presentable(issue, self._hidden)
            return []
        return None

    async def _with_handle(self, particle: p.HandleSet) -> p.Particle:
        stored = await self.record.set_handle(particle.handle, self._attempt_first)
        return particle if stored else _UNSTORED

    def _noted(self, particle: p.Particle) -> p.Particle:
        match particle:
            case p.Metrics():
                self.metrics = particle
            case p.End():
                self.end, self._is_over = particle, True
            case p.Issue():
                self.issue = presentable(particle, self._hidden)
                return self.issue
            case p.RetryReset() | p.Note():
                self._attempt_first = self.seq + 1
            case p.Warn() if particle.code == "request_changed":
                self._attempt_first = self.seq + 1
        return particle

    def _hands_over(self, issue: p.Issue) -> bool:
        return self.lives_on and issue.error is not None and issue.error.code in _OWN_CODES

    def _parting(self, batch: Batch, issue: p.Issue) -> Batch:
        """In place of what our own layers made of the end of our time: the words that say how the run is
        reached again.
        """
        self.issue = presentable(issue, self._hidden)
        end = next((one for one in batch if isinstance(one, p.End)), p.End("issue-dispatch-rpc"))
        return [self._resumable(self.issue), end]

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

    def _last_words(self) -> Batch:
        """How a run ends that was stopped here, or whose source fell silent."""
        self._is_over, was_stopped = True, self._is_stopped()
        issue = p.Issue("dispatch-read", *_words(self.stop))
        end = p.End("done-dispatch-aborted")
        if was_stopped and self.stop != "cancelled" and self._hands_over(issue):
            self.is_handed_over, self.issue = True, issue
            return [self._resumable(issue), end]
        self.seq += 2
        self.issue, self.end = issue, end
        return [issue, end]


def is_abandonment(particle: p.Particle) -> bool:
    """Whether it says that the run's process was gone."""
    error = particle.error if isinstance(particle, p.Issue) else None
    return error is not None and error.code == ABANDONED


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
