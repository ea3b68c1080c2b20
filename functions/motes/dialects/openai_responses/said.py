"""What one part of the answer has said so far, and what of its whole text is still news.

Every part comes in pieces, then once or more as a whole: in its own event, its item, the final response.
Must never say a character twice, and never lose one that only the whole holds.
"""

from motes.kept_text import KeptText


class Said:
    """One text of one part."""

    __slots__ = ("_kept", "start")

    def __init__(self) -> None:
        self._kept = KeptText()
        self.start: int | None = None
        """Where the part begins in the text of the whole answer, in characters."""

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def text(self) -> str:
        """All that was said."""
        return self._kept.whole()

    def add(self, piece: str) -> str:
        """A piece: all of it is news."""
        return self._kept.add(piece)

    def rest(self, whole: str) -> str | None:
        """Of the whole text what was not said yet; None where the pieces said something else."""
        before = self.text
        if not whole or before.strip() == whole.strip():
            return ""
        if not whole.startswith(before):
            return None
        self._kept = KeptText(whole)
        return whole[len(before) :]
