"""Where a run's particles come from: what the client's loop wants of a gateway or of a vendor.

Values and a protocol. Must never know which of the two it is.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from motes import particles as p
from motes.errors import VendorError

Numbered: TypeAlias = tuple[int | None, p.Particle]
"""A particle and its number in the run, where the run can be joined again."""

Batch: TypeAlias = Sequence[Numbered]
"""What came in one read, in order. Empty where that is a part of a particle, which may be large."""


class Broken(Exception):
    """A line that stopped without the run's `End`.

    `sent` tells that a run may have begun, `is_final` that trying again cannot help. `particles` are the
    whole of a run that the gateway refused to stream, its `End` among them.
    """

    def __init__(
        self,
        error: VendorError,
        phase: p.Phase = "dispatch-read",
        *,
        sent: bool = True,
        is_final: bool = False,
        particles: tuple[p.Particle, ...] = (),
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.phase = phase
        self.sent = sent
        self.is_final = is_final
        self.particles = particles


class Line(Protocol):
    """One way to particles. Both methods raise Broken, and close what they opened when they are closed."""

    def start(self, body: Mapping[str, Any], meet: Callable[[str], None]) -> AsyncGenerator[Batch, None]:
        """A new run; `meet` is told its id as soon as that is known, where it can be joined again."""
        ...

    def rejoin(self, run_id: str, after: int) -> AsyncGenerator[Batch, None]:
        """A run that exists, from the particle after that number."""
        ...
