"""Many rows of a table of SQLite in few statements.

A statement costs more than a row of it: the thread that has it run gives the interpreter away and waits to
have it again. One of a new size costs more still, since SQLite compiles it: there are few sizes. Must never
hold anything but our own words: what a caller said is a value.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from motes.dataclass import dataclass

if TYPE_CHECKING:
    from sqlite3 import Connection

# As many rows as one statement writes, a power of two as all their numbers are; SQLite takes 32766 values.
_MOST: Final = 64


@dataclass(frozen=True, slots=True)
class AddRows:
    """A statement for any number of rows: what stands before them, the places of one, what stands behind."""

    before: str
    places: str
    behind: str = ""

    def __call__(self, db: "Connection", rows: Sequence[tuple[Any, ...]]) -> None:
        """Write them."""
        at = 0
        while left := len(rows) - at:
            size = min(_MOST, 1 << left.bit_length() - 1)
            values = list(chain.from_iterable(rows[at : at + size]))
            db.execute(f"{self.before}{', '.join([self.places] * size)}{self.behind}", values)
            at += size
