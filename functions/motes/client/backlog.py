"""What has come and the reader has not yet taken: in order, complete, and no longer than it must be.

Must never wait for the reader, and never lose a character: once it is long, neighbouring pieces of one kind
are kept as one piece, so that a slow reader gets the same answer in larger pieces.
"""

from collections import deque
from dataclasses import replace
from typing import Final

from motes import particles as p

_LONG: Final = 1024
_PIECES: Final = 512


class _Joined:
    """Neighbouring pieces that are handed over as one."""

    __slots__ = ("first", "pieces")

    def __init__(self, first: p.Particle, text: str) -> None:
        self.first = first
        self.pieces = [text]


class Backlog:
    """First in, first out."""

    def __init__(self) -> None:
        self._items: deque[p.Particle | _Joined] = deque()
        self._is_full = False

    def __len__(self) -> int:
        return len(self._items)

    def put(self, particle: p.Particle) -> None:
        """Add what came last."""
        if len(self._items) < _LONG or not self._joins(particle):
            self._items.append(particle)
            self._is_full = False

    def take(self) -> p.Particle:
        """What came first. Raises IndexError where nothing is left."""
        item = self._items.popleft()
        return _whole(item) if isinstance(item, _Joined) else item

    def _joins(self, particle: p.Particle) -> bool:
        """Whether the last entry could take it in."""
        last = self._items[-1]
        before = last.first if isinstance(last, _Joined) else last
        if isinstance(particle, p.Heartbeat):
            return isinstance(before, p.Heartbeat)
        if self._is_full or not _are_one(before, particle):
            return False
        if not isinstance(last, _Joined):
            last = self._items[-1] = _Joined(last, _text(last))
        last.pieces.append(_text(particle))
        if len(last.pieces) >= _PIECES:
            # The next piece opens an entry of its own, so that every character is joined once.
            self._items[-1], self._is_full = _whole(last), True
        return True


def _are_one(before: p.Particle, particle: p.Particle) -> bool:
    """Whether a piece goes on where the one before it stopped."""
    match particle:
        case p.Text() | p.Refusal():
            return type(before) is type(particle)
        case p.Reasoning():
            same = isinstance(before, p.Reasoning) and before.weak == particle.weak
            return same and not particle.restart
        case p.ToolCallArguments():
            return isinstance(before, p.ToolCallArguments) and particle.id == before.id
    return False


def _text(particle: p.Particle) -> str:
    match particle:
        case p.Text() | p.Reasoning() | p.Refusal():
            return particle.text
        case p.ToolCallArguments():
            return particle.arguments
    return ""


def _whole(item: _Joined) -> p.Particle:
    text = "".join(item.pieces)
    match item.first:
        case p.Text() | p.Reasoning() | p.Refusal() as first:
            return replace(first, text=text)
        case p.ToolCallArguments() as first:
            return replace(first, arguments=text)
    return item.first
