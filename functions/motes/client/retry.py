"""How long a client waits, and how often it tries again.

Values only. Must never wait itself.
"""

from dataclasses import field
from random import Random, SystemRandom
from typing import Final, Literal

from motes.dataclass import dataclass

Restart = Literal["never", "unseen", "always"]
"""Whether an answer whose line broke, and that cannot be joined again, may be asked for anew, which is paid
for twice: `never`, `unseen` (as long as the reader was handed nothing of it), or `always` (a `RetryReset`
with clear `all` then tells the reader that what he has is void).
"""

_LONGEST_WAIT: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """When a client gives a line up, and how it tries again: at most `attempts` times in a row without a new
    particle; 0 is never.

    `idle_s` is the longest silence in seconds; a heartbeat is a word, and a gateway has one every 10 s. Waits
    double from `base` seconds to `cap`, each up to `jitter` of itself longer or shorter. A server that says
    when to come back is obeyed, up to a minute.
    """

    idle_s: float = 35.0
    attempts: int = 3
    base: float = 0.5
    cap: float = 8.0
    jitter: float = 0.25
    rng: Random = field(default_factory=SystemRandom, repr=False, compare=False)

    def delay(self, attempt: int, retry_after: float | None = None) -> float:
        """Seconds to wait before the attempt of that number, from 1."""
        wait = min(self.cap, self.base * 2.0 ** min(attempt - 1, 30))
        wait *= 1 + self.jitter * (2 * self.rng.random() - 1)
        return wait if retry_after is None else max(wait, min(retry_after, _LONGEST_WAIT))
