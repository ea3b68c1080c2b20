"""Where the particles of a run are changed before they are given on: one at a time, in order.

Which transforms there are stands in the dispatch. Must never lose a particle: where a transform fails, what
it was given goes on as it was.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from motes import particles as p
from motes.executor.run import Batch, Run


class Transform(Protocol):
    """One change. It sees every particle of the run, whatever came of the one before."""

    async def __call__(self, particle: p.Particle) -> list[p.Particle]:
        """What stands in place of the particle."""
        ...


async def transformed(source: AsyncGenerator[Batch, None], run: Run) -> AsyncGenerator[Batch, None]:
    """The source with the transforms of the run's dispatch. What came before a change that takes time is
    given on at once.
    """
    transforms = _made(run)
    async with aclosing(source):
        async for batch in source:
            for particle in batch:
                given = [particle]
                for transform in transforms:
                    given = [after for before in given for after in await _tried(transform, before, run)]
                yield given


async def _tried(transform: Transform, particle: p.Particle, run: Run) -> list[p.Particle]:
    try:
        return await transform(particle)
    except Exception as bug:
        # A boundary: what was to be made of the particle is less than the particle.
        run.observer.bug(run.dispatch.label, bug)
        return [particle]


def _made(run: Run) -> list[Transform]:
    """Only what is used is loaded."""
    chosen, transforms = run.dispatch.transforms, list[Transform]()
    if run.dispatch.tool_names:
        from motes.executor.renaming import ToolRenaming

        transforms.append(ToolRenaming(run.dispatch.tool_names))
    if chosen.file is not None:
        from motes.executor.inlining import FileInlining

        transforms.append(FileInlining(chosen.file, run.http))
    if chosen.resolve_links:
        from motes.executor.links import LinkResolving

        transforms.append(LinkResolving(run.http))
    if chosen.snapshot is not None:
        from motes.executor.late_usage import LateUsage

        transforms.append(LateUsage(chosen.snapshot, run))
    return transforms
