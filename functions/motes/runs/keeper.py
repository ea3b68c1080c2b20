"""Looks after the runs that go on in this process: one task for all of them, as long as there are any.

A run that is a second old gets its record here, off the path of its bytes; its lease is renewed, and a flag
to cancel is seen. Must never hold a run up.
"""

import asyncio
from typing import Final

from motes.runs.live import LiveRun

_EVERY: Final = 0.75


class Keeper:
    """The runs of this process by their ids."""

    def __init__(self) -> None:
        self.runs: dict[str, LiveRun] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, run: LiveRun) -> None:
        """Look after a run from now on."""
        self.runs[run.id] = run
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep())

    def remove(self, run: LiveRun) -> None:
        """The run is over here."""
        self.runs.pop(run.id, None)
        if not self.runs and self._task is not None:
            # A process that is frozen between two requests must not wake in the middle of a look.
            self._task.cancel()
            self._task = None

    def of(self, id: str, owner: str | None) -> LiveRun | None:
        """The run, where it is here and is that owner's (None: the operator's, who may see all)."""
        run = self.runs.get(id)
        return run if run is not None and owner in (None, run.record.run.owner) else None

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            await asyncio.gather(*[run.record.look() for run in self.runs.values()])
