"""Ends a run in good order before the platform would cut it.

Must wrap the body of the stream: whatever wraps the request handler returns before the stream starts, and
a platform's kill runs no `finally`.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from motes import particles as p
from motes.errors import VendorError
from motes.executor.observer import SlowRequest
from motes.executor.run import Run


async def with_watchdog(
    source: AsyncGenerator[p.Particle, None], deadline: float, run: Run
) -> AsyncGenerator[p.Particle, None]:
    """The source's particles until shortly before the deadline, then an `Issue` and the `End`.

    `deadline` is a time of the event loop's clock; the margins are options of the run.
    """
    stop_at = deadline - run.options.stop_margin
    warning = asyncio.get_running_loop().call_at(deadline - run.options.warn_margin, _warn, deadline, run)
    try:
        async with aclosing(source):
            while (particle := await _next(source, stop_at)) is not None:
                yield particle
    except TimeoutError:
        for particle in _last_words(run):
            yield particle
    finally:
        warning.cancel()


async def _next(source: AsyncGenerator[p.Particle, None], stop_at: float) -> p.Particle | None:
    """The next particle, or None at the end. Raises TimeoutError when the time is over."""
    if asyncio.get_running_loop().time() >= stop_at:
        # A source that never has to wait gives the timer below no turn.
        raise TimeoutError
    async with asyncio.timeout_at(stop_at):
        return await anext(source, None)


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


def _last_words(run: Run) -> tuple[p.Particle, ...]:
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
    return p.Issue("dispatch-read", error.message, error), p.End("issue-dispatch-rpc")
