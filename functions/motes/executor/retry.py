"""More attempts where one was not enough: retries, and the continuation of a paused answer.

Must never repeat what was seen: once an attempt gave something visible, a failure is the end of the run.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from motes import particles as p
from motes.dataclass import dataclass
from motes.errors import MotesError, VendorError
from motes.executor.exchange import Exchange
from motes.executor.execute import Attempt, Held, Paused, waited
from motes.executor.policy import Backoff, backoff_of, delay_before, is_refusal, is_surely_not_created
from motes.executor.run import NO_LANE, Batch, Lane, Run, Turn
from motes.secrecy import error_without


async def with_retries(run: Run) -> AsyncGenerator[Batch, None]:
    """What `Retries` gives, for what takes a generator."""
    retries = Retries(run)
    try:
        while (turn := retries.turn()) is not None:
            if isinstance(turn, list):
                yield turn
                continue
            await waited(turn, retries.fail)
    finally:
        await retries.close()


class Retries:
    """One answer out of as many attempts as it takes; exactly one `End`, last. Call `turn` until it gives
    None, and `close` whatever happened.
    """

    def __init__(self, run: Run, lane: Lane = NO_LANE, ahead: Exchange | None = None) -> None:
        self._run = run
        self._lane = lane
        self._course = _Course(run)
        self._attempt = Attempt(run.dispatch, run, self._on_over, lane=lane, ahead=ahead)
        self._ending: Iterator[Turn] | None = None
        """What follows the attempt, once it is over."""
        self.turn: Callable[[], Turn | None] = self._attempt.turn
        """Gives the next batch, an empty one whenever the pulse is due; or what there is to wait for. Mostly
        the attempt's own: nothing is between a read and whoever asks for it.
        """

    def fail(self, bug: Exception) -> None:
        """What there was to wait for raised that. Raises it where no attempt is on its way."""
        if self._ending is not None:
            raise bug
        self._attempt.fail(bug)

    def close(self) -> Awaitable[None]:
        """Let go of the connection, and of what holds this as this holds it."""
        self._ending, self.turn = None, _nothing
        return self._attempt.close()

    def _on_over(self) -> None:
        self._ending = self._ended(self._attempt)
        self.turn = partial(next, self._ending, None)

    def _ended(self, attempt: Attempt) -> Iterator[Turn]:
        """Turn by turn, from the end of an attempt to the begin of the next one or to the end of the run."""
        step = self._course.after(attempt)
        yield list(step.particles)
        yield attempt.leave()
        if step.delay is None:
            return
        yield attempt.close()
        clock, run = asyncio.get_running_loop().time, self._run
        until = clock() + step.delay
        while (now := clock()) < until:
            run.progress.step = "backing-off"
            yield asyncio.sleep(min(until, run.pulse.due) - now)
            yield []
        course, by = self._course, self._course.text_before
        attempt = self._attempt = Attempt(course.dispatch, run, self._on_over, course.part, self._lane)
        self._ending, self.turn = None, partial(_shifted_turn, attempt, by) if by else attempt.turn
        yield []


def _nothing() -> None:
    """There is nothing more."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What to tell, and the seconds until the next attempt (None: there is none)."""

    particles: tuple[p.Particle, ...]
    delay: float | None = None


class _Course:
    """Where a run stands between two attempts. A continuation has attempts of its own."""

    def __init__(self, run: Run) -> None:
        self.dispatch = run.dispatch
        self.said_anything = False
        self.text_before = 0
        """Characters of answer text before the last pause."""
        self._run = run
        self._made = 0
        self.part = 0
        """How often the answer was continued."""

    def after(self, attempt: Attempt) -> _Step:
        """What follows an attempt."""
        self._made += 1
        self.said_anything = self.said_anything or attempt.said_anything
        match outcome := attempt.outcome:
            case p.End():
                return _Step((outcome,))
            case Held():
                return self._after_failure(outcome)
            case Paused():
                self.text_before += attempt.text_length
                return self._after_pause(outcome)

    def _after_failure(self, held: Held) -> _Step:
        if is_refusal(held.issue.error) and self._turned_to_a_spare(held.issue.error):
            return self._again(held.issue, 0.0, self._made + len(self.dispatch.spares) + 1)
        backoff = backoff_of(self._run.options.policy, held.issue)
        if backoff is None or held.issue.error is None or self.said_anything:
            return _Step((held.issue, held.end))
        if self.dispatch.creates_run and not is_surely_not_created(held.issue.error):
            return _Step((held.issue, held.end))
        delay = self._delay(backoff, held.issue.error)
        if delay is None:
            return _Step((held.issue, held.end))
        return self._again(held.issue, delay, backoff.attempts)

    def _again(self, issue: p.Issue, delay: float, attempts: int) -> _Step:
        """Announce another attempt."""
        assert issue.error is not None  # noqa: S101 (for the type)
        error = error_without(issue.error, self._run.dispatch.secrets)
        reset = _reset(issue, error, self._made, attempts, delay)
        self._run.observer.retrying(self._run.dispatch.label, reset)
        return _Step((reset,), delay)

    def _turned_to_a_spare(self, error: VendorError | None) -> bool:
        """Whether there is another key to ask with; what is asked stays as it is by now."""
        now = self.dispatch
        if now.credential is None or error is None:
            return False
        self._run.options.refused(now.vendor, now.credential, error)
        if self.said_anything:
            return False
        for at, spare in enumerate(now.spares, 1):
            with suppress(MotesError):  # A key that cannot even be sent.
                other = spare()
                request = replace(other.request, body=now.request.body)
                self.dispatch = replace(
                    now,
                    request=request,
                    sign=other.sign,
                    credential=other.credential,
                    spares=now.spares[at:],
                )
                return True
        return False

    def _delay(self, backoff: Backoff, error: VendorError) -> float | None:
        """Seconds to wait, or None where there is no attempt left or no time for it."""
        options = self._run.options
        delay = delay_before(options.policy, backoff, self._made, error, options.rng)
        if delay is None or options.stop_at is None:
            return delay
        return delay if asyncio.get_running_loop().time() + delay < options.stop_at else None

    def _after_pause(self, paused: Paused) -> _Step:
        limit = self._run.options.policy.max_continuations
        self.part += 1
        if self.part > limit:
            return _too_many_pauses(limit)
        # What was seen so far lies before the checkpoint: no attempt at the next part repeats it.
        self.dispatch, self._made, self.said_anything = paused.dispatch, 0, False
        return _Step((p.Note(f"continuation {self.part} of {limit}: {paused.reason}"),), 0.0)


def _shifted_turn(attempt: Attempt, by: int) -> Turn:
    """A turn with each citation's place counted from the head of the whole answer, not of its last part."""
    batch = attempt.turn()
    if not isinstance(batch, list):
        return batch
    return [_moved(one, by) if isinstance(one, p.Citation) else one for one in batch]


def _moved(citation: p.Citation, by: int) -> p.Citation:
    if citation.start is None:
        return citation
    end = None if citation.end is None else citation.end + by
    return replace(citation, start=citation.start + by, end=end)


def _reset(issue: p.Issue, error: VendorError, made: int, attempts: int, delay: float) -> p.RetryReset:
    """The announcement of retry number `made`."""
    in_band = issue.phase == "dialect-issue"
    lost_line = not in_band and error.http_status is None
    return p.RetryReset(
        scope="srv-op" if in_band else "srv-dispatch",
        clear="since-checkpoint" if in_band else "none",
        reason=error.message,
        attempt=made,
        max_attempts=attempts - 1,
        delay_ms=round(delay * 1000),
        cause_http=error.http_status,
        cause_conn=(error.code or error.kind) if lost_line else None,
    )


def _too_many_pauses(limit: int) -> _Step:
    error = VendorError(
        message=f"the upstream paused its answer more than {limit} times",
        kind="server_error",
        code="too_many_continuations",
    )
    return _Step((p.Issue("dialect-issue", error.message, error), p.End("issue-dialect")))
