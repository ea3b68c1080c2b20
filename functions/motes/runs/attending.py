"""A reader of a run that goes on in this process, and what becomes of the run when its last reader leaves.

Must never hold the run up: what it says is read from its tape.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from motes.executor.run import Batch
from motes.runs.departure import Departure
from motes.runs.live import LiveRun
from motes.runs.tape import Tape


async def attended(
    live: LiveRun,
    tape: Tape,
    after: int,
    departure: Departure,
    tick: float,
    known: "asyncio.Task[None] | None" = None,
) -> AsyncGenerator[Batch, None]:
    """Follow a run, and count as one of its readers. Nothing is told before that task is done."""
    live.readers += 1
    try:
        async with aclosing(tape.followed(after, tick)) as source:
            async for batch in source:
                if known is not None:
                    await known
                    known = None
                yield batch
    finally:
        live.readers -= 1
        _leave(live, departure)


def _leave(live: LiveRun, departure: Departure) -> None:
    if live.readers or live.end is not None or live.is_handed_over:
        return
    if departure.then == "cancel":
        live.record.is_cancelled = True
    elif departure.seconds is not None:
        asyncio.get_running_loop().call_later(departure.seconds, _cancel_if_left, live)


def _cancel_if_left(live: LiveRun) -> None:
    if not live.readers and live.end is None:
        live.record.is_cancelled = True
