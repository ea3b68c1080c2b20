"""Many rows of a table of SQLite in few statements.

A statement costs more than a row of it: the thread that has it run gives the interpreter away and waits to
have it again. One of a new size costs more still, since SQLite compiles it: there are few sizes, though one
for each small number of rows, as most are. A column that has no value in any of them is left out: of each
None sqlite3 asks anew what it may stand for, which costs more than the rest of a row. Must never hold
anything but our own words: what a caller said is a value.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, compress
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
    """A statement for any number of rows: what stands before the names of the columns, these, and what stands
    behind the rows.
    """

    before: str
    columns: tuple[str, ...]
    behind: str = ""

    def __call__(self, db: "Connection", rows: Sequence[tuple[Any, ...]]) -> None:
        """Write them."""
        at, most = 0, len(rows)
        told = [column.count(None) < most for column in zip(*rows, strict=True)]
        columns = tuple(compress(self.columns, told))
        while left := most - at:
            size = left if left <= _FEW else min(_MOST, 1 << left.bit_length() - 1)
            statement = _of_rows(size, self.before, columns, self.behind)
            values = [compress(row, told) for row in rows[at : at + size]]
            db.execute(statement, list(chain.from_iterable(values)))
            at += size


@lru_cache(maxsize=256)
def _of_rows(size: int, before: str, columns: tuple[str, ...], behind: str) -> str:
    """The statement for so many rows."""
    places = f"({', '.join('?' * len(columns))})"
    return f"{before} ({', '.join(columns)}) VALUES {', '.join([places] * size)}{behind}"
