"""What happens to a run when its last reader has gone, as a value."""

from typing import Literal

from motes.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Departure:
    """`seconds` is how long a run that is left goes on at most; None: to its end."""

    then: Literal["detach", "cancel"] = "cancel"
    seconds: float | None = None
