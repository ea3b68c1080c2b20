"""Where a client does its business: a gateway, or the vendors themselves.

Values and a protocol. Must never know which of the two it is.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from motes.client.line import Line
from motes.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be asked for; `facts` is all that is told of it."""

    id: str
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)


class Desk(Protocol):
    """Where a client does its business: a gateway, or the vendors themselves."""

    @property
    def line(self) -> Line:
        """The way to particles."""
        ...

    async def cancel(self, run_id: str) -> None:
        """Stop a run."""
        ...

    async def delete(self, run_id: str) -> bool:
        """Forget a run: whether that is done."""
        ...

    async def models(self) -> list[Model]:
        """What can be asked for."""
        ...

    async def aclose(self) -> None:
        """Close what was opened."""
        ...
