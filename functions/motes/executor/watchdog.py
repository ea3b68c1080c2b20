"""Ends a run in good order before the platform would cut it.

Must be asked within the body of the stream: whatever wraps the request handler returns before the stream
starts, and a platform's kill runs no `finally`.
"""

import asyncio

from motes import particles as p
from motes.errors import VendorError
from motes.executor.observer import SlowRequest
from motes.executor.run import Batch, Run


def watched(run: Run) -> asyncio.TimerHandle | None:
    """What tells the observer of a deadline that is near, until it is cancelled; None where there is none."""
    deadline = run.options.deadline
    if deadline is None:
        return None
    return asyncio.get_running_loop().call_at(deadline - run.options.warn_margin, _warn, deadline, run)


def _warn(deadline: float, run: Run) -> None:
    now, progress, dispatch = asyncio.get_running_loop().time(), run.progress, run.dispatch
    last = progress.last_byte_at
    run.observer.slow_request(
        SlowRequest(
            vendor=dispatch.vendor,
            model=dispatch.model,
            dialect=dispatch.dialect,
            context=dispatch.context,
            elapsed=now - progress.started,
            remaining=deadline - now,
            step=progress.step,
            received=progress.received,
            last_event_age=None if last is None else now - last,
            handle=progress.handle,
        )
    )


def last_words(run: Run) -> Batch:
    """What ends a run whose time is over."""
    elapsed = asyncio.get_running_loop().time() - run.progress.started
    lives_on = run.progress.handle is not None
    advice = (
        "the run goes on at the vendor: reattach to it"
        if lives_on
        else "ask for a shorter answer, or raise the time limit"
    )
    error = VendorError(
        message=f"the time limit of this gateway ended the run after {elapsed:.0f} s; {advice}",
        kind="timeout",
        code="platform_deadline",
        retryable=True,
    )
    return [p.Issue("dispatch-read", error.message, error), p.End("issue-dispatch-rpc")]
