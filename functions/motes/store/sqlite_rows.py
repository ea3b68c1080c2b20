"""Many rows of a table of SQLite in few statements.

A statement costs more than a row of it: the thread that has it run gives the interpreter away and waits to
have it again. One of a new size costs more still, since SQLite compiles it: there are few sizes, though one
for each small number of rows, as most are. Must never hold anything but our own words: what a caller said is
a value.
"""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from motes.dataclass import dataclass

if TYPE_CHECKING:
    from sqlite3 import Connection

# Up to so many rows are one statement, whatever their number.
_FEW: Final = 8
# As many rows as one statement writes, a power of two as all larger numbers are; SQLite takes 32766 values.
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
            size = left if left <= _FEW else min(_MOST, 1 << left.bit_length() - 1)
            statement = _of_rows(size, self.before, self.places, self.behind)
            db.execute(statement, list(chain.from_iterable(rows[at : at + size])))
            at += size


@cache
def _of_rows(size: int, before: str, places: str, behind: str) -> str:
    """The statement for so many rows."""
    return f"{before}{', '.join([places] * size)}{behind}"
