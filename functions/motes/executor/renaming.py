"""The way back of a tool's name that was sent short: the caller's own name again.

Must never change a name that was not sent so.
"""

from collections.abc import Mapping
from dataclasses import replace

from motes import particles as p


class ToolRenaming:
    """One run's names, by what the vendor calls them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    async def __call__(self, particle: p.Particle) -> list[p.Particle]:
        """The particle, a call under the name that the caller knows."""
        if isinstance(particle, p.ToolCall) and particle.name in self._names:
            return [replace(particle, name=self._names[particle.name])]
        return [particle]
