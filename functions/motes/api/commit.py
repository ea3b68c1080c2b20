"""The commit rule: an error known early is an HTTP error, one known late is an event of the stream.

The status is held until the first visible particle, an issue or the end, but never longer than a set time;
control particles wait with it. Must never lose or reorder a particle.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from motes import particles as p
from motes.dataclass import dataclass
from motes.executor.run import Batch

# What mostly comes first, and decides nothing.
_UNDECIDED: Final = frozenset({p.ModelName, p.ResponseId, p.ProviderInfra, p.Metrics})


@dataclass(frozen=True, slots=True)
class Committed:
    """The answer is a stream: 200. `held` comes first."""

    held: tuple[p.Particle, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer is an error. Without an issue, the run ended without a word. `run` is all it said."""

    issue: p.Issue | None
    run: tuple[p.Particle, ...]


async def commit(
    source: AsyncGenerator[Batch, None], until: float, confirm: Callable[[], Awaitable[None]]
) -> Committed | Refused:
    """Read on until it is clear what the answer is.

    `until` is a time of the event loop's clock. It is looked at whenever something comes, so the source
    must give a heartbeat now and then. `confirm` is asked when the first thing comes, and what it raises is
    the answer.
    """
    held: list[p.Particle] = []
    async for batch in source:
        if not held:
            await confirm()
        held += batch
        for particle in batch:
            if type(particle) in _UNDECIDED:
                continue
            if p.is_visible(particle):
                return Committed(tuple(held))
            if isinstance(particle, p.Issue):
                return Refused(particle, (*held, *await _rest(source)))
            if isinstance(particle, p.End):
                return Refused(None, tuple(held)) if particle.stop is None else Committed(tuple(held))
        if asyncio.get_running_loop().time() >= until:
            return Committed(tuple(held))
    return Refused(None, tuple(held))


async def _rest(source: AsyncGenerator[Batch, None]) -> list[p.Particle]:
    """Let the run come to its own end, so that it is counted as what it was."""
    return [particle async for batch in source for particle in batch]
