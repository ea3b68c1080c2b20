"""The page of the operators' API that tells what runs used and cost.

The same sums, under the same names, as `motes usage`. Must never tell more of a caller than his key's id and
his own label.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field

from motes.store.usage import UsageStore
from motes.store.usage_report import Dimension, dimensions, period, report


class UsageSums(BaseModel):
    """The sums of some runs. Of all input tokens `tokens_cached` were read from a cache and `tokens_written`
    written to one; of all output `tokens_reasoning` were reasoning. Costs have the margin in them.
    """

    runs: int
    tokens_in: int
    tokens_cached: int
    tokens_written: int
    tokens_out: int
    tokens_reasoning: int
    cost: float
    cost_measured: float = Field(description="The part of it whose tokens the vendors counted, all of them")
    measured: int = Field(description="Runs whose vendor counted everything")
    partial: int = Field(description="Runs whose vendor counted something, the rest is estimated")
    estimated: int = Field(description="Runs whose vendor counted nothing")
    unpriced: int = Field(description="Runs that used tokens and have no cost, since nobody knows the price")


class UsageGroup(UsageSums):
    """One group. Of its names those are told that `by` asks for."""

    key: str | None = None
    vendor: str | None = None
    model: str | None = None
    day: str | None = None
    finish: str | None = None
    source: str | None = None
    context: str | None = None


class UsageReport(BaseModel):
    """What was asked for, and the answer."""

    since: datetime
    until: datetime
    by: list[Dimension]
    currency: str
    rows: list[UsageGroup]
    total: UsageSums


def add_usage(app: FastAPI, store: UsageStore, now: Callable[[], float]) -> None:
    """Declare the page. `now` gives epoch seconds."""

    @app.get(
        "/usage", summary="What runs used and cost", response_model_exclude_none=True, responses={400: {}}
    )
    async def usage(
        by: Annotated[str, Query(description="Groups, with commas between", examples=["key,day"])] = "model",
        since: Annotated[str | None, Query(description="A date, an ISO time, or 7d or 24h ago; 30d")] = None,
        until: Annotated[str | None, Query(description="Likewise; a date is that whole day; now")] = None,
    ) -> UsageReport:
        start, end = period(since, until, now())
        made = await report(store, since=start, until=end, by=dimensions(by))
        return UsageReport(**made.json())
