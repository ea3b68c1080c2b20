"""The runs of a process, as the surface sees them: begin one, follow one, cancel and delete one.

A run that others may join goes on in a task of its own, and whoever reads it follows its tape; any other run
is read straight from the executor, as fast as without this room. Must never show a run to anybody but its
owner: a foreign id and a missing one are looked up alike.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Final

import httpx

from motes import particles as p
from motes.dataclass import replace
from motes.dispatch import Dispatch
from motes.errors import MotesError, RunNotFound, StoreError, VendorError
from motes.executor import pipeline
from motes.executor.observer import NullObserver
from motes.executor.policy import Backoff, Policy
from motes.executor.run import Batch, Lane, Options
from motes.runs.attending import attended
from motes.runs.books import Books, NoBooks
from motes.runs.keeper import Keeper
from motes.runs.live import ABANDONED, LiveRun, is_abandonment
from motes.runs.orders import Means, Order
from motes.runs.record import Desk, Record
from motes.runs.settling import Settling
from motes.runs.tape import Tape
from motes.store.runs import StoredRun

if TYPE_CHECKING:
    from motes.runs.vendors_copy import Finder

_FAREWELL_SECONDS: Final = 2.5
# So many of the event loop's let whoever is cancelled go, and whom he waits for.
_TURNS: Final = 8
_PAGES: Final = 50
# Counts come just before the end.
_TAIL: Final = 8
_ONCE: Final = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
OPEN: Final = frozenset({"running", "abandoned"})


class Runs:
    """The runs. `tick` is how often, in seconds, a reader hears of us when nothing comes."""

    def __init__(
        self,
        desk: Desk,
        find: "Finder",
        http: httpx.AsyncClient,
        *,
        tick: float,
        books: Books | None = None,
    ) -> None:
        self.desk = desk
        self.keeper = Keeper(desk)
        self.tick = tick
        self._find = find
        self._http = http
        self._books = books or NoBooks()
        self._running: set[asyncio.Task[None]] = set()
        self._settling = Settling(desk, find, http, self._books)

    # What a new run needs.

    def begin(self, order: Order) -> AsyncGenerator[Batch, None]:
        """Run a dispatch; gives what it says to the one who asked. Close it where he has gone."""
        run, departure = order.run, order.departure
        is_joined = run.is_resumable or departure.then == "detach"
        record, tape = Record(self.desk, run), Tape() if is_joined else None
        lane = Lane() if order.lane is None or tape is not None else order.lane
        lane.halting = record
        if tape is not None:
            # Whoever asks for the run reads the tape as all others do.
            lane.lead(tape.takes, tape.says)
        live = LiveRun(record, tape=tape, secret=order.secret, hidden=order.hidden, lane=lane)
        observer = self._books.observer(order.observer, run)
        source = pipeline.batches(order.dispatch, self._http, order.options, observer, lane, order.ahead)
        rejoined = partial(self._rejoined, live, order.options)
        if tape is None:
            return live.told(source, rejoined, on_begin=self.keeper.add, on_over=self._over)
        self._launch(live, live.told(source, rejoined))
        # Nobody is told of a run that can be joined before it can be; the vendor is asked meanwhile.
        known = asyncio.create_task(self._known(live)) if run.is_resumable else None
        return attended(live, tape, 0, departure, self.tick, known)

    async def _known(self, live: LiveRun) -> None:
        try:
            await live.record.keep()
        except StoreError as error:
            self.desk.trouble("record_not_kept", run=live.id, reason=error.message)

    def _over(self, live: LiveRun) -> None:
        self.keeper.remove(live)
        self._settling.add(live)

    def _launch(self, live: LiveRun, course: AsyncGenerator[Batch, None]) -> None:
        self.keeper.add(live)
        task = asyncio.create_task(self._pump(live, course))
        self._running.add(task)
        task.add_done_callback(self._on_pumped)

    def _on_pumped(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            self.desk.trouble("run_failed", error=type(bug).__name__)

    async def _pump(self, live: LiveRun, course: AsyncGenerator[Batch, None]) -> None:
        """Run it to its end, whoever reads it."""
        tape = live.tape
        assert tape is not None  # noqa: S101 (`_launch` is for runs with a tape)
        writer = None
        if live.record.run.is_resumable:
            from motes.runs.journal import write

            writer = asyncio.create_task(write(live.record, tape, self.desk))
        parting: Batch = []
        try:
            async with aclosing(course):
                async for batch in course:
                    if live.is_handed_over:
                        parting = batch
                    else:
                        tape.add(batch)
        finally:
            if live.end is None and not live.is_handed_over:
                # A bug of ours ends one run with an issue, and its readers hear of it.
                tape.add(live.failed())
            tape.close(parting)
            self.keeper.remove(live)
            self._settling.add(live, writer)

    def _rejoined(self, live: LiveRun, options: Options, cut: p.Issue) -> AsyncGenerator[Batch, None]:
        """Where the line breaks and the run is still there, what its vendor says of it from there on."""
        self.desk.told("rejoining", run=live.id, reason=cut.text)
        return self._found(live, options, cut)

    async def _found(
        self, live: LiveRun, options: Options, cut: p.Issue | None = None, *, replay: bool = True
    ) -> AsyncGenerator[Batch, None]:
        run = live.record.run
        assert run.handle is not None  # noqa: S101 (only such a run is found again)
        try:
            ways = (await self._find(run, run.handle, live.secret)).ways()
        except MotesError as error:
            failed = VendorError(message=error.message, kind="server_error", code=error.code)
            yield [cut or p.Issue("dispatch-prepare", error.message, failed), p.End("issue-dispatch-rpc")]
            return

        heard = self._books.rejoining(run) if live.record.is_ours else NullObserver()
        # Whoever goes back has tries of his own, and between them another way.
        asking = replace(options, price=self._books.pricing(run), policy=_ONCE)

        def ask(dispatch: Dispatch) -> AsyncGenerator[Batch, None]:
            return pipeline.batches(dispatch, self._http, asking, heard)

        from motes.runs.reattach import Reattachment

        way = Reattachment(live, ways, ask, stop_at=options.stop_at, tick=self.tick)
        async with aclosing(way.batches(replay=replay)) as source:
            async for batch in source:
                yield batch

    # What a run that exists needs.

    async def get(self, id: str, owner: str | None) -> StoredRun:
        """The run. Raises RunNotFound or StoreError."""
        live = self.keeper.of(id, owner)
        if live is not None:
            return replace(live.record.run, last_seq=live.seq)
        await self._written(id)
        run = await self.desk.store.get(id, owner=owner)
        if run is None:
            raise RunNotFound(f"there is no run {id[:64]!r}")
        return run

    async def metrics(self, run: StoredRun) -> p.Metrics | None:
        """What the run is known to have used: by what it says here, or by the end of its journal. Raises
        StoreError.
        """
        live = self.keeper.of(run.id, run.owner)
        if live is not None or not run.is_resumable:
            return live.metrics if live is not None else None
        tail = await self.tail(run)
        return next((one for one in reversed(tail) if isinstance(one, p.Metrics)), None)

    async def has_told_all(self, run: StoredRun) -> bool:
        """Whether nobody can have more of the run than is known of it here. Raises StoreError."""
        live = self.keeper.of(run.id, run.owner)
        if live is not None:
            return not live.is_taken
        is_over = run.is_resumable and run.state == "finished"
        return is_over and not any(map(is_abandonment, await self.tail(run)))

    async def tail(self, run: StoredRun) -> Batch:
        """The last particles of a journal. Raises StoreError."""
        from motes.runs.pages import Reading

        after = max(0, run.last_seq - _TAIL)
        return Reading(after).taken(await self.desk.store.pages(run.id, after=after, limit=_PAGES))

    async def list(self, owner: str | None, limit: int, before: float | None) -> Sequence[StoredRun]:
        """The newest runs of an owner. Raises StoreError."""
        return await self.desk.store.list(owner=owner, limit=limit, before=before)

    async def take(self, run: StoredRun, means: Means) -> LiveRun | None:
        """Go on with a run that nobody has; None where another was faster, or there is nothing to go on with.
        Raises StoreError.
        """
        now = self.desk.now()
        claimed = await self.desk.store.claim(
            run, worker=self.desk.worker, until=now + self.desk.lease_s, now=now
        )
        if claimed is None:
            return None
        record = Record(self.desk, claimed, is_stored=True)
        if claimed.state != "running":
            await record.update(state="running", outcome=None, ended=None, kept_until=None)
        tape = await self._rewound(claimed)
        secret = means.secret
        live = LiveRun(record, seq=tape.last, tape=tape, secret=secret, hidden=secret)
        live.is_taken = True
        self.desk.told("run_taken", run=run.id, vendor=run.vendor, last_seq=tape.last)
        if tape.end is not None:
            # It was over, and its process was gone before it could say so.
            live.end = tape.end
            tape.close()
            self._settling.add(live)
        elif claimed.handle is None:
            self._launch(live, live.told(_abandoned()))
        else:
            self._launch(live, live.told(self._found(live, means.options())))
        return live

    async def _rewound(self, run: StoredRun) -> Tape:
        """A tape with what the journal has."""
        if not run.is_resumable:
            return Tape(run.first_seq)
        from motes.runs.pages import Reading

        tape, reading = Tape(), Reading(0)
        while pages := await self.desk.store.pages(run.id, after=reading.at, limit=_PAGES):
            tape.add(reading.taken(pages))
        return tape

    def peek(self, run: StoredRun, means: Means, *, replay: bool) -> AsyncGenerator[Batch, None]:
        """What the vendor says of a run that is another process's, or over; nothing is written."""
        record, secret = Record(self.desk, run, is_stored=True, is_ours=False), means.secret
        aside = LiveRun(record, seq=run.first_seq - 1, secret=secret, hidden=secret)
        return aside.told(self._found(aside, means.options(), replay=replay))

    async def cancel(self, id: str, owner: str | None, means: Means) -> StoredRun:
        """Stop a run, wherever it goes on. Raises RunNotFound or StoreError."""
        live = self.keeper.of(id, owner)
        if live is not None:
            live.record.cancel()
            return replace(live.record.run, is_cancelled=True, last_seq=live.seq)
        await self._written(id)
        run = await self.desk.store.cancel(id, owner=owner)
        if run is None:
            raise RunNotFound(f"there is no run {id[:64]!r}")
        if self.is_open(run):
            await self.take(replace(run, is_cancelled=True), means)
        return run

    async def delete(self, id: str, owner: str | None, means: Means) -> bool:
        """Remove a run, at its vendor first; False where that failed and is tried again. Raises RunNotFound
        or StoreError.
        """
        run = await self.cancel(id, owner, means)
        run = await self._until_free(run)
        if run.handle is not None:
            gone = await self._settling.ending().removed(
                run, run.handle, means.secret, is_running=run.state == "running"
            )
            if not gone:
                now = self.desk.now()
                await self.desk.store.postpone(run, until=now, problem="the vendor's copy is still there")
                return False
        await self.desk.store.delete(id)
        return True

    async def _until_free(self, run: StoredRun) -> StoredRun:
        """The run once nobody is at work on it any more, or after a few seconds."""
        clock = asyncio.get_running_loop().time
        until = clock() + _FAREWELL_SECONDS
        while clock() < until:
            await self.settled(within=_FAREWELL_SECONDS)
            found = await self.desk.store.get(run.id, owner=run.owner)
            if found is None:
                return run
            run = found
            if run.id not in self.keeper.runs and not self.is_held(run):
                break
            await asyncio.sleep(0.1)
        return run

    def is_open(self, run: StoredRun) -> bool:
        """Whether the run is not over and nobody has it: it can be taken up."""
        return run.state in OPEN and not self.is_held(run)

    def is_held(self, run: StoredRun) -> bool:
        """Whether a process has a lease of it."""
        return run.lease_until is not None and run.lease_until > self.desk.now()

    # The life of the process.

    async def _written(self, id: str) -> None:
        """Whoever asks for a run that is just over finds it in the store."""
        if self._settling.has(id):
            await self.settled()

    def is_settling(self) -> bool:
        """Whether a run that is over is not settled yet."""
        return not self._settling.is_empty()

    async def settled(self, within: float = _FAREWELL_SECONDS) -> None:
        """Wait until the runs that are over are settled, but not for long."""
        await self._settling.done(within)

    def stop(self) -> None:
        """Have all end that goes on here, each with its last words, within some seconds. What lives on at a
        vendor is left for another process to take up.
        """
        for live in self.keeper.runs.values():
            live.shut_down()

    async def close(self) -> None:
        """End what goes on here, and wait for it."""
        self.stop()
        # A server that stops has cancelled who reads a run, and closes before he had his turn.
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        if self._running:
            await asyncio.wait(set(self._running), timeout=_FAREWELL_SECONDS)
        await self.settled()


async def _abandoned() -> AsyncGenerator[Batch, None]:
    message = "the process that served this run is gone, and the run lives on nowhere"
    error = VendorError(message=message, kind="stream_truncated", code=ABANDONED)
    yield [p.Issue("dispatch-read", message, error), p.End("issue-dispatch-rpc")]
