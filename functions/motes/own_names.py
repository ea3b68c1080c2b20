"""Names of which no two are alike, for what callers named twice.

Must never count from the start again: ten thousand equal names cost ten thousand steps.
"""

from collections.abc import Callable


class OwnNames:
    """The names given so far in one request."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def take(self, name: str, numbered: Callable[[int], str]) -> str:
        """The name where it is free, else the first free one of `numbered(2)`, `numbered(3)` and so on."""
        made = name
        if made in self._taken:
            # By the stem, which several long names may share.
            stem = numbered(0)
            n = self._counts.get(stem, 1)
            while made in self._taken:
                n += 1
                made = numbered(n)
            self._counts[stem] = n
        self._taken.add(made)
        return made
