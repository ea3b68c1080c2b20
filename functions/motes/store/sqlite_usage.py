"""Usage rows in one file of `MOTES_HOME`.

Each method is done whole or not at all. Must never be used over a network's file system.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from motes.store.sqlite_file import SqliteFile
from motes.store.sqlite_rows import AddRows
from motes.store.usage import DAY, UsageRow

if TYPE_CHECKING:
    from sqlite3 import Connection

FILE_NAME: Final = "usage.sqlite"

_PAGE: Final = 5000
# How often those that are too old are looked for: nobody is told of them meanwhile.
_TIDY_SECONDS: Final = 60.0
_COLUMNS: Final = (
    "run",
    "at",
    "key",
    "vendor",
    "model",
    "finish",
    "source",
    "tokens_in",
    "tokens_cached",
    "tokens_written",
    "tokens_out",
    "tokens_reasoning",
    "cost",
    "currency",
    "margin",
    "context",
)
_values: Final = attrgetter(*_COLUMNS)
_QUOTED: Final = tuple([f'"{name}"' for name in _COLUMNS])
_LIST: Final = ", ".join(_QUOTED)
_MAKE: Final = (
    """CREATE TABLE IF NOT EXISTS usage (
        run TEXT PRIMARY KEY, at REAL NOT NULL, "key" TEXT NOT NULL, vendor TEXT NOT NULL,
        model TEXT NOT NULL, finish TEXT NOT NULL, source TEXT NOT NULL, tokens_in INTEGER,
        tokens_cached INTEGER, tokens_written INTEGER, tokens_out INTEGER, tokens_reasoning INTEGER,
        cost REAL, currency TEXT NOT NULL, margin REAL NOT NULL, context TEXT
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS usage_by_time ON usage (at, run)",
)
_ADD: Final = AddRows("INSERT OR REPLACE INTO usage", _QUOTED)
_READ: Final = f"SELECT {_LIST} FROM usage WHERE (at, run) > (?, ?) AND at < ? ORDER BY at, run LIMIT ?"  # noqa: S608 (our words)


class SqliteUsage:
    """A `UsageStore`. Rows older than `days` go when others come."""

    def __init__(self, path: Path, days: int, now: Callable[[], float] = time.time) -> None:
        self.path = path
        self._days = days
        self._now = now
        self._file = SqliteFile(path, _make, "usage", "FULL")
        self._tidied = float("-inf")

    async def add(self, rows: Sequence[UsageRow]) -> None:
        """See `UsageStore`."""
        values = [_values(row) for row in rows]
        now = self._now()

        def added(db: "Connection") -> None:
            _ADD(db, values)
            if abs(now - self._tidied) >= _TIDY_SECONDS:
                db.execute("DELETE FROM usage WHERE at < ?", (now - self._days * DAY,))
                self._tidied = now

        await self._file.do(added)

    async def between(self, since: float, until: float) -> AsyncIterator[Sequence[UsageRow]]:
        """See `UsageStore`."""
        # No run's id is smaller than an empty one.
        last: tuple[float, str] = (max(since, self._now() - self._days * DAY), "")
        while page := await self._page(last, until):
            yield page
            last = (page[-1].at, page[-1].run)

    async def _page(self, last: tuple[float, str], until: float) -> Sequence[UsageRow]:
        if not self.path.exists():
            return ()
        rows = await self._file.do(lambda db: db.execute(_READ, (*last, until, _PAGE)).fetchall())
        return [UsageRow(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _make(db: "Connection") -> None:
    for statement in _MAKE:
        db.execute(statement)
