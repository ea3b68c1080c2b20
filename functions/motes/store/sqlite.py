"""Runs in one file of `MOTES_HOME`: the local store, which several processes share and a restart does not
touch.

Each method is done whole or not at all. Must never be used over a network's file system: its locks are not to
be relied on there.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from motes import jsontext
from motes.errors import StoreError
from motes.particles import UpstreamHandle
from motes.store.run_fields import (
    KEEP_SECONDS,
    all_flags,
    checked,
    fields_of,
    flags_of,
    postponed,
    run_of,
    runs_of,
    updated,
    with_handle,
    without_gap,
)
from motes.store.runs import LOST, Page, RunFlags, StoredRun
from motes.store.sqlite_file import SqliteFile
from motes.store.sqlite_rows import AddRows

if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION: Final = 1
"""Of the schema, in `user_version`."""

_SCHEMA: Final = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, created REAL NOT NULL, is_listed INTEGER NOT NULL,
        state TEXT NOT NULL, due_at REAL, lease_until REAL, written REAL NOT NULL, fields BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX runs_due ON runs (due_at) WHERE due_at IS NOT NULL AND state != 'parked'",
    "CREATE INDEX runs_of_owner ON runs (owner, created) WHERE is_listed",
    "CREATE INDEX runs_by_age ON runs (created) WHERE is_listed",
    "CREATE INDEX runs_never_due ON runs (written) WHERE due_at IS NULL",
    """CREATE TABLE pages (
        run TEXT NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL, is_last INTEGER NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (run, last)
    ) WITHOUT ROWID""",
)
_ROW: Final = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
_KEEP: Final = f"INSERT OR REPLACE INTO runs VALUES {_ROW}"  # noqa: S608 (our words)
_COLUMNS: Final = (
    "id",
    "owner",
    "created",
    "is_listed",
    "state",
    "due_at",
    "lease_until",
    "written",
    "fields",
)
_ADD: Final = AddRows("INSERT INTO runs", _COLUMNS, " ON CONFLICT (id) DO NOTHING")

Change = Callable[[StoredRun], StoredRun | None]


class SqliteRuns:
    """A `RunStore`."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._file = SqliteFile(path, lambda db: _make(db, path), "runs", "NORMAL")

    async def put(self, run: StoredRun) -> bool:
        """See `RunStore`."""
        return await self._file.do(lambda db: _read(db, run.id) is None and self._keep(db, run))

    async def put_all(self, runs: Sequence[StoredRun]) -> Mapping[str, StoreError]:
        """See `RunStore`. All of them or none."""
        try:
            await self._file.do(lambda db: _ADD(db, [self._row(run) for run in runs]))
        except StoreError as error:
            return {run.id: error for run in runs}
        return {}

    async def update(self, run: StoredRun, *, worker: str) -> RunFlags:
        """See `RunStore`."""
        return await self._as_worker(run.id, worker, lambda there: updated(there, run))

    async def get(self, id: str, *, owner: str | None) -> StoredRun | None:
        """See `RunStore`."""
        return _owned(await self._file.do(lambda db: _read(db, id)), owner)

    async def list(
        self, *, owner: str | None, limit: int, before: float | None = None
    ) -> Sequence[StoredRun]:
        """See `RunStore`."""
        until = float("inf") if before is None else before
        whose, known = ("1", ()) if owner is None else ("owner = ?", (owner,))
        asked = f"SELECT fields FROM runs WHERE is_listed AND {whose} AND created < ?"  # noqa: S608 (our words)
        ordered = f"{asked} ORDER BY created DESC, id DESC LIMIT ?"
        return await self._file.do(lambda db: _runs(db, ordered, (*known, until, limit)))

    async def set_handle(
        self, id: str, handle: UpstreamHandle, *, first_seq: int, due_at: float
    ) -> UpstreamHandle | None:
        """See `RunStore`."""
        there = await self._change(id, lambda run: with_handle(run, handle, first_seq, due_at))
        return None if there is None else there.handle

    async def renew(self, id: str, *, worker: str, until: float) -> RunFlags:
        """See `RunStore`."""
        return await self._as_worker(id, worker, lambda run: replace(run, lease_until=until))

    async def flags(self, ids: Sequence[str], *, worker: str) -> Mapping[str, RunFlags]:
        """See `RunStore`."""
        found = await self._file.do(lambda db: _rows(db, ids))
        return all_flags(dict.fromkeys(ids) | found, _run_in, worker)

    async def claim(self, run: StoredRun, *, worker: str, until: float, now: float) -> StoredRun | None:
        """See `RunStore`."""

        def taken(there: StoredRun) -> StoredRun | None:
            is_held = there.worker != worker and there.lease_until is not None and there.lease_until > now
            return None if is_held else replace(there, worker=worker, lease_until=until)

        return await self._change(run.id, taken)

    async def append(self, id: str, page: Page, *, worker: str, until: float) -> RunFlags:
        """See `RunStore`."""
        checked(page)
        return await self._file.do(lambda db: self._append(db, id, page, worker, until))

    async def pages(self, id: str, *, after: int, limit: int) -> Sequence[Page]:
        """See `RunStore`."""
        asked = (
            "SELECT first, last, body, is_last FROM pages WHERE run = ? AND last > ? ORDER BY last LIMIT ?"
        )
        rows = await self._file.do(lambda db: db.execute(asked, (id, after, limit)).fetchall())
        found = [Page(first=row[0], last=row[1], body=row[2], is_last=bool(row[3])) for row in rows]
        return without_gap(found, after)

    async def cancel(self, id: str, *, owner: str | None) -> StoredRun | None:
        """See `RunStore`."""
        return await self._change(id, lambda run: _owned(replace(run, is_cancelled=True), owner))

    async def due(self, now: float, limit: int) -> Sequence[StoredRun]:
        """See `RunStore`."""
        asked = (
            "SELECT fields FROM runs WHERE due_at <= ?1 AND state != 'parked'"
            " AND (lease_until IS NULL OR lease_until <= ?1) ORDER BY due_at LIMIT ?2"
        )

        def found(db: "Connection") -> list[StoredRun]:
            _forget(db, self._now() - KEEP_SECONDS)
            return _runs(db, asked, (now, limit))

        return await self._file.do(found)

    async def postpone(self, run: StoredRun, *, until: float, problem: str, is_parked: bool = False) -> bool:
        """See `RunStore`."""
        flags = await self._as_worker(
            run.id, run.worker, lambda there: postponed(there, until, problem, is_parked)
        )
        return not flags.is_lost

    async def drop_pages(self, id: str) -> None:
        """See `RunStore`."""
        await self._file.do(lambda db: db.execute("DELETE FROM pages WHERE run = ?", (id,)))

    async def delete(self, id: str) -> None:
        """See `RunStore`. One transaction: nobody sees the run without its pages."""

        def gone(db: "Connection") -> None:
            db.execute("DELETE FROM pages WHERE run = ?", (id,))
            db.execute("DELETE FROM runs WHERE id = ?", (id,))

        await self._file.do(gone)

    async def _as_worker(self, id: str, worker: str | None, change: Change) -> RunFlags:
        there = await self._change(id, lambda run: change(run) if run.worker == worker else None)
        return LOST if there is None else RunFlags(is_cancelled=there.is_cancelled)

    async def _change(self, id: str, change: Change) -> StoredRun | None:
        """The run as it stands then; None, and nothing changed, where there is none or the change is none."""

        def changed(db: "Connection") -> StoredRun | None:
            there = _read(db, id)
            run = there and change(there)
            return run if run and self._keep(db, run) else None

        return await self._file.do(changed)

    def _append(self, db: "Connection", id: str, page: Page, worker: str, until: float) -> RunFlags:
        there = _read(db, id)
        flags = flags_of(there, worker)
        if there is None or flags.is_lost:
            return LOST
        if page.first != there.last_seq + 1:
            return flags if _has(db, id, page) else LOST
        row = (id, page.last, page.first, page.is_last, page.body)
        db.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", row)
        self._keep(db, replace(there, last_seq=page.last, lease_until=until))
        return flags

    def _keep(self, db: "Connection", run: StoredRun) -> bool:
        db.execute(_KEEP, self._row(run))
        return True

    def _row(self, run: StoredRun) -> tuple[Any, ...]:
        # Of classes that sqlite3 takes as they are: of bytes and truth values it asks what they stand for.
        fields = bytearray(jsontext.dump_bytes(fields_of(run)))
        values = (run.id, run.owner, run.created, int(run.is_listed), run.state, run.due_at, run.lease_until)
        return (*values, self._now(), fields)


def _make(db: "Connection", path: Path) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise StoreError(
            f"{path}: was written by a newer version of motes; update this one, or move the file away"
        )
    if version == 0:
        for statement in _SCHEMA:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")


def _read(db: "Connection", id: str) -> StoredRun | None:
    found = db.execute("SELECT fields FROM runs WHERE id = ?", (id,)).fetchone()
    return _run_in(found[0]) if found else None


@lru_cache(maxsize=256)
def _run_in(raw: Any) -> StoredRun:
    """The run that stands in a row. A run that goes on is looked at every second, and mostly is the same."""
    return run_of(_fields(raw))


def _rows(db: "Connection", ids: Sequence[str]) -> dict[str, Any]:
    """What stands in the rows of those runs that are there."""
    places = ", ".join("?" * len(ids))
    asked = f"SELECT id, fields FROM runs WHERE id IN ({places})"  # noqa: S608 (our words)
    return dict(db.execute(asked, ids))


def _runs(db: "Connection", asked: str, values: tuple[Any, ...]) -> list[StoredRun]:
    return [*runs_of(_fields(raw) for (raw,) in db.execute(asked, values))]


def _fields(raw: Any) -> Any:
    """What stands in a row; whether it is a run's is `run_of`'s to say."""
    try:
        return jsontext.loads(raw)
    except (TypeError, ValueError):
        return None


def _owned(run: StoredRun | None, owner: str | None) -> StoredRun | None:
    """The run, unless it is somebody else's."""
    return run if run is not None and owner in (None, run.owner) else None


def _has(db: "Connection", id: str, page: Page) -> bool:
    asked = "SELECT 1 FROM pages WHERE run = ? AND last = ? AND first = ?"
    return db.execute(asked, (id, page.last, page.first)).fetchone() is not None


def _forget(db: "Connection", before: float) -> None:
    """Remove what nobody will clean up: it has no time to be due at, and was written before that one."""
    never = "SELECT id FROM runs WHERE due_at IS NULL AND written < ?"
    db.execute(f"DELETE FROM pages WHERE run IN ({never})", (before,))  # noqa: S608 (our words)
    db.execute(f"DELETE FROM runs WHERE id IN ({never})", (before,))  # noqa: S608 (our words)
