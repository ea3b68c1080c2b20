"""L1, the loop: particles of one run from first to last, over as many connections as that takes.

Runs in one task of its own, which keeps the order. Must never wait for whoever reads the particles, only for
the line; and always gives exactly one `End`, last, unless it is cancelled.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Literal

from motes import particles as p
from motes.client.line import Batch, Broken, Line
from motes.client.refusals import cut, silent
from motes.client.retry import Patience
from motes.dataclass import dataclass
from motes.errors import VendorError

_HAND_OFF: Final = "platform_deadline"
# Seconds. A connection that held so long was one, whether or not anything came of it.
_LASTED: Final = 5.0
_FAREWELL: Final = 1.0
_Plan = Literal["rejoin", "begin", "restart", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a loop is to do: a `body` to begin a run with, or the run to join after the particle `after`. The
    run `is_kept` where that was asked for.
    """

    line: Line
    patience: Patience
    body: Mapping[str, Any] | None = None
    is_kept: bool = False
    run_id: str | None = None
    after: int = 0


def _hands_off(particle: p.Particle) -> bool:
    """Whether a process says that it leaves a run which goes on without it."""
    error = particle.error if isinstance(particle, p.Issue) else None
    if error is None or not error.retryable:
        return False
    return error.code == _HAND_OFF or "resume" in (error.details or {})


class Loop:
    """One run of a client. `run_id` is there as soon as it is known, where the run can be joined again.

    `take` is given every particle; `may_restart` tells whether an answer may be asked for anew.
    """

    def __init__(
        self, task: Task, take: Callable[[p.Particle], None], may_restart: Callable[[], bool]
    ) -> None:
        self.run_id = task.run_id
        self.cursor = task.after
        self._task = task
        self._take = take
        self._may_restart = may_restart
        self._is_over = False
        self._has_begun = False
        self._has_numbers = task.run_id is not None
        self._failures = 0
        self._restarts = 0
        self._opened_at = 0.0
        self._held: list[p.Particle] = []
        self._last_words: list[p.Particle] = []
        self._cause: Broken | None = None

    async def run(self) -> None:
        """Listen until the run is over."""
        while not self._is_over:
            try:
                await self._listen()
            except Broken as broken:
                failure = broken
            else:
                failure = self._handed_off() or cut()
            if not self._is_over:
                await self._recover(failure)

    async def _listen(self) -> None:
        """One connection, until the run's end, a hand-off, or the connection's. Raises Broken."""
        clock, idle = asyncio.get_running_loop().time, self._task.patience.idle_s
        self._opened_at = clock()
        async with aclosing(self._open()) as batches:
            try:
                async with asyncio.timeout(idle) as limit:
                    async for batch in batches:
                        for number, particle in batch:
                            self._hear(number, particle)
                        # After the end only the line's own is waited for, so that it can serve again.
                        is_done = self._is_over or len(self._held) > 1
                        limit.reschedule(clock() + (_FAREWELL if is_done else idle))
            except TimeoutError:
                if not self._is_over and len(self._held) < 2:
                    raise silent(idle) from None

    def _open(self) -> AsyncGenerator[Batch, None]:
        task = self._task
        if self.run_id is not None and self._can_rejoin:
            return task.line.rejoin(self.run_id, self.cursor)
        return task.line.start(task.body or {}, self._meet)

    @property
    def _can_rejoin(self) -> bool:
        """Whether it is known where to go on: particles are numbered, or will be and none came yet."""
        will_be = self._task.is_kept and not self._has_begun
        return self.run_id is not None and (self._has_numbers or will_be)

    def _meet(self, run_id: str) -> None:
        self.run_id = run_id

    def _hear(self, number: int | None, particle: p.Particle) -> None:
        if self._is_over:
            return
        if number is not None:
            if number <= self.cursor:
                return
            if number > self.cursor + 1:
                # Something between is missing, and nobody would ever see that.
                raise cut()
            self._has_numbers = True
        if self._is_hand_off(particle):
            self._held.append(particle)
            return
        if number is not None:
            self.cursor = number
        self._give(particle)

    def _give(self, particle: p.Particle) -> None:
        if not isinstance(particle, p.Heartbeat):
            self._failures = 0
            self._has_begun = True
            self._last_words, self._cause = [], None
        self._is_over = isinstance(particle, p.End)
        self._take(particle)

    def _is_hand_off(self, particle: p.Particle) -> bool:
        """Whether the gateway's time is over and the run's is not: these words are for us."""
        if self._held:
            return True
        return self._can_rejoin and _hands_off(particle)

    def _handed_off(self) -> Broken | None:
        issue = self._held[0] if self._held else None
        return Broken(issue.error) if isinstance(issue, p.Issue) and issue.error else None

    async def _recover(self, broken: Broken) -> None:
        """Prepare another connection, or end the run."""
        if asyncio.get_running_loop().time() - self._opened_at >= _LASTED:
            self._failures = 0
        if self._held:
            self._last_words, self._held = self._held, []
        if broken.particles:
            self._refused(broken.particles)
        self._cause = self._cause or broken
        plan = self._plan(broken)
        if plan == "fail":
            self._fail(self._told(broken))
            return
        self._failures += 1
        attempt, most = self._failures, self._task.patience.attempts
        if plan == "restart":
            self._restarts += 1
            attempt = self._restarts
        at_once = bool(self._last_words) and self._failures == 1
        delay = 0.0 if at_once else self._task.patience.delay(attempt, broken.error.retry_after)
        self._announce(plan, broken.error, attempt, most, delay)
        await asyncio.sleep(delay)

    def _refused(self, run: tuple[p.Particle, ...]) -> None:
        """A run that was handed off before anything of it could be seen: its id stands in its last words."""
        for particle in run:
            error = particle.error if isinstance(particle, p.Issue) else None
            run_id = (error.details or {}).get("run_id") if error and _hands_off(particle) else None
            if isinstance(run_id, str) and self._task.is_kept:
                self.run_id, self._last_words = run_id, list(run)

    def _plan(self, broken: Broken) -> _Plan:
        most = self._task.patience.attempts
        if self._can_rejoin and not broken.is_final:
            return "rejoin" if self._failures < most else "fail"
        if self.run_id is None and not self._has_begun and not broken.sent:
            return "fail" if broken.is_final or self._failures >= most else "begin"
        if self._task.body is None or (broken.is_final and self.run_id is None):
            return "fail"
        return "restart" if self._restarts < most and self._may_restart() else "fail"

    def _announce(self, plan: _Plan, error: VendorError, attempt: int, most: int, delay: float) -> None:
        if plan == "restart":
            self.run_id, self.cursor, self._has_numbers, self._has_begun = None, 0, False, False
        reset = p.RetryReset(
            scope="cli-ll",
            clear="all" if plan == "restart" else "none",
            reason=error.message,
            attempt=attempt,
            max_attempts=most,
            delay_ms=round(delay * 1000),
            cause_http=error.http_status,
            cause_conn=None if error.http_status else error.code,
        )
        self._take(reset)

    def _told(self, broken: Broken) -> Broken:
        """What the reader is told: why the line broke, rather than why it could not be mended."""
        cause = self._cause
        if cause is None or cause is broken or not self._has_begun:
            return broken
        said = f"{cause.error.message}; the run could not be joined again: {broken.error.message}"
        return Broken(replace(cause.error, message=said), cause.phase)

    def _fail(self, broken: Broken) -> None:
        """The run's last words: its own where it had some, else ours."""
        error = broken.error
        reason: p.EndReason = (
            "done-dispatch-closed" if broken.phase == "dispatch-read" else "issue-dispatch-rpc"
        )
        ours = (p.Issue(broken.phase, error.message, error), p.End(reason))
        for particle in self._last_words or broken.particles or ours:
            self._give(particle)
        if not self._is_over:
            self._give(p.End("issue-dispatch-rpc"))
