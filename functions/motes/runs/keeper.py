"""Looks after the runs that go on in this process: a few at a time, as long as there are any.

A run that is a second old gets its record here, off the path of its bytes; its lease is renewed, and a flag
to cancel is seen. Must never hold a run up.
"""

import asyncio
from typing import Final

from motes.runs.live import LiveRun
from motes.runs.record import Desk, look_after

_EVERY: Final = 0.75
# Hundreds at once took a megabyte, and held the streams up for as long as their beginnings took.
_AT_ONCE: Final = 32


class Keeper:
    """The runs of this process by their ids."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.runs: dict[str, LiveRun] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    def add(self, run: LiveRun) -> None:
        """Look after a run from now on."""
        self.runs[run.id] = run
        if self._timer is None and (self._looking is None or self._looking.done()):
            self._wait()

    def remove(self, run: LiveRun) -> None:
        """The run is over here."""
        self.runs.pop(run.id, None)
        if self.runs:
            return
        # A process that is frozen between two requests must not wake in the middle of a look.
        if self._timer is not None:
            self._timer.cancel()
        if self._looking is not None:
            self._looking.cancel()
        self._timer = self._looking = None

    def of(self, id: str, owner: str | None) -> LiveRun | None:
        """The run, where it is here and is that owner's (None: the operator's, who may see all)."""
        run = self.runs.get(id)
        return run if run is not None and owner in (None, run.record.run.owner) else None

    def _wait(self) -> None:
        # No task before there is something to do: most runs are over by then.
        self._timer = asyncio.get_running_loop().call_later(_EVERY, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        runs = list(self.runs.values())
        for at in range(0, len(runs), _AT_ONCE):
            # One that ended in the same moment is its settling's to write.
            going_on = [run.record for run in runs[at : at + _AT_ONCE] if run.id in self.runs]
            await look_after(self._desk, going_on)
        self._wait()
