"""What a stored run used, asked for once more where its stream ended without telling.

The snapshot is read by the dialect's own parser. Must never hold up an end for long, nor put a count in place
of one that was told.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Final

from motes import particles as p
from motes.dispatch import Errand
from motes.executor.fetch import MAX_JSON, FetchFailed, fetch
from motes.executor.run import Run
from motes.pump import Pump
from motes.transmitter import Transmitter

_SECONDS: Final = 10.0
_COUNTS: Final = tuple(one.name for one in fields(p.Metrics) if one.name.startswith("tokens_"))


class LateUsage:
    """One run's usage; asked for at most once."""

    def __init__(self, snapshot: Callable[[str], Errand], run: Run) -> None:
        self._snapshot = snapshot
        self._run = run
        self._handle: p.UpstreamHandle | None = None
        self._told: p.Metrics | None = None
        self._has_asked = False

    async def __call__(self, particle: p.Particle) -> list[p.Particle]:
        """The particle; before a good end, the usage that was not told."""
        if isinstance(particle, p.HandleSet):
            self._handle = particle.handle
        elif isinstance(particle, p.Metrics):
            self._told = particle
        elif isinstance(particle, p.End) and particle.reason == "done-dialect" and self._is_missing():
            late = await self._asked()
            return [particle] if late is None else [late, particle]
        return [particle]

    def _is_missing(self) -> bool:
        told = self._told
        return self._handle is not None and (
            told is None or (told.tokens_in is None and told.tokens_out is None)
        )

    async def _asked(self) -> p.Metrics | None:
        if self._has_asked or self._handle is None:
            return None
        self._has_asked = True
        try:
            asked = self._snapshot(self._handle.run_id)
            answer = await fetch(self._run.http, asked, limit=MAX_JSON, seconds=_SECONDS)
        except FetchFailed:
            return None
        dispatch = self._run.dispatch
        pump = Pump(dispatch.demuxer(), dispatch.parser(), Transmitter(self._run.options.new_id))
        read = [*pump.feed(answer.body), *pump.close()]
        found = next((one for one in reversed(read) if isinstance(one, p.Metrics)), None)
        return found and replace(
            self._told or p.Metrics(), **{name: getattr(found, name) for name in _COUNTS}
        )
