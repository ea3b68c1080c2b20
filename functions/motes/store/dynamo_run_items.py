"""Runs, the pages of their journals and the lists they stand in, as items of the table.

    pk              sk                          item
    RUN#<id>        RUN                         the run, its fields as attributes
    RUN#<id>        PAGE#<last particle>#<part> a page; one larger than an item may be lies in several parts
    OWNER#<owner>   <created>#<id>              that the owner has this run
    RUNS            <created>#<id>              that there is this run: what an operator lists

Only the run carries `state` and `due_at`. `ttl` is a backstop: of a run two weeks behind its time, with
which it moves, of the rest two months. Cleaning up removes them all long before. Must never put
into a name or a number what does not sort as it should.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from motes.store.run_fields import KEEP_SECONDS, fields_of, run_of
from motes.store.runs import Page, StoredRun

Item = Mapping[str, Any]
Key = dict[str, dict[str, str]]

RUN: Final = "RUN"
RUNS: Final = "RUNS"
PAGE: Final = "PAGE#"
LAST_PAGE: Final = "PAGE~"
"""Behind every page's name."""

_LONG_SECONDS: Final = 60 * 24 * 3600.0
# An item may have 400 KB, with its names and keys.
_PART_BYTES: Final = 350 * 1024
_TIMES: Final = frozenset({"created", "lease_until", "ended", "due_at", "kept_until", "journal_until"})
_OURS: Final = frozenset({"pk", "sk", "ttl"})


def partition(id: str) -> str:
    """Where a run and its pages lie."""
    return f"RUN#{id}"


def of_owner(owner: str) -> str:
    """Where it is listed whose runs there are."""
    return f"OWNER#{owner}"


def run_key(id: str) -> Key:
    """The key of a run."""
    return _key(partition(id), RUN)


def page_name(last: int) -> str:
    """How the names of a page's parts begin: in the order of the pages."""
    return f"{PAGE}{last:012d}#"


def list_name(created: float, id: str = "") -> str:
    """The name of a run in a list, in the order of time; without an id, one before all of that time."""
    return f"{created:017.6f}{'#' if id else ''}{id}"


def list_keys(run: StoredRun) -> list[Key]:
    """Where a run is listed."""
    name = list_name(run.created, run.id)
    return [_key(of_owner(run.owner), name), _key(RUNS, name)]


def run_item(run: StoredRun, now: float) -> dict[str, Any]:
    """The item of a run."""
    return {**run_key(run.id), **attributes(fields_of(run)), "ttl": value_of(ttl_of(run.due_at, now))}


def list_items(run: StoredRun, now: float) -> list[dict[str, Any]]:
    """The items that list a run."""
    rest = {"id": value_of(run.id), "ttl": value_of(round(now + _LONG_SECONDS))}
    return [{**key, **rest} for key in list_keys(run)]


def run_from(item: Item) -> StoredRun:
    """The run of an item. Raises StoreError where it is none."""
    return run_of(fields_from(item))


def fields_from(item: Item) -> dict[str, Any]:
    """The fields of a run's item."""
    return {name: _plain(name, value) for name, value in item.items() if name not in _OURS}


def page_items(id: str, page: Page, now: float) -> Iterator[dict[str, Any]]:
    """The items of a page."""
    pieces = [page.body[at : at + _PART_BYTES] for at in range(0, len(page.body), _PART_BYTES)] or [b""]
    known = attributes(
        {
            "first": page.first,
            "last": page.last,
            "is_last": page.is_last,
            "parts": len(pieces),
            "ttl": round(now + _LONG_SECONDS),
        }
    )
    for part, piece in enumerate(pieces):
        yield {**_key(partition(id), f"{page_name(page.last)}{part:02d}"), **known, "body": value_of(piece)}


def pages_from(items: Iterable[Item]) -> Iterator[Page]:
    """The pages of these items, in their order; one that is not whole ends them."""
    pieces: list[bytes] = []
    for item in items:
        known = {name: _plain(name, value) for name, value in item.items()}
        if known["sk"] != f"{page_name(known['last'])}{len(pieces):02d}":
            return
        pieces.append(known["body"])
        if len(pieces) == known["parts"]:
            yield Page(
                first=known["first"], last=known["last"], body=b"".join(pieces), is_last=known["is_last"]
            )
            pieces = []


def ttl_of(due_at: float | None, now: float) -> int:
    """When DynamoDB may forget a run that nobody cleaned up."""
    return round((now if due_at is None else max(due_at, now)) + KEEP_SECONDS)


def attributes(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as DynamoDB writes them."""
    return {name: value_of(value) for name, value in fields.items()}


def value_of(value: Any) -> dict[str, Any]:
    """One value as DynamoDB writes it."""
    match value:
        case bool():
            return {"BOOL": value}
        case int() | float():
            return {"N": repr(value)}
        case bytes():
            return {"B": value}
        case Mapping():
            return {"M": attributes({name: inner for name, inner in value.items() if inner is not None})}
    return {"S": value}


def _plain(name: str, value: Mapping[str, Any]) -> Any:
    ((kind, inner),) = value.items()
    match kind:
        case "N":
            return float(inner) if name in _TIMES else int(inner)
        case "M":
            return {key: _plain("", item) for key, item in inner.items()}
        case "B":
            return bytes(inner)
    return inner


def _key(pk: str, sk: str) -> Key:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
