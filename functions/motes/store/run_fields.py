"""A run as plain fields (text, numbers, truth values, and maps of them) and back, for every store alike.

What is unknown is left out and what is missing takes its default, so that two versions of motes can share a
store. Must never hold a field that a run has not.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final, TypeVar

from motes.dataclass import known_of, members_of, replace
from motes.errors import StoreError
from motes.particles import UpstreamHandle
from motes.store.runs import LOST, MAX_PAGE_BYTES, Page, ReplyForm, RunFlags, StoredRun

_log = logging.getLogger("motes.store")

T = TypeVar("T")

KEEP_SECONDS: Final = 14 * 24 * 3600.0
"""How long after its time a store keeps what cleaning up should have removed."""


def fields_of(run: StoredRun) -> dict[str, Any]:
    """The fields that have a value."""
    # As `asdict` gives them, which copies every text and number.
    found = known_of(run)
    found["reply"] = members_of(run.reply)
    if run.handle is not None:
        found["handle"] = members_of(run.handle)
    return found


def run_of(given: Any) -> StoredRun:
    """The run of these fields. Raises StoreError where they are none of a run."""
    try:
        handle = given.get("handle")
        nested = {
            "reply": _made(ReplyForm, given["reply"]),
            "handle": None if handle is None else _made(UpstreamHandle, handle),
        }
        return _made(StoredRun, {**given, **nested})
    except (AttributeError, KeyError, TypeError):
        raise StoreError("a stored run cannot be read: it lacks fields that every run has") from None


def runs_of(given: Iterable[Any]) -> Iterator[StoredRun]:
    """The runs of these fields. One that cannot be read is told to the log, and hides none of the others."""
    for one in given:
        try:
            yield run_of(one)
        except StoreError as error:
            _log_unreadable(one.get("id") if isinstance(one, Mapping) else None, error)


def _log_unreadable(id: Any, error: StoreError) -> None:
    _log.warning("run_unreadable run=%r reason=%r", id, error.message)


def _made(cls: type[T], given: Mapping[str, Any]) -> T:
    known = _names(cls)  # type: ignore[arg-type]  # (mypy has no bound for it)
    return cls(**{name: value for name, value in given.items() if name in known})


@cache
def _names(cls: Any) -> frozenset[str]:
    return frozenset(field.name for field in fields(cls))


def updated(there: StoredRun, run: StoredRun) -> StoredRun:
    """What stands there after `update`: nobody writes over what others than the worker say."""
    return replace(
        run,
        id=there.id,
        owner=there.owner,
        caller=there.caller,
        created=there.created,
        last_seq=there.last_seq,
        is_cancelled=there.is_cancelled,
    )


def with_handle(there: StoredRun, handle: UpstreamHandle, first_seq: int, due_at: float) -> StoredRun:
    """What stands there after `set_handle`: the handle, or that of an earlier run."""
    if there.handle is not None and not _takes_place(handle, there.handle):
        return there
    return replace(there, handle=handle, first_seq=first_seq, due_at=due_at)


def _takes_place(new: UpstreamHandle, old: UpstreamHandle) -> bool:
    if (new.type, new.run_id) == (old.type, old.run_id):
        return True
    return new.created_at is not None and old.created_at is not None and new.created_at < old.created_at


def flags_of(there: StoredRun | None, worker: str) -> RunFlags:
    """What the worker learns of the run that is there."""
    if there is None or there.worker != worker:
        return LOST
    return RunFlags(is_cancelled=there.is_cancelled)


def all_flags(
    found: Mapping[str, T | None], read: Callable[[T], StoredRun], worker: str
) -> dict[str, RunFlags]:
    """What the worker learns of runs that were looked for, by their ids; `read` reads what was found of one.
    One that cannot be read is told to the log, and hides none of the others.
    """
    flags = {}
    for id, kept in found.items():
        try:
            flags[id] = flags_of(None if kept is None else read(kept), worker)
        except StoreError as error:
            _log_unreadable(id, error)
    return flags


def postponed(run: StoredRun, until: float, problem: str, is_parked: bool) -> StoredRun:
    """What stands there after `postpone`."""
    return replace(
        run,
        state="parked" if is_parked else run.state,
        worker=None,
        lease_until=None,
        due_at=until,
        tries=run.tries + 1,
        problem=problem,
    )


def checked(page: Page) -> Page:
    """The page. Raises StoreError for one that no store takes."""
    if len(page.body) > MAX_PAGE_BYTES:
        raise StoreError(f"a page of {len(page.body)} bytes is larger than {MAX_PAGE_BYTES}")
    if not 1 <= page.first <= page.last:
        raise StoreError(f"a page cannot go from particle {page.first} to {page.last}")
    return page


def without_gap(pages: list[Page], after: int) -> list[Page]:
    """The pages in order, up to the first gap."""
    whole: list[Page] = []
    for page in pages:
        if page.first > after + 1:
            break
        whole.append(page)
        after = page.last
    return whole
