"""The text of an answer, kept piece by piece for the rare case that somebody asks for the whole of it.

A piece of a few characters takes some ninety bytes as a string of its own: with hundreds of streams at once
that is most of what they hold, so a few pieces become one, what is long is packed, and what is longer than
anybody may ask for is let go. Pure. Must never give another text than was added.
"""

import zlib
from math import inf
from typing import Final

_FEW: Final = 32
"""So many pieces are kept apart; to join them costs next to nothing."""
_LONG: Final = 16 * 1024
"""Characters from which on a text is packed; most answers have fewer."""
# Any text a vendor can send has bytes by this, halves of characters too.
_ERRORS: Final = "surrogatepass"


class KeptText:
    """Grows by `add`; `whole` gives all of it. Of more than about `most` characters nothing is kept."""

    __slots__ = ("_most", "_packed", "_pieces", "is_lost")

    def __init__(self, text: str = "", most: float = inf) -> None:
        self.is_lost = False
        """Whether it was too long to be kept; then there is no whole."""
        self._most = most
        self._packed: list[bytes] = []
        self._pieces = [text] if text else []

    def __bool__(self) -> bool:
        return bool(self._pieces or self._packed or self.is_lost)

    def add(self, piece: str) -> str:
        """More of it; gives it back."""
        pieces = self._pieces
        if piece:
            pieces.append(piece)
        if len(pieces) > _FEW:
            self._pieces = [self._packed_if_long("".join(pieces))]
        return piece

    def whole(self) -> str:
        """All that was added, nothing where that is lost. From then on it is one piece: who asks often pays
        for what came since.
        """
        pieces = self._pieces
        if self.is_lost:
            return ""
        if self._packed or len(pieces) > 1:
            packed = b"".join(map(zlib.decompress, self._packed)).decode("utf-8", _ERRORS)
            self._packed, self._pieces = [], [packed + "".join(pieces)]
        return self._pieces[0] if self._pieces else ""

    def _packed_if_long(self, text: str) -> str:
        """What of the text is left to be kept as it is."""
        if self.is_lost:
            return ""
        if len(text) < _LONG:
            return text
        self._packed.append(zlib.compress(text.encode("utf-8", _ERRORS), 1))
        if len(self._packed) * _LONG >= self._most:
            self._packed.clear()
            self.is_lost = True
        return ""
