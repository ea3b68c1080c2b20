"""What cleaning up does: runs whose time has come are settled, one round at a time.

A run is claimed before anything is done to it, so that of two rounds one does it; its record goes last, so
that whoever is killed in the middle leaves what the next round goes on with. A run whose worker was not heard
of is marked abandoned and kept for its owner; later its copy at the vendor is stopped and deleted, its
journal removed. Must never drop a record whose copy may still lie at the vendor, except where only its caller
has the key, nor count the failures of a vendor that is down against a run.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import field, replace
from typing import Any, Final, Literal, Protocol, get_args

import httpx

from motes.dataclass import dataclass
from motes.errors import MotesError, StoreError
from motes.particles import UpstreamHandle
from motes.removal import NotRemoved, remove
from motes.store.runs import RunStore, StoredRun
from motes.vendors.catalogue import Catalogue, speaking
from motes.vendors.vendor import Vendor

Outcome = Literal["deleted", "abandoned", "kept", "postponed", "parked", "taken", "failed"]
"""`kept`: a part of it is gone and the rest has its own time. `taken`: another process was faster. `failed`:
the store did.
"""

_BATCH: Final = 100
_AT_ONCE: Final = 16
# A run's share of a round is less: its vendor's answers, and the store's.
_CLAIM_SECONDS: Final = 120.0
_VENDOR_SECONDS: Final = 20.0
_FIRST_PAUSE: Final = 60.0
_LONGEST_PAUSE: Final = 3600.0
# Of failures that no waiting mends: by then some hours have gone by.
_TRIES: Final = 8
# A vendor that failed so often, or took so long to fail, is not asked again in this round. So often, not so
# often in a row: where only runs are left that fail, each must have its turn.
_FAILURES: Final = 200
_FAILED_SECONDS: Final = 100.0


class Told(Protocol):
    """Hears what becomes of runs: an event's name, and fields that hold no secret."""

    def __call__(self, event: str, **fields: Any) -> None:
        """One event."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a round works with. `now` gives epoch seconds; the HTTP client is opened when a vendor is first
    asked; `worker` is this round's own name.
    """

    runs: RunStore
    catalogue: Catalogue
    key_of: Callable[[Vendor], Awaitable[str | None]]
    http: Callable[[], httpx.AsyncClient]
    now: Callable[[], float]
    told: Told
    worker: str
    run_keep_s: float
    journal_keep_s: float


@dataclass(slots=True)
class Summary:
    """How many runs came to which outcome; `left` is how many copies at vendors only a caller can delete."""

    outcomes: Counter[str] = field(default_factory=Counter)
    left: int = 0
    is_done: bool = False
    """Whether nothing is due any more: the time was not up before."""

    def counts(self) -> dict[str, int | bool]:
        """By name, those that are zero too."""
        known = {name: self.outcomes[name] for name in get_args(Outcome)}
        return {**known, "left": self.left, "is_done": self.is_done}


class Round:
    """One round."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._failures: Counter[str] = Counter()
        self._failed_for: dict[str, float] = {}
        self.summary = Summary()

    async def work(self, is_time_left: Callable[[], bool]) -> Summary:
        """Settle what is due, while there is time for another run. Raises StoreError where nobody knows what
        is due.
        """
        while is_time_left():
            due = await self._means.runs.due(self._means.now(), _BATCH)
            before = self._settled()
            waiting = iter(due)
            await asyncio.gather(*[self._settle_all(waiting, is_time_left) for _ in range(_AT_ONCE)])
            if not due or self._settled() == before:
                # Nothing is left, or nothing of it can be settled now.
                self.summary.is_done = not due
                break
        return self.summary

    def _settled(self) -> int:
        lost = self.summary.outcomes["taken"] + self.summary.outcomes["failed"]
        return self.summary.outcomes.total() - lost

    async def _settle_all(self, waiting: Iterator[StoredRun], is_time_left: Callable[[], bool]) -> None:
        for run in waiting:
            if not is_time_left():
                return
            self.summary.outcomes[await self._settled_safely(run)] += 1

    async def _settled_safely(self, run: StoredRun) -> Outcome:
        try:
            return await self._settle(run)
        except StoreError as error:
            self._means.told("cleanup_failed", run=run.id, reason=error.message)
            return "failed"

    async def _settle(self, run: StoredRun) -> Outcome:
        now, worker = self._means.now(), self._means.worker
        until = now + _CLAIM_SECONDS
        taken = await self._means.runs.claim(run, worker=worker, until=until, now=now)
        if taken is None:
            return "taken"
        try:
            return await self._settle_taken(run, taken, now)
        except StoreError:
            raise
        except Exception as bug:
            # Or it would stand in the way of all that is due after it, for ever.
            self._means.told("bug", run=run.id, vendor=run.vendor, error=type(bug).__name__)
            failure = NotRemoved(f"cleaning up failed ({type(bug).__name__})", is_final=True)
            return await self._postponed(taken, failure, now)

    async def _settle_taken(self, run: StoredRun, taken: StoredRun, now: float) -> Outcome:
        if taken.due_at is None or taken.due_at > now or taken.state == "parked":
            await self._given_back(taken)
            return "taken"
        # One without a lease was handed over, and nobody took it until its time was up.
        if taken.state == "running" and run.lease_until is not None:
            taken = self._abandoned(taken, now)
            if not taken.is_cancelled:
                await self._given_back(replace(taken, due_at=next_time(taken)))
                return "abandoned"
        return await self._cleared(taken, now)

    def _abandoned(self, run: StoredRun, now: float) -> StoredRun:
        """A run whose worker is gone. Whoever wanted it cancelled wants nothing of it any more."""
        self._means.told("run_abandoned", run=run.id, vendor=run.vendor, model=run.model)
        keep = now if run.is_cancelled else now + self._means.run_keep_s
        return replace(
            run,
            state="abandoned",
            outcome="cancelled" if run.is_cancelled else "failed",
            ended=now,
            kept_until=keep,
            journal_until=now + self._means.journal_keep_s if run.is_resumable else None,
        )

    async def _cleared(self, run: StoredRun, now: float) -> Outcome:
        """What is over of the run goes; first the vendor's copy: only the record tells where that lies."""
        if run.handle is not None and _is_over(run.kept_until, now):
            try:
                await self._removed(run, run.handle)
            except NotRemoved as failure:
                return await self._postponed(run, failure, now)
            run = replace(run, handle=None, kept_until=None)
        has_pages = run.is_resumable
        if has_pages and _is_over(run.journal_until, now):
            run = replace(run, is_resumable=False, journal_until=None)
        later = next_time(run)
        if later is None:
            await self._means.runs.delete(run.id)
            return "deleted"
        if has_pages and not run.is_resumable:
            await self._means.runs.drop_pages(run.id)
        await self._given_back(replace(run, due_at=later, tries=0, problem=None))
        return "kept"

    async def _removed(self, run: StoredRun, handle: UpstreamHandle) -> None:
        """Have the vendor's copy removed. Raises NotRemoved."""
        means = self._means
        if run.has_own_key:
            self.summary.left += 1
            means.told("run_left_at_vendor", run=run.id, vendor=run.vendor, handle=handle.run_id)
            return
        failed_for = self._failed_for.get(run.vendor, 0.0)
        if self._failures[run.vendor] >= _FAILURES or failed_for >= _FAILED_SECONDS:
            raise NotRemoved("the vendor was not asked: it failed again and again")
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            vendor, secret = await self._reached(run)
            is_running = run.state != "finished" or run.outcome != "completed"
            await _within(remove(means.http(), vendor, handle, secret, is_running=is_running))
        except NotRemoved as failure:
            if not failure.is_final:
                self._failures[run.vendor] += 1
                before = self._failed_for.get(run.vendor, 0.0)
                self._failed_for[run.vendor] = before + loop.time() - began
            raise

    async def _reached(self, run: StoredRun) -> tuple[Vendor, str | None]:
        row = self._means.catalogue.vendor(run.vendor)
        if row is None or not row.base_url:
            raise NotRemoved(f"there is no vendor {run.vendor!r} any more", is_final=True)
        try:
            return speaking(row, run.dialect), await self._means.key_of(row)
        except StoreError as error:
            raise NotRemoved(error.message) from None
        except MotesError as error:
            raise NotRemoved(error.message, is_final=True) from None

    async def _postponed(self, run: StoredRun, failure: NotRemoved, now: float) -> Outcome:
        tries = run.tries + (1 if failure.is_final else 0)
        is_parked = tries >= _TRIES
        pause = _FIRST_PAUSE * 2**tries if failure.is_final else (now - _over_since(run)) / 2
        pause = min(_LONGEST_PAUSE, max(_FIRST_PAUSE, pause)) * random.uniform(0.75, 1.25)  # noqa: S311 (jitter)
        outcome: Outcome = "parked" if is_parked else "postponed"
        self._means.told(f"run_{outcome}", run=run.id, vendor=run.vendor, tries=tries, reason=failure.reason)
        state = "parked" if is_parked else run.state
        due_at = now if is_parked else now + pause
        await self._given_back(replace(run, state=state, due_at=due_at, tries=tries, problem=failure.reason))
        return outcome

    async def _given_back(self, run: StoredRun) -> None:
        given = replace(run, worker=None, lease_until=None)
        await self._means.runs.update(given, worker=self._means.worker)


async def unpark(means: Means) -> int:
    """Have the next round try again what cleaning up gave up on; gives how many runs that are."""
    before, unparked = None, 0
    while found := await means.runs.list(owner=None, limit=_BATCH, before=before):
        for run in found:
            if run.state == "parked":
                unparked += await _unparked(means, run)
        before = found[-1].created
    return unparked


async def _unparked(means: Means, run: StoredRun) -> bool:
    now = means.now()
    taken = await means.runs.claim(run, worker=means.worker, until=now + _CLAIM_SECONDS, now=now)
    if taken is None:
        return False
    given = replace(taken, state="abandoned", due_at=now, tries=0, worker=None, lease_until=None)
    return not (await means.runs.update(given, worker=means.worker)).is_lost


def intended(run: StoredRun, now: float) -> list[str]:
    """What a round would do with a run that is due, in words."""
    if run.state == "running" and run.lease_until is not None and not run.is_cancelled:
        return ["mark as abandoned"]
    steps = []
    if run.handle is not None and _is_over(run.kept_until, now):
        where = "leave" if run.has_own_key else "delete"
        steps.append(f"{where} {run.handle.run_id} at the vendor")
        run = replace(run, handle=None)
    if run.is_resumable and _is_over(run.journal_until, now):
        steps.append("remove the journal")
        run = replace(run, is_resumable=False)
    return steps if next_time(run) is not None else [*steps, "remove the record"]


def next_time(run: StoredRun) -> float | None:
    """When something of the run is over next, as epoch seconds; None where nothing of it is left."""
    times = [run.kept_until] if run.handle is not None else []
    times += [run.journal_until] if run.is_resumable else []
    return min((0.0 if time is None else time for time in times), default=None)


async def _within(work: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(_VENDOR_SECONDS):
            await work
    except TimeoutError:
        raise NotRemoved("the vendor took too long") from None


def _is_over(until: float | None, now: float) -> bool:
    return until is None or until <= now


def _over_since(run: StoredRun) -> float:
    """Since when the vendor's copy should be gone."""
    return next(time for time in (run.kept_until, run.ended, run.created) if time is not None)
