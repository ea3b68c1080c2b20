"""A reader of a run that goes on in this process, and what becomes of the run when its last reader leaves.

Must never hold the run up: what it says is read from its tape.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from motes import particles as p
from motes.executor.run import Batch
from motes.runs.live import LiveRun
from motes.runs.orders import Departure
from motes.runs.tape import Tape

# How much is handed over at once to who reads from far behind.
_MOST: Final = 512


async def attended(
    live: LiveRun,
    tape: Tape,
    after: int,
    departure: Departure,
    tick: float,
    known: "asyncio.Task[None] | None" = None,
) -> AsyncGenerator[Batch, None]:
    """Everything after that number, and a heartbeat after every `tick` seconds of silence; whoever reads it
    counts as one of the run's readers. Nothing is told before the task `known` is done.
    """
    live.readers += 1
    particles, at = tape.particles, max(0, after + 1 - tape.first)
    watch = tape.watch(tick)
    try:
        while True:
            if len(particles) <= at and not tape.is_over:
                if await watch.stirred():
                    continue
                batch: Batch = [p.Heartbeat()]
            elif not (batch := particles[at : at + _MOST]):
                break
            else:
                at += len(batch)
            if known is not None:
                await known
                known = None
            yield batch
        if known is not None:
            await known
        if tape.parting:
            yield list(tape.parting)
    finally:
        watch.close()
        live.readers -= 1
        _leave(live, departure)


def _leave(live: LiveRun, departure: Departure) -> None:
    if live.readers or live.end is not None or live.is_handed_over:
        return
    if departure.then == "cancel":
        live.record.cancel()
    elif departure.seconds is not None:
        asyncio.get_running_loop().call_later(departure.seconds, _cancel_if_left, live)


def _cancel_if_left(live: LiveRun) -> None:
    if not live.readers and live.end is None:
        live.record.cancel()
