"""Sums of usage rows, as an operator asks for them: by key, model, day, in any order.

What `motes usage` and the operators' API both tell. Must never add what was measured to what was estimated
without saying how much of the sum is which.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal, get_args

from motes.dataclass import dataclass
from motes.errors import InvalidRequest
from motes.store.usage import UsageRow, UsageStore

Dimension = Literal["key", "vendor", "model", "day", "finish", "source", "context"]

DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)
DEFAULT_DAYS: Final = 30

_COUNTS: Final = ("tokens_in", "tokens_cached", "tokens_written", "tokens_out", "tokens_reasoning")
_PLACES: Final = Decimal("1e-9")
_AGO: Final = re.compile(r"([0-9]{1,5})([dh])")


@dataclass(slots=True, kw_only=True)
class Sums:
    """The sums of some runs. `cost_measured` is the part of `cost` whose tokens the vendor counted, all of
    them; `unpriced` counts the runs that used tokens and have no cost.
    """

    runs: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_written: int = 0
    tokens_out: int = 0
    tokens_reasoning: int = 0
    cost: Decimal = Decimal(0)
    cost_measured: Decimal = Decimal(0)
    measured: int = 0
    partial: int = 0
    estimated: int = 0
    unpriced: int = 0

    def add(self, row: UsageRow) -> None:
        """One run more."""
        self.runs += 1
        for name in (*_COUNTS, row.source):
            more = 1 if name == row.source else getattr(row, name) or 0
            setattr(self, name, getattr(self, name) + more)
        if row.cost is not None:
            cost = Decimal(repr(row.cost))
            self.cost += cost
            self.cost_measured += cost if row.source == "measured" else 0
        elif row.tokens_out is not None:
            self.unpriced += 1


COLUMNS: Final = (
    "runs",
    *_COUNTS,
    "cost",
    "cost_measured",
    "measured",
    "partial",
    "estimated",
    "unpriced",
)


@dataclass(slots=True, kw_only=True)
class Report:
    """Sums by group, in the order of their names, and of everything. Times are in epoch seconds."""

    since: float
    until: float
    by: tuple[Dimension, ...]
    groups: dict[tuple[str, ...], Sums] = field(default_factory=dict)
    total: Sums = field(default_factory=Sums)

    def rows(self) -> list[dict[str, Any]]:
        """Every group as one flat object: its names, then its sums."""
        ordered = sorted(self.groups.items())
        return [{**dict(zip(self.by, names, strict=True)), **_told(sums)} for names, sums in ordered]

    def json(self) -> dict[str, Any]:
        """All of it as JSON. Costs are US dollars."""
        return {
            "since": _iso(self.since),
            "until": _iso(self.until),
            "by": list(self.by),
            "currency": "USD",
            "rows": self.rows(),
            "total": _told(self.total),
        }


async def report(
    store: UsageStore, *, since: float, until: float, by: Sequence[Dimension] = ("model",)
) -> Report:
    """Read the rows of that time and add them up. Raises StoreError."""
    made = Report(since=since, until=until, by=tuple(by))
    async for rows in store.between(since, until):
        for row in rows:
            made.groups.setdefault(tuple(_name(row, one) for one in made.by), Sums()).add(row)
            made.total.add(row)
    return made


def dimensions(text: str) -> tuple[Dimension, ...]:
    """Names with commas between them. Raises InvalidRequest."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    known: dict[str, Dimension] = {name: name for name in DIMENSIONS}
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        raise InvalidRequest(f"by: choose among {', '.join(DIMENSIONS)}", param="by", code="invalid_value")
    return tuple(dict.fromkeys(known[name] for name in names))


def period(since: str | None, until: str | None, now: float) -> tuple[float, float]:
    """From when to when: dates and times of ISO 8601 (UTC where they do not say), or so many days (`7d`) or
    hours (`24h`) ago. A date alone is that whole day, at either end. Raises InvalidRequest.
    """
    start = (
        now - timedelta(days=DEFAULT_DAYS).total_seconds() if since is None else _time("since", since, now)
    )
    end = now if until is None else _time("until", until, now)
    if until is not None and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", until):
        end += timedelta(days=1).total_seconds()
    if start >= end:
        raise InvalidRequest("since: must be before `until`", param="since", code="invalid_value")
    return start, end


def _time(name: str, text: str, now: float) -> float:
    ago = _AGO.fullmatch(text)
    if ago is not None:
        unit = timedelta(days=1) if ago[2] == "d" else timedelta(hours=1)
        return now - int(ago[1]) * unit.total_seconds()
    try:
        told = datetime.fromisoformat(text)
        return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        message = f"{name}: must be a date (2026-11-30), a time of ISO 8601, or a while ago (7d, 24h)"
        raise InvalidRequest(message, param=name, code="invalid_value") from None


def _name(row: UsageRow, dimension: Dimension) -> str:
    if dimension == "model":
        return f"{row.vendor}/{row.model}"
    if dimension == "day":
        return f"{datetime.fromtimestamp(row.at, UTC):%Y-%m-%d}"
    return str(getattr(row, dimension) or "")


def _told(sums: Sums) -> Mapping[str, Any]:
    told = asdict(sums)
    money = {name: float(told[name].quantize(_PLACES)) for name in ("cost", "cost_measured")}
    return {name: money.get(name, told[name]) for name in COLUMNS}


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
