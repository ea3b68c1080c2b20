"""A reader who joins a run: first what the journal has, then the run itself, wherever it goes on.

One stream, nothing twice and nothing left out: the reader's own number is the only thing that counts. Must
never end without an `End`: where nobody knows how the run came out, that is what is said.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Final, Literal

from motes import particles as p
from motes.errors import StoreError, VendorError
from motes.executor.run import Batch
from motes.runs.attending import attended
from motes.runs.live import ABANDONED, LiveRun, is_abandonment
from motes.runs.orders import Departure, Means
from motes.runs.pages import Reading
from motes.runs.service import OPEN, Runs
from motes.runs.tape import Tape
from motes.store.runs import StoredRun

Mode = Literal["replay", "snapshot"]

_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 1.0
_PAGES: Final = 50
_FAILURES: Final = 5
_STAYS: Final = Departure("detach")


class Follower:
    """One reader of one run."""

    def __init__(self, runs: Runs, run: StoredRun, after: int, means: Means) -> None:
        self._runs = runs
        self._run = run
        self._means = means
        self._reading = Reading(after)
        self._wait = _FIRST_WAIT
        self._failures = 0
        self._has_told = self._has_ended = False
        self._tape: Tape | None = None

    async def batches(self, mode: Mode | None = None) -> AsyncGenerator[Batch, None]:
        """Everything after the reader's number, to the run's end."""
        source = self._asked(mode) if mode is not None else self._followed()
        async with aclosing(source):
            async for batch in source:
                news = batch if self._has_told else await self._first(batch)
                self._has_ended = self._has_ended or any(isinstance(one, p.End) for one in news)
                yield news
        if not self._has_ended and not await self._had_all():
            yield _cut()
        elif self._reading.is_over and self._runs.is_open(self._run):
            # It is over, and its process was gone before it could say so.
            with suppress(StoreError):
                await self._runs.take(self._run, self._means)

    async def _first(self, batch: Batch) -> Batch:
        """The first that is told, where it is more than a heartbeat."""
        kinds = [type(one) for one in batch if not isinstance(one, p.Heartbeat)]
        self._has_told = bool(kinds)
        if kinds == [p.End] and any(map(is_abandonment, await self._last_words())):
            # He had a piece of the answer where it is said now that the run was abandoned.
            return _cut()
        return batch

    async def _had_all(self) -> bool:
        """Whether the reader came with the whole of a run that is over, its end included. Where a process was
        killed he may have had more than its journal: then other words stand at his place.
        """
        at, tape = self._reading.at, self._tape
        if at != (self._run.last_seq if tape is None else tape.last):
            return False
        words = await self._last_words()
        return any(isinstance(one, p.End) for one in words) and not any(map(is_abandonment, words))

    async def _last_words(self) -> Batch:
        """The last two particles of a run that is over, if they are to be had."""
        run, tape = self._run, self._tape
        if tape is not None:
            return tape.particles[-2:]
        if not run.is_resumable or run.state != "finished":
            return []
        with suppress(StoreError):
            return (await self._runs.tail(run))[-2:]
        return []

    async def _asked(self, mode: Mode) -> AsyncGenerator[Batch, None]:
        """The vendor's own copy, whatever the journal has."""
        peeked = self._runs.peek(self._run, self._means, replay=mode == "replay")
        skip = self._reading.at - self._run.first_seq + 1 if mode == "replay" else 0
        async with aclosing(peeked) as source:
            async for batch in source:
                news: Batch = []
                for particle in batch:
                    if isinstance(particle, p.Heartbeat) or skip <= 0:
                        news.append(particle)
                    else:
                        skip -= 1
                if news:
                    yield news

    async def _followed(self) -> AsyncGenerator[Batch, None]:
        while not self._reading.is_over:
            try:
                if news := await self._read():
                    self._wait, self._failures = _FIRST_WAIT, 0
                    yield news
                    continue
                if self._run.state not in OPEN:
                    # It was over before the journal was read to its end.
                    return
                source = await self._joined()
            except StoreError as error:
                self._runs.desk.trouble("journal_unreadable", run=self._run.id, reason=error.message)
                self._failures += 1
                if self._failures >= _FAILURES:
                    return
                source = None
            if source is not None:
                async with aclosing(source):
                    async for batch in source:
                        yield batch
                return
            if self._run.state in OPEN:
                await asyncio.sleep(self._wait)
                self._wait = min(_LONGEST_WAIT, self._wait * 2)
                yield [p.Heartbeat()]

    async def _read(self) -> Batch:
        if not self._run.is_resumable:
            return []
        pages = await self._runs.desk.store.pages(self._run.id, after=self._reading.at, limit=_PAGES)
        return self._reading.taken(pages)

    def _attended(self, live: LiveRun, tape: Tape) -> AsyncGenerator[Batch, None]:
        self._tape = tape
        return attended(live, tape, self._reading.at, _STAYS, self._runs.tick)

    async def _joined(self) -> AsyncGenerator[Batch, None] | None:
        """The run where it goes on here, or is taken up here; None where somebody else writes it, or it is
        over.
        """
        runs, at = self._runs, self._reading.at
        live = runs.keeper.of(self._run.id, self._run.owner)
        if live is not None and live.tape is not None and live.tape.first <= at + 1:
            return self._attended(live, live.tape)
        found = await runs.desk.store.get(self._run.id, owner=self._run.owner)
        if found is None:
            self._reading.is_over = True
            return None
        self._run = found
        if runs.is_open(found):
            taken = await runs.take(found, self._means)
            tape = taken.tape if taken is not None else None
            return None if taken is None or tape is None else self._attended(taken, tape)
        reads_vendor = found.handle is not None and not found.is_resumable
        return self._asked("replay") if reads_vendor else None


def _cut() -> Batch:
    message = "what is kept of this run stops before its end"
    error = VendorError(message=message, kind="stream_truncated", code=ABANDONED)
    return [p.Issue("dispatch-read", message, error), p.End("done-dispatch-closed")]
