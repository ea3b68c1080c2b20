"""Where a place of the answer's text stands in the content that a caller gets.

The two differ where reasoning is written into the content between think tags. Pure. Must never move a place
that is not known.
"""

from dataclasses import replace

from motes import particles as p


class Places:
    """Tell it everything that is written into the content, in order. Sizes and places are in characters."""

    __slots__ = ("_insertions", "length")

    def __init__(self) -> None:
        self.length = 0
        """How much text of the answer was written; whoever writes some adds its size."""
        self._insertions: list[tuple[int, int]] = []

    @property
    def here(self) -> int:
        """Where in the content the next text begins."""
        return self.start(self.length)

    def inserted(self, size: int) -> None:
        """Something else than text of the answer was written."""
        if size:
            self._insertions.append((self.length, size))

    def start(self, place: int) -> int:
        """Where in the content stands what begins at this place of the text."""
        return place + sum(size for at, size in self._insertions if at <= place)

    def moved(self, citation: p.Citation) -> p.Citation:
        """The citation with its places in the content. Nothing written where it ends is part of it."""
        start, end = citation.start, citation.end
        if not self._insertions or start is None or end is None or end <= start:
            return citation
        moved = end + sum(size for at, size in self._insertions if at < end)
        return replace(citation, start=self.start(start), end=moved)
