"""The whole executor in one row: attempts > retries > transforms > heartbeats > watchdog > stopwatch.

What the rest of motes calls. What travels is a batch, all that one read of the upstream gave: a layer costs
once a read, not once a particle. Must never raise (cancellation excepted), and always gives exactly one
`End`, last.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

import httpx

from motes import particles as p
from motes.dataclass import maker
from motes.dispatch import Dispatch
from motes.executor.exchange import Ahead
from motes.executor.execute import waited
from motes.executor.heartbeat import Heartbeats
from motes.executor.observer import NullObserver, Observer, Progress
from motes.executor.own_task import in_own_task
from motes.executor.retry import Retries, with_retries
from motes.executor.run import NO_LANE, Batch, Lane, Options, Pulse, Run, Turn
from motes.executor.stopwatch import Stopwatch
from motes.executor.transforming import transformed
from motes.executor.watchdog import last_words, watched
from motes.secrecy import Secrecy

_new_run: Final = maker(Run)


async def run(
    dispatch: Dispatch,
    http: httpx.AsyncClient,
    options: Options | None = None,
    observer: Observer | None = None,
) -> AsyncGenerator[p.Particle, None]:
    """What `batches` gives, one particle at a time."""
    async with aclosing(batches(dispatch, http, options, observer)) as source:
        async for batch in source:
            for particle in batch:
                yield particle


async def batches(
    dispatch: Dispatch,
    http: httpx.AsyncClient,
    options: Options | None = None,
    observer: Observer | None = None,
    lane: Lane = NO_LANE,
    ahead: Ahead | None = None,
) -> AsyncGenerator[Batch, None]:
    """Everything one run says, never an empty batch; but words that the lane takes come no other way. Close
    it (`contextlib.aclosing`) and the upstream connection closes too. `ahead` is of the same dispatch, client
    and options.
    """
    clock = asyncio.get_running_loop().time
    now, options = clock(), options or Options()
    state = _new_run(
        dispatch=dispatch,
        http=http,
        options=options,
        observer=observer or NullObserver(),
        progress=Progress(started=now) if ahead is None else ahead.progress,
        clock=clock,
    )
    heartbeats = Heartbeats(state.pulse, options.heartbeat, options.stop_at, now)
    telling = _Telling(state, now, heartbeats, lane)
    over_at, took_words = heartbeats.over_at, telling.took_words
    is_over = now >= over_at
    try:
        source, warning = _source(state, lane, ahead), watched(state)
        try:
            if dispatch.warnings:
                yield telling.told([p.Warn(text, _OURS) for text in dispatch.warnings], now)
            while not is_over and (turn := source.turn()) is not None:
                if not isinstance(turn, list):
                    await waited(turn, source.fail)
                    continue
                now = clock()
                if lane.size:
                    telling.heard(lane)
                if now >= over_at and not _ends(turn):
                    is_over = True
                elif took_words(turn, now):
                    heartbeats.shown_at, lane.open_until = now, over_at
                    yield turn
                elif given := heartbeats.added(turn, now):
                    yield telling.told(given, now)
        finally:
            if warning is not None:
                warning.cancel()
            await source.close()
        if is_over:
            yield telling.told(last_words(state), clock())
    finally:
        telling.over(clock())


def _source(run: Run, lane: Lane, ahead: Ahead | None) -> "Retries | _Generated":
    if run.dispatch.is_plain:
        return Retries(run, lane, None if ahead is None else ahead.exchange)
    return _Generated(_changed(run))


class _Generated:
    """What a generator gives, in the turns of `Retries`."""

    def __init__(self, source: AsyncGenerator[Batch, None]) -> None:
        self._source = source
        self._batch: Batch | None = None
        self._is_over = False

    def turn(self) -> Turn | None:
        """See `Retries`."""
        batch, self._batch = self._batch, None
        return self._pulled() if batch is None and not self._is_over else batch

    async def _pulled(self) -> None:
        self._batch = await anext(self._source, None)
        self._is_over = self._batch is None

    def fail(self, bug: Exception) -> None:
        """See `Retries`."""
        raise bug

    def close(self) -> Awaitable[None]:
        """See `Retries`."""
        return self._source.aclose()


def _changed(run: Run) -> AsyncGenerator[Batch, None]:
    # What runs in a task of its own has a pulse that is never due: the task has the run's.
    source = with_retries(replace(run, pulse=Pulse()))
    if run.dispatch.transforms.search is not None:
        from motes.executor.searching import search_first

        source = search_first(run.dispatch.transforms.search, source, run)
    return in_own_task(transformed(source, run), run.pulse)


# What we changed in a request is no news of its vendor.
_OURS: Final = "request_changed"
_TURNS: Final = (p.End, p.Issue, p.Note)
_ABORTED: Final = p.End("done-dispatch-aborted")
_LINE_PHASES: Final = ("dispatch-fetch", "dispatch-read")


def _ends(batch: Batch) -> bool:
    return bool(batch) and isinstance(batch[-1], p.End)


class _Telling:
    """The last thing that happens to each particle: no vendor's key is told, and the times are right."""

    def __init__(self, run: Run, now: float, heartbeats: Heartbeats, lane: Lane) -> None:
        self._run = run
        self._heartbeats = heartbeats
        self._lane = lane
        self._kept = Secrecy(run.dispatch.secrets).kept
        self.watch = Stopwatch(now, run.options.price, run.dispatch.prompt_tokens)
        self.took_words = self.watch.took_words
        """See `Stopwatch`; such a batch leaves the executor as it is."""
        self._end = _ABORTED

    def heard(self, lane: Lane) -> None:
        """Count what has passed on the short way, before anything else that came after it."""
        self.watch.on_words(lane.size, lane.at)
        self._heartbeats.shown_at = lane.at
        lane.size = 0

    def told(self, batch: Batch, now: float) -> Batch:
        """The batch as it leaves the executor."""
        out: Batch = []
        words: Batch = []
        for particle in batch:
            if type(particle) is p.Text:
                # Most are: an answer's own words are never looked at.
                words.append(particle)
                continue
            if words:
                self.took_words(words, now)
                out += words
                words = []
            self._tell(particle, now, out)
        if words:
            self.took_words(words, now)
        if self.watch.first is not None:
            self._lane.open_until = self._heartbeats.over_at
        return out + words

    def _tell(self, particle: p.Particle, now: float, out: Batch) -> None:
        """What is no text, after what must be told before it."""
        shown = self._kept(particle)
        if isinstance(shown, _TURNS):
            self._turn(shown, now, out)
        elif isinstance(shown, p.Warn) and shown.code != _OURS:
            self._run.observer.warned(self._run.dispatch.label, shown)
        out.append(self.watch.stamped(shown, now))

    def _turn(self, shown: p.End | p.Issue | p.Note, now: float, out: Batch) -> None:
        if not self._goes_on_elsewhere(shown):
            out += self.watch.last_metrics(shown, now)
        if isinstance(shown, p.End):
            self._end = shown
        elif isinstance(shown, p.Issue):
            self._run.observer.failed(self._run.dispatch.label, shown)

    def _goes_on_elsewhere(self, particle: p.Particle) -> bool:
        """Whether it may be that only our line to a run ends. An estimate would be a particle more than
        whoever takes up the run counts, and he would leave out one of its own for it.
        """
        lives_on = self._run.progress.handle is not None
        return lives_on and isinstance(particle, p.Issue) and particle.phase in _LINE_PHASES

    def over(self, now: float) -> None:
        """The run is over, whichever way."""
        if self._lane.size:
            self.heard(self._lane)
        self._run.observer.run_ended(self._run.dispatch.label, self._end, self.watch.total(self._end, now))
