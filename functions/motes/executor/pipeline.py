"""The whole executor in one row: attempts > retries > transforms > heartbeats > watchdog > stopwatch.

What the rest of motes calls. Must never raise (cancellation excepted), and always gives exactly one
`End`, last.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx

from motes import particles as p
from motes.dispatch import NO_TRANSFORMS, Dispatch
from motes.executor.heartbeat import with_heartbeats
from motes.executor.observer import NullObserver, Observer, Progress
from motes.executor.retry import with_retries
from motes.executor.run import Options, Run
from motes.executor.stopwatch import Stopwatch
from motes.executor.transforming import transformed
from motes.executor.watchdog import with_watchdog
from motes.secrecy import without_secrets


async def run(
    dispatch: Dispatch,
    http: httpx.AsyncClient,
    options: Options | None = None,
    observer: Observer | None = None,
) -> AsyncGenerator[p.Particle, None]:
    """Everything one run says. Close it (`contextlib.aclosing`) and the upstream connection closes too."""
    loop = asyncio.get_running_loop()
    state = Run(
        dispatch=dispatch,
        http=http,
        options=options or Options(),
        observer=observer or NullObserver(),
        progress=Progress(started=loop.time()),
    )
    watch = Stopwatch(loop.time())
    end = p.End("done-dispatch-aborted")
    try:
        async with aclosing(_layers(state)) as particles:
            async for particle in particles:
                if isinstance(particle, p.End):
                    end = particle
                    if (metrics := watch.last_metrics(loop.time())) is not None:
                        yield metrics
                elif isinstance(particle, p.Issue):
                    state.observer.failed(dispatch.label, particle)
                yield watch.stamped(particle, loop.time())
    finally:
        state.observer.run_ended(dispatch.label, end, watch.total(loop.time()))


def _layers(state: Run) -> AsyncGenerator[p.Particle, None]:
    source = with_heartbeats(_with_warnings(state), state.options.heartbeat)
    deadline = state.options.deadline
    return source if deadline is None else with_watchdog(source, deadline, state)


async def _with_warnings(state: Run) -> AsyncGenerator[p.Particle, None]:
    """What was changed in the request comes first, once. From here on nothing tells the vendor's key."""
    for text in state.dispatch.warnings:
        yield p.Warn(text, "request_changed")
    source = with_retries(state)
    if state.dispatch.transforms != NO_TRANSFORMS:
        source = transformed(source, state)
    async with aclosing(source) as particles:
        async for particle in particles:
            yield without_secrets(particle, state.dispatch.secrets)
