"""One run as the store has it, and every write of it: one at a time, each within a set time.

A store that fails is told to the log, and the run goes on. Must never let anything out of here say that
something is stored which is not.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Final, Protocol, TypeVar

from motes import particles as p
from motes.dataclass import dataclass, replace
from motes.errors import StoreError
from motes.store.runs import Page, RunFlags, RunStore, StoredRun

T = TypeVar("T")

_SECONDS: Final = 3.0
# A flag is seen within this, and what it takes to look.
_LOOK_SECONDS: Final = 0.7
_TOO_LATE: Final = f"the store did not answer within {_SECONDS:g} s"
_NOT_KEPT: Final = "record_not_kept"
_NOT_RENEWED: Final = "lease_not_kept"
_UNKNOWN: Final = RunFlags()


class Note(Protocol):
    """Hears what happened beside a run: an event's name, and fields that hold no secret."""

    def __call__(self, event: str, **fields: Any) -> None:
        """One event."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every record is kept with. `now` gives epoch seconds, `lease_s` is how long a lease stands,
    `run_keep_s` and `journal_keep_s` how long what a run left at its vendor, and its journal, are kept.
    A page of a journal waits for more for `page_s`, and `page_bytes` of lines close it.
    """

    store: RunStore
    worker: str
    now: Callable[[], float]
    told: Note
    """Hears what is worth a line, `trouble` what went wrong."""
    trouble: Note
    lease_s: float = 60.0
    run_keep_s: float = 86_400.0
    journal_keep_s: float = 86_400.0
    page_s: float = 1.0
    page_bytes: int = 32 * 1024


class Record:
    """The record of one run that this process runs. `run` is what is known here."""

    def __init__(self, desk: Desk, run: StoredRun, *, is_stored: bool = False, is_ours: bool = True) -> None:
        self.run = run
        self.is_stored = is_stored
        self.is_ours = is_ours
        """Whether this process writes it; what another one writes is only read."""
        self.is_cancelled = run.is_cancelled
        self.is_lost = False
        self.is_halted = self.is_cancelled
        """Whether the run is to be ended, for whichever reason."""
        self.orphans: list[p.UpstreamHandle] = []
        """Handles that are kept nowhere: what they name is to be deleted at the vendor."""
        self._desk = desk
        self._lock = asyncio.Lock()
        self._looked_at = self._renewed_at = desk.now()
        # Whoever is cancelled while he writes it does not hear whether it was written.
        self._is_begun = is_stored

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was written of it, nor is being written."""
        return not (self._is_begun or self._lock.locked())

    def needs_write(self, now: float) -> bool:
        """Whether the store is to be told something of it: that it is there, or that its lease goes on."""
        return not self.is_stored or now - self._renewed_at >= self._desk.lease_s / 3

    def needs_look(self, now: float) -> bool:
        """Whether it was not seen for so long that others may have said something of it."""
        return now - self._looked_at >= _LOOK_SECONDS

    async def keep(self) -> None:
        """Have the store know the run. Raises StoreError."""
        async with self._lock:
            await self._kept()

    async def set_handle(self, handle: p.UpstreamHandle, first_seq: int) -> bool:
        """Have the store know how the run is reached at its vendor; False where that could not be."""
        if not self.is_ours:
            return True
        before = self.run
        due_at = self._desk.now() + self._desk.lease_s
        try:
            async with self._lock:
                if not self.is_stored:
                    self.run = replace(before, handle=handle, first_seq=first_seq)
                    if await self._kept():
                        return True
                kept = await self._within(
                    self._desk.store.set_handle(before.id, handle, first_seq=first_seq, due_at=due_at)
                )
        except StoreError as error:
            self.run = before
            self._tell("handle_not_stored", error)
            return False
        if kept != handle:
            self.orphans.append(handle)
            return False
        self.run = replace(self.run, handle=handle, first_seq=first_seq)
        return True

    async def append(self, page: Page) -> None:
        """Add a page to the journal. Raises StoreError."""
        async with self._lock:
            await self._kept()
            call = self._desk.store.append(self.run.id, page, worker=self._desk.worker, until=self._until())
            self._heed(await self._within(call))
            self._renewed_at = self._looked_at = self._desk.now()
            self.run = replace(self.run, last_seq=max(self.run.last_seq, page.last))

    async def renew(self) -> None:
        """See that there is a record, and that the lease holds."""
        with self._reported(_NOT_RENEWED):
            async with self._lock:
                await self._kept()
                now = self._desk.now()
                if self.needs_write(now):
                    call = self._desk.store.renew(self.run.id, worker=self._desk.worker, until=self._until())
                    self._heed(await self._within(call))
                    self._renewed_at = self._looked_at = now

    @staticmethod
    async def begin_all(desk: Desk, records: Sequence["Record"]) -> None:
        """Have the store know runs of which nothing was written: all of them at once."""
        async with AsyncExitStack() as held:
            for record in records:
                # Nobody holds it, since nothing is being written.
                await held.enter_async_context(record._lock)
            failures = await keep_all(desk, [record._begun() for record in records])
            for record in records:
                record.is_stored = record.run.id not in failures

    @staticmethod
    async def see_all(desk: Desk, records: Sequence["Record"]) -> None:
        """Hear what others have said of runs: of all of them at once."""
        now, ids = desk.now(), [record.run.id for record in records]
        try:
            async with asyncio.timeout(_SECONDS):
                flags = await desk.store.flags(ids, worker=desk.worker)
        except (TimeoutError, StoreError) as error:
            reason = error.message if isinstance(error, StoreError) else _TOO_LATE
            desk.trouble(_NOT_RENEWED, runs=ids, reason=reason)
            return
        for record in records:
            record._heed(flags.get(record.run.id, _UNKNOWN))
            record._looked_at = now

    async def update(self, **changes: Any) -> None:
        """Change the record, or make it."""
        with self._reported(_NOT_KEPT):
            async with self._lock:
                if await self._kept(**changes):
                    return
                self.run = replace(self.run, **changes)
                call = self._desk.store.update(self.run, worker=self._desk.worker)
                self._heed(await self._within(call))

    async def _kept(self, **changes: Any) -> bool:
        """Have the store know the run, if it does not. Whether it does now as the run is known here: what is
        there already is as it was, also where we did not hear that it was written.
        """
        if self.is_stored:
            return False
        is_new = await self._within(self._desk.store.put(self._begun(**changes)))
        self.is_stored = True
        return is_new

    def _begun(self, **changes: Any) -> StoredRun:
        """The run as it is written first."""
        changes |= {"worker": self._desk.worker, "lease_until": None}
        if changes.get("state", self.run.state) == "running":
            changes["lease_until"] = changes["due_at"] = self._until()
        self.run, self._is_begun = replace(self.run, **changes), True
        return self.run

    def _until(self) -> float:
        return self._desk.now() + self._desk.lease_s

    def cancel(self) -> None:
        """Somebody wants the run to be stopped."""
        self.is_cancelled = self.is_halted = True

    def _heed(self, flags: RunFlags) -> None:
        self.is_cancelled = self.is_cancelled or flags.is_cancelled
        self.is_lost = self.is_lost or flags.is_lost
        self.is_halted = self.is_halted or self.is_cancelled or self.is_lost

    async def _within(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(_SECONDS):
                return await call
        except TimeoutError:
            raise StoreError(_TOO_LATE) from None

    @contextmanager
    def _reported(self, event: str) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            self._tell(event, error)

    def _tell(self, event: str, error: StoreError) -> None:
        self._desk.trouble(event, run=self.run.id, reason=error.message)


async def look_after(desk: Desk, records: Sequence[Record]) -> None:
    """What a keeper does every second: see that there are records, that leases hold, and which runs are to be
    cancelled. Many of them cost little more than one.
    """
    now = desk.now()
    new, due, unseen = [], [], []
    for record in records:
        if record.is_untouched:
            new.append(record)
        elif record.needs_write(now):
            due.append(record)
        elif record.needs_look(now):
            unseen.append(record)
    work = [record.renew() for record in due]
    if new:
        work.append(Record.begin_all(desk, new))
    if unseen:
        work.append(Record.see_all(desk, unseen))
    await asyncio.gather(*work)


async def keep_all(desk: Desk, runs: Sequence[StoredRun]) -> Mapping[str, StoreError]:
    """Have the store know runs of which it knows nothing yet: all of them at once. Gives those that it does
    not know then.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            failures = await desk.store.put_all(runs)
    except TimeoutError:
        failures = {run.id: StoreError(_TOO_LATE) for run in runs}
    for id, error in failures.items():
        desk.trouble(_NOT_KEPT, run=id, reason=error.message)
    return failures
