"""What is done when a run is over here: its record says how it came out, and the vendor's copy goes.

Runs after the last byte. Must never drop a handle whose run may still be wanted, or is still there.
"""

import asyncio
from contextlib import aclosing
from typing import Any, Final

import httpx

from motes import particles as p
from motes.dataclass import changer
from motes.errors import MotesError
from motes.executor import pipeline
from motes.executor.fetch import FetchFailed
from motes.executor.run import Options
from motes.removal import NotRemoved
from motes.runs.books import Books
from motes.runs.live import LiveRun
from motes.runs.record import Desk
from motes.runs.vendors_copy import Finder
from motes.store.runs import RunOutcome, StoredRun

# When cleaning up looks at what could not be done at once.
_SOON: Final = 60.0
# The vendor is asked beside nothing that anybody waits for.
_COUNTS_SECONDS: Final = 5.0


class Ending:
    """How the runs of a process are settled."""

    def __init__(self, desk: Desk, find: Finder, http: httpx.AsyncClient, books: Books) -> None:
        self._desk = desk
        self._find = find
        self._http = http
        self._books = books

    def ended(self, run: LiveRun, at: float) -> StoredRun:
        """What is kept of a run that left nothing anywhere, and of which nothing is kept yet."""
        changed = changer(StoredRun, "state", "outcome", "error", "ended", "worker", "lease_until", "due_at")
        over = _over(run, outcome_of(run), at)
        ended: StoredRun = changed(
            run.record.run, **over, worker=self._desk.worker, lease_until=None, due_at=None
        )
        return ended

    async def settle(self, run: LiveRun, at: float | None = None) -> None:
        """The run is over here, since that time (None: now)."""
        record = run.record
        if record.is_lost:
            return
        now = self._desk.now() if at is None else at
        for orphan in record.orphans:
            await self.removed(record.run, orphan, run.secret)
        if run.is_handed_over:
            await record.update(worker=None, lease_until=None, due_at=now + self._desk.run_keep_s)
            return
        outcome = outcome_of(run)
        handle = record.run.handle
        over = _over(run, outcome, now)
        if handle is not None and record.is_stored:
            # First of all, since a process may be frozen while a vendor is asked.
            await record.update(**over, due_at=now + _SOON)
        counts_at = None if _is_counted(run) else handle
        if handle is not None and outcome == "completed" and not record.run.is_kept:
            if counts_at is not None:
                await self._counted(run, counts_at)
                counts_at = None
            handle = None if await self.removed(record.run, handle, run.secret) else handle
        elif handle is not None and outcome == "cancelled":
            await self._stopped(record.run, handle, run.secret)
        times = self._times(run, handle, outcome, now)
        await record.update(**over, **times, worker=None, lease_until=None)
        if counts_at is not None:
            await self._counted(run, counts_at)

    def _times(
        self, run: LiveRun, handle: p.UpstreamHandle | None, outcome: RunOutcome, now: float
    ) -> dict[str, Any]:
        """Until when what is left of it is kept."""
        known = run.record.run
        # Somebody may still want what a failed run left at its vendor.
        kept_until = (
            now + self._desk.run_keep_s if handle and (known.is_kept or outcome == "failed") else None
        )
        journal_until = now + self._desk.journal_keep_s if known.is_resumable else None
        due = [now + _SOON] if handle and kept_until is None else []
        due += [until for until in (kept_until, journal_until) if until is not None]
        return {
            "handle": handle,
            "kept_until": kept_until,
            "journal_until": journal_until,
            "due_at": min(due, default=None),
        }

    async def removed(
        self, run: StoredRun, handle: p.UpstreamHandle, secret: str | None, *, is_running: bool = False
    ) -> bool:
        """Have the vendor's copy removed, stopped first where it may run; False where it may still be
        there.
        """
        try:
            copy = await self._find(run, handle, secret)
            await copy.remove(self._http, is_running=is_running)
        except (NotRemoved, MotesError) as failure:
            self._desk.trouble("upstream_delete_failed", run=run.id, vendor=run.vendor, reason=str(failure))
            return False
        self._desk.told("upstream_deleted", run=run.id, vendor=run.vendor, handle=handle.type)
        return True

    async def _counted(self, run: LiveRun, handle: p.UpstreamHandle) -> None:
        """Ask once what a run used that its stream did not tell."""
        options = Options(price=self._books.pricing(run.record.run))
        found: p.Metrics | None = None
        try:
            async with asyncio.timeout(_COUNTS_SECONDS):
                copy = await self._find(run.record.run, handle, run.secret)
                source = pipeline.run(copy.ways().snapshot, self._http, options)
                async with aclosing(source) as particles:
                    async for particle in particles:
                        found = particle if isinstance(particle, p.Metrics) else found
        except (TimeoutError, MotesError):
            return
        if found is not None and found.source == "measured":
            end = run.end or p.End("done-dispatch-aborted")
            self._books.recount(run.record.run, end, found)

    async def _stopped(self, run: StoredRun, handle: p.UpstreamHandle, secret: str | None) -> None:
        try:
            copy = await self._find(run, handle, secret)
            stopped = await copy.stop(self._http)
        except (FetchFailed, MotesError) as failure:
            self._desk.trouble("upstream_cancel_failed", run=run.id, vendor=run.vendor, reason=str(failure))
            return
        self._desk.told("upstream_cancelled", run=run.id, vendor=run.vendor, stopped=stopped)


def _over(run: LiveRun, outcome: RunOutcome, at: float) -> dict[str, Any]:
    """What every record says of a run that is over."""
    error = run.issue.error if run.issue else None
    return {"state": "finished", "outcome": outcome, "error": error.kind if error else None, "ended": at}


def _is_counted(run: LiveRun) -> bool:
    """Whether the vendor told, at the run's end, what it used; of one that was broken off, nobody knows."""
    told = run.metrics
    has_ended = run.end is not None and run.end.stop is not None
    return has_ended and told is not None and told.source == "measured"


def outcome_of(run: LiveRun) -> RunOutcome:
    """How the run came out. One that nobody reads any more was cancelled."""
    if run.end is None or run.end.reason == "done-dispatch-aborted":
        return "failed" if run.stop in ("lost", "shutdown") else "cancelled"
    completed = run.end.stop is not None and run.end.reason in ("done-dialect", "done-dispatch-closed")
    return "completed" if completed else "failed"
