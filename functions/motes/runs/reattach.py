"""The way back to a run that lives on at its vendor: its stream from the start, else its state.

Gives only what was not told yet. A vendor's replay is the same events again, read by the same parser: so the
particles of the attempt that owns the handle have the same numbers as before, and those told are skipped.
Must never call a run over that its vendor says goes on.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, TypeAlias

from motes import particles as p
from motes.dispatch import Dispatch
from motes.errors import VendorError
from motes.executor.run import Batch
from motes.runs.live import LiveRun
from motes.runs.reconciling import left_to_tell
from motes.runs.vendors_copy import Ways

Ask: TypeAlias = Callable[[Dispatch], AsyncGenerator[Batch, None]]

_REPLAYS: Final = 2
_SNAPSHOT_FAILURES: Final = 5
_FIRST_DELAY: Final = 1.0
_LONGEST_DELAY: Final = 10.0
_GROWTH: Final = 1.6
_LINE_PHASES: Final = frozenset({"dispatch-read", "dispatch-fetch"})


class Reattachment:
    """One run's way back. `stop_at` is when this process must have left it, a time of the loop's clock;
    `tick` is how often a reader hears of us, in seconds.
    """

    def __init__(self, run: LiveRun, ways: Ways, ask: Ask, *, stop_at: float | None, tick: float) -> None:
        self._run = run
        self._ways = ways
        self._ask = ask
        self._stop_at = stop_at
        self._tick = tick
        self._failed: p.Issue | None = None

    async def batches(self, *, replay: bool = True) -> AsyncGenerator[Batch, None]:
        """What is still to be told, to the run's end."""
        failures, dispatch = 0, self._ways.replay
        while replay and dispatch is not None and failures < _REPLAYS:
            before = self._run.seq
            async with aclosing(self._replayed(dispatch)) as source:
                async for batch in source:
                    yield batch
            if self._failed is None:
                return
            failures = failures + 1 if self._run.seq == before else 1
            if _is_gone(self._failed):
                break
            async for batch in self._waited(_FIRST_DELAY * failures):
                yield batch
        async with aclosing(self._asked_until_over()) as source:
            async for batch in source:
                yield batch

    async def _replayed(self, dispatch: Dispatch) -> AsyncGenerator[Batch, None]:
        """The run from its start, without what was told; a broken line is left in `_failed`."""
        self._failed = None
        skip = self._run.seq - self._run.record.run.first_seq + 1
        async with aclosing(self._ask(dispatch)) as source:
            async for batch in source:
                issue = next((one for one in batch if isinstance(one, p.Issue)), None)
                if issue is not None and _is_broken(issue):
                    self._failed = issue
                    return
                if issue is not None and _is_ours(issue):
                    yield batch
                    return
                news: Batch = []
                for particle in batch:
                    if isinstance(particle, p.RetryReset):
                        continue
                    if skip <= 0 or isinstance(particle, p.Heartbeat):
                        news.append(particle)
                    else:
                        skip -= 1
                if news:
                    yield news

    async def _asked_until_over(self) -> AsyncGenerator[Batch, None]:
        """The run's state, asked for until it is over; then what was not told of it."""
        delay, failures = _FIRST_DELAY, 0
        while True:
            whole: list[p.Particle] = []
            async with aclosing(self._ask(self._ways.snapshot)) as source:
                async for batch in source:
                    whole += batch
                    yield [p.Heartbeat()]
            issue = next((one for one in whole if isinstance(one, p.Issue)), None)
            if issue is None or not (_is_pending(issue) or _is_broken(issue)):
                yield self._settled(whole, issue)
                return
            failures = failures + 1 if _is_broken(issue) else 0
            if failures >= _SNAPSHOT_FAILURES or _is_gone(issue):
                yield [issue, p.End("issue-dispatch-rpc")]
                return
            async for batch in self._waited(delay):
                yield batch
            delay = min(_LONGEST_DELAY, delay * _GROWTH)

    def _settled(self, whole: list[p.Particle], issue: p.Issue | None) -> Batch:
        if issue is not None and _is_ours(issue):
            return [one for one in whole if isinstance(one, p.Issue | p.End)]
        tape = self._run.tape
        told = tape.particles if tape is not None and tape.first == 1 else None
        return left_to_tell(told, whole)

    async def _waited(self, seconds: float) -> AsyncGenerator[Batch, None]:
        """Wait, and be heard; where there is no time left, say so."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while (left := until - clock()) > 0:
            if self._stop_at is not None and clock() + self._tick >= self._stop_at:
                yield _out_of_time()
                return
            await asyncio.sleep(min(left, self._tick))
            yield [p.Heartbeat()]


def _is_pending(issue: p.Issue) -> bool:
    return issue.error is not None and issue.error.code == "pending"


def _is_broken(issue: p.Issue) -> bool:
    """The line broke, or was refused: nothing of it says how the run came out."""
    return issue.phase in _LINE_PHASES and not _is_ours(issue)


def _is_gone(issue: p.Issue) -> bool:
    return issue.error is not None and issue.error.http_status in (404, 410)


def _is_ours(particle: p.Particle) -> bool:
    """Our own word that there is no time left."""
    error = particle.error if isinstance(particle, p.Issue) else None
    return error is not None and error.code == "platform_deadline"


def _out_of_time() -> Batch:
    message = "the time limit of this gateway ended the wait; the run goes on at the vendor: reattach to it"
    error = VendorError(message=message, kind="timeout", code="platform_deadline", retryable=True)
    return [p.Issue("dispatch-read", message, error), p.End("issue-dispatch-rpc")]
