"""Many rows of a table of SQLite in one statement.

A statement costs more than a row of it: the thread that has it run gives the interpreter away and waits to
have it again. Must never hold anything but our own words: what a caller said is a value.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from motes.dataclass import dataclass

if TYPE_CHECKING:
    from sqlite3 import Connection

# As many rows as one statement writes; SQLite takes 32766 values.
_MOST: Final = 500


@dataclass(frozen=True, slots=True)
class AddRows:
    """A statement for any number of rows: what stands before them, the places of one, what stands behind."""

    before: str
    places: str
    behind: str = ""

    def __call__(self, db: "Connection", rows: Sequence[tuple[Any, ...]]) -> None:
        """Write them."""
        for at in range(0, len(rows), _MOST):
            part = rows[at : at + _MOST]
            places = ", ".join([self.places] * len(part))
            values = [value for row in part for value in row]
            db.execute(f"{self.before}{places}{self.behind}", values)
