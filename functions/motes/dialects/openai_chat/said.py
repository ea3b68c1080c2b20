"""What one channel of the answer has said so far, and what of a new text is news.

Vendors repeat themselves: some send the whole text so far in every delta, some close a stream of deltas
with the whole message. Must never say a character twice, nor hold one back; nor keep a long text, of which
its beginning, its length and a digest tell whether another one repeats it.
"""

from hashlib import blake2b
from typing import Final

_FEW: Final = 32
"""So many pieces are kept apart; to join them costs next to nothing."""
_LONG: Final = 4096
"""Characters that are kept as they are; most answers have fewer."""


class Said:
    """One channel (text, or reasoning) of one answer."""

    __slots__ = ("_digest", "_head", "_length", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        """What was said since the rest was folded."""
        self._head = ""
        self._length = 0
        self._digest: blake2b | None = None
        """Of all that was folded; none as long as the head is all of it."""

    def __bool__(self) -> bool:
        return bool(self._length or self._pieces)

    def add(self, text: str) -> str:
        """An increment: all of it is news."""
        pieces = self._pieces
        if text:
            pieces.append(text)
        if len(pieces) > _FEW:
            self._fold()
        return text

    news = add
    """What of a delta is news, as this channel's vendor says it."""

    def reach(self, text: str) -> str:
        """A text that may repeat everything from the start: what goes beyond it. One that goes another
        way is taken for an increment.
        """
        if self._is_begin_of(text):
            return self.add(text[self._length :])
        # A shorter text than was said, that begins as it did, is an older state of it.
        is_older = len(text) < self._length and text[:_LONG] == self._head[: len(text)]
        return "" if is_older else self.add(text)

    def extend(self, text: str) -> str:
        """A text that repeats everything from the start where it begins with it, else an increment."""
        return self.reach(text) if self and self._is_begin_of(text) else self.add(text)

    def repeat(self, text: str) -> str:
        """A text that is known to repeat what was said: what goes beyond it, or nothing."""
        return self.reach(text) if self._is_begin_of(text) else ""

    def _is_begin_of(self, text: str) -> bool:
        """Whether the text begins with all that was said."""
        self._fold()
        if len(text) < self._length:
            return False
        if self._digest is None:
            return text.startswith(self._head)
        return blake2b(_bytes_of(text[: self._length])).digest() == self._digest.digest()

    def _fold(self) -> None:
        """Keep of the pieces what is kept."""
        if not self._pieces:
            return
        folded = "".join(self._pieces)
        self._pieces.clear()
        if self._digest is None and self._length + len(folded) > _LONG:
            self._digest = blake2b(_bytes_of(self._head))
        if self._digest is not None:
            self._digest.update(_bytes_of(folded))
        self._head += folded[: _LONG - len(self._head)]
        self._length += len(folded)


class Cumulative(Said):
    """A channel of which each delta repeats all of it."""

    __slots__ = ()
    news = Said.reach


class Either(Said):
    """A channel of which a delta may repeat all of it."""

    __slots__ = ()
    news = Said.extend


def _bytes_of(text: str) -> bytes:
    """Any text a vendor can send has bytes by this, halves of characters too."""
    return text.encode("utf-8", "surrogatepass")
