"""One file of SQLite: opened once, written by one thread, whoever asks.

What is asked while a transaction is on its way shares the next one, and nothing waits for others here: who
can wait does so before he asks. Each piece of work is done whole or not at all, whatever becomes of the
others. The thread is its own, so that a file that is locked holds up nothing else. `sqlite3` is imported with
the first work. A file is readable by its owner only. Must never be used over a network's file system, whose
locks are not to be relied on, nor begin work that nobody waits for any more.
"""

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from motes.dataclass import dataclass
from motes.errors import MotesError, StoreError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from sqlite3 import Connection

T = TypeVar("T")

_BUSY_SECONDS: Final = 10.0
# Of pages that were read, a fourth of SQLite's own measure: the system has them too.
_CACHE_KIB: Final = 512
# A change to write-ahead logging does not wait for others by itself.
_OPENINGS: Final = 50
_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class _Asked:
    """A piece of work, and who waits for it."""

    work: "Callable[[Connection], Any]"
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a piece of work gave, or why it gave nothing."""

    value: Any = None
    error: Exception | None = None


class SqliteFile:
    """A file. `make` sets up what is new, `subject` is what its errors speak of, and with `FULL` nothing that
    was told to be written is lost to a machine that loses its power.
    """

    def __init__(
        self,
        path: Path,
        make: "Callable[[Connection], None]",
        subject: str,
        synchronous: Literal["NORMAL", "FULL"],
    ) -> None:
        self.path = path
        self._make = make
        self._subject = subject
        self._synchronous = synchronous
        self._guard = threading.Lock()
        self._waiting: list[_Asked] = []
        self._is_served = False
        self._thread: ThreadPoolExecutor | None = None
        self._opened: Connection | None = None

    async def do(self, work: "Callable[[Connection], T]") -> T:
        """Do the work in a transaction. Raises StoreError, and what the work raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        with self._guard:
            self._waiting.append(_Asked(work, loop, answer))
            is_served, self._is_served = self._is_served, True
        if not is_served:
            self._begin()
        return await answer

    def _begin(self) -> None:
        is_begun = False
        try:
            if self._thread is None:
                from concurrent.futures import ThreadPoolExecutor

                self._thread = ThreadPoolExecutor(1, "motes")
            self._thread.submit(self._serve)
            is_begun = True
        finally:
            if not is_begun:
                self._not_begun()

    def _serve(self) -> None:
        """In a thread: do what is asked, until nothing is."""
        is_through = False
        try:
            while asked := self._next():
                outcomes: list[_Outcome] = []
                try:
                    outcomes = self._outcomes([one.work for one in asked])
                finally:
                    # Nobody waits for ever, even where the thread breaks off.
                    _tell(asked, outcomes or [self._no_outcome()] * len(asked))
            is_through = True
        finally:
            if not is_through:
                self._broken_off()

    def _next(self) -> list[_Asked]:
        """All that is asked; where there is nothing, whoever asks next finds another thread."""
        with self._guard:
            asked = [one for one in self._waiting if not one.answer.cancelled()]
            self._waiting.clear()
            self._is_served = bool(asked)
        return asked

    def _broken_off(self) -> None:
        """Serve those who have asked while a bug was being told."""
        with self._guard:
            self._is_served = bool(self._waiting)
        if self._is_served and self._thread is not None:
            self._thread.submit(self._serve)

    def _not_begun(self) -> None:
        """There is no thread: nobody waits for ever."""
        with self._guard:
            left, self._waiting = self._waiting, []
            self._is_served = False
        _tell(left, [self._no_outcome()] * len(left))

    def _no_outcome(self) -> _Outcome:
        return _Outcome(error=StoreError(f"{self.path}: {self._subject} cannot be kept now"))

    def _outcomes(self, works: "Sequence[Callable[[Connection], Any]]") -> list[_Outcome]:
        import sqlite3

        try:
            db = self._connection()
            if len(works) == 1:
                # What is alone in its transaction takes back what it did with that.
                return [_Outcome(_transacted(db, lambda: works[0](db)))]
            return _transacted(db, lambda: [self._outcome(db, work) for work in works])
        except (sqlite3.Error, OSError, MotesError, ValueError) as error:
            return [_Outcome(error=self._told(error)) for _ in works]

    def _outcome(self, db: "Connection", work: "Callable[[Connection], Any]") -> _Outcome:
        """Of one piece of work, which takes back what it did where it fails."""
        import sqlite3

        db.execute("SAVEPOINT work")
        try:
            outcome = _Outcome(work(db))
        except (sqlite3.Error, MotesError, ValueError) as error:
            if not db.in_transaction:
                # SQLite gave up the whole of it: a full disk, a broken file.
                raise
            db.execute("ROLLBACK TO work")
            outcome = _Outcome(error=self._told(error))
        db.execute("RELEASE work")
        return outcome

    def _told(self, error: Exception) -> Exception:
        """The error as it is told."""
        if isinstance(error, MotesError | ValueError):
            return error
        reason = f"cannot be written: {error.strerror}" if isinstance(error, OSError) else None
        return StoreError(f"{self.path}: {reason or f'{self._subject} cannot be kept now: {error}'}")

    def _connection(self) -> "Connection":
        if self._opened is None:
            self._opened = self._open()
            # A connection that nobody closes is one that Python complains of.
            weakref.finalize(self, self._opened.close)
        return self._opened

    def _open(self) -> "Connection":
        import sqlite3

        path = self.path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made here, since SQLite would make it readable by all; its other files take its mode over.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with ExitStack() as undo:
            undo.callback(db.close)
            _log_ahead(db)
            db.execute(f"PRAGMA synchronous = {self._synchronous}")
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            _transacted(db, lambda: self._make(db))
            undo.pop_all()
        return db


def _log_ahead(db: "Connection") -> None:
    """Readers and a writer side by side; and a process that is killed leaves nothing half done."""
    import sqlite3

    for _ in range(_OPENINGS):
        with suppress(sqlite3.OperationalError):
            db.execute("PRAGMA journal_mode = WAL")
            return
        time.sleep(_PAUSE_SECONDS)
    db.execute("PRAGMA journal_mode = WAL")


def _transacted(db: "Connection", work: Callable[[], T]) -> T:
    """All of it or nothing. The lock is taken at once: what is read then is what is changed."""
    db.execute("BEGIN IMMEDIATE")
    try:
        result = work()
        db.execute("COMMIT")
        return result
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _tell(asked: Sequence[_Asked], outcomes: Sequence[_Outcome]) -> None:
    """Every loop is woken once, however many wait there."""
    told: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], _Outcome]]] = {}
    for one, outcome in zip(asked, outcomes, strict=True):
        told.setdefault(one.loop, []).append((one.answer, outcome))
    for loop, answers in told.items():
        # Who asked in a loop that is closed does not wait any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_answer, answers)


def _answer(answers: Sequence[tuple[asyncio.Future[Any], _Outcome]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue
        if outcome.error is None:
            future.set_result(outcome.value)
        else:
            future.set_exception(outcome.error)
