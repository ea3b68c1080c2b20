"""The sum of the usage rows of many mixed runs is the vendors' invoice times the margin.

The scripted vendors know what they bill: every token of a prompt they began to answer, and every token they
wrote, whether the reader stayed or not. What "equals" means:

* a run whose vendor told its counts, all of them (`measured`), costs what is on the invoice, to the last digit
  that a float carries; the sum of them is the same to the cent;
* a run that was cut or left before the counts came is an estimate (`estimated`, or `partial` where the input
  was told): it is summed apart, and here must come within a quarter of what the vendor bills for it;
* a run that the vendor refused is on no invoice and costs nothing;
* each run has one row, whichever way it ended, and no run has two.
"""

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from fakes.serving import AUTH, serving, vendor_row
from fakes.upstream import DONE, SSE_HEAD, Received, Reset, UntilGone, Upstream, answer, chat_chunk, event
from motes.executor.policy import Backoff, Policy
from motes.store.sqlite_usage import FILE_NAME, SqliteUsage
from motes.store.usage import UsageRow
from motes.store.usage_report import report

MARGIN = 1.3
PRICES = f"""
margin = {MARGIN}
[prices."fake/m"]
input = 1.25
output = 10
cached_input = 0.125
[prices."second/m"]
input = 3
output = 15
cached_input = 0.3
cache_write = 3.75
cache_write_1h = 6
"""
TWICE = Policy(http=Backoff(2, 0.0), connection=Backoff(1, 0.0))
AT_ONCE = 12
WAYS = ("told", "silent", "cut", "cut-late", "refused", "left", "retried", "billed")
WEIGHTS = (50, 5, 10, 5, 7, 12, 6, 5)


@dataclass(frozen=True)
class Plan:
    """One run: which way it goes, what it is asked and what the vendor counts."""

    n: int
    way: str
    vendor: str
    surface: str
    prompt: int
    cached: int
    written: int
    lasting: int
    output: int
    text: str

    @property
    def is_billed(self) -> bool:
        return self.way != "refused"

    @property
    def dollars(self) -> float:
        """The line on the vendor's invoice."""
        if not self.is_billed:
            return 0.0
        if self.way == "billed":
            return self.own_cost
        if self.vendor == "fake":
            millionths = (self.prompt - self.cached) * 1.25 + self.cached * 0.125 + self.output * 10
        else:
            fresh = self.prompt - self.cached - self.written
            writes = (self.written - self.lasting) * 3.75 + self.lasting * 6
            millionths = fresh * 3 + self.cached * 0.3 + writes + self.output * 15
        return millionths / 1e6

    @property
    def own_cost(self) -> float:
        """What an aggregator says that it bills: its own business."""
        return round(self.output * 0.000123, 6)

    @property
    def body(self) -> dict[str, Any]:
        # About four bytes a token, as most prose.
        padding = "word " * (self.prompt * 4 // 5)
        return {
            "model": f"{self.vendor}/m",
            "messages": [{"role": "user", "content": f"{self.n};{padding}"}],
            "stream": self.surface != "whole" or self.way == "left",
            "max_tokens": 4096,
            "motes": {"context": f"run-{self.n}"},
        }


def planned(count: int, seed: int) -> list[Plan]:
    rng = random.Random(seed)
    plans = []
    for n in range(count):
        way, vendor = rng.choices(WAYS, WEIGHTS)[0], rng.choice(("fake", "second"))
        if way in ("silent", "cut-late", "billed"):
            vendor = "fake"
        # Who counts nothing has cached nothing that could be known.
        is_told = way in ("told", "retried", "cut-late")
        cached = rng.choice((0, rng.randrange(400))) if is_told else 0
        written = rng.choice((0, rng.randrange(300))) if is_told and vendor == "second" else 0
        output = rng.randrange(40, 400)
        plans.append(
            Plan(
                n=n,
                way=way,
                vendor=vendor,
                surface=rng.choice(("stream", "whole", "particles")),
                prompt=cached + written + rng.randrange(50, 900),
                cached=cached,
                written=written,
                lasting=rng.randrange(written + 1),
                output=output,
                text="".join(
                    rng.choice("lorem ipsum ") for _ in range(round(output * rng.uniform(3.5, 4.5)))
                ),
            )
        )
    return plans


class Vendors:
    """Both vendors, as steps of a script: what a request is answered with stands in its plan."""

    def __init__(self, plans: list[Plan]) -> None:
        self._plans = {plan.n: plan for plan in plans}
        self._seen: set[int] = set()
        self._refuses = False

    def script(self) -> list[Any]:
        return [self.begin, self.count, self.finish]

    def _plan(self, request: Received) -> Plan:
        content = request.json["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        return self._plans[int(text.partition(";")[0])]

    def _is_refused(self, plan: Plan) -> bool:
        return plan.way == "refused" or (plan.way == "retried" and plan.n not in self._seen)

    def begin(self, request: Received) -> Any:
        plan = self._plan(request)
        if self._is_refused(plan):
            status = 400 if plan.way == "refused" else 503
            return answer(status, {"error": {"message": "no", "type": "t"}})
        half = len(plan.text) // 2
        pieces = (plan.text[:half], plan.text[half:])
        if plan.vendor == "fake":
            return SSE_HEAD + b"".join(chat_chunk({"content": piece}) for piece in pieces)
        usage = {
            "input_tokens": plan.prompt - plan.cached - plan.written,
            "cache_read_input_tokens": plan.cached,
            "cache_creation_input_tokens": plan.written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": plan.written - plan.lasting,
                "ephemeral_1h_input_tokens": plan.lasting,
            },
            "output_tokens": 1,
        }
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ]
        start = {"type": "message_start", "message": {"id": "m1", "model": "m", "usage": usage}}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        return SSE_HEAD + b"".join(map(event, (start, block, *deltas)))

    def count(self, request: Received) -> Any:
        plan = self._plan(request)
        if self._is_refused(plan) or plan.way in ("cut", "left", "silent"):
            return b""
        if plan.vendor == "second":
            stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
            return event(stop | {"usage": {"output_tokens": plan.output}})
        usage: dict[str, Any] = {
            "prompt_tokens": plan.prompt,
            "completion_tokens": plan.output,
            "total_tokens": plan.prompt + plan.output,
            "prompt_tokens_details": {"cached_tokens": plan.cached},
        }
        if plan.way == "billed":
            usage["cost"] = plan.own_cost
        finish = b"" if plan.way == "cut-late" else chat_chunk({}, "stop")
        return finish + event({"choices": [], "usage": usage})

    def finish(self, request: Received) -> Any:
        plan = self._plan(request)
        if self._is_refused(plan):
            self._seen.add(plan.n)
            return b""
        if plan.way in ("cut", "cut-late"):
            return Reset()
        if plan.way == "left":
            return UntilGone()
        if plan.vendor == "second":
            return event({"type": "message_stop"})
        return (chat_chunk({}, "stop") if plan.way == "silent" else b"") + DONE


async def ask(http: httpx.AsyncClient, plan: Plan, room: asyncio.Semaphore) -> None:
    path = "/particles" if plan.surface == "particles" else "/chat/completions"
    async with room, http.stream("POST", path, json=plan.body) as response:
        received = b""
        async for piece in response.aiter_bytes():
            received += piece
            # Who leaves has seen all that the vendor wrote: it is what he is billed for.
            if plan.way == "left" and plan.text[-8:] in received.decode():
                return
        assert plan.way != "left"


async def rows_of(store: SqliteUsage, count: int) -> list[UsageRow]:
    until = time.monotonic() + 30
    while True:
        rows = [row async for page in store.between(0, time.time() + 60) for row in page]
        if len(rows) >= count or time.monotonic() > until:
            return rows
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.soak)])
async def test_the_rows_of_mixed_runs_are_the_invoice_times_the_margin(tmp_path: Any, count: int) -> None:
    plans = planned(count, seed=count)
    assert {plan.way for plan in plans} == set(WAYS)
    with Upstream() as upstream:
        upstream.play(*Vendors(plans).script())
        toml = vendor_row(upstream.base_url) + vendor_row(upstream.base_url, "second", "anthropic-messages")
        with serving(tmp_path, PRICES + toml, TWICE) as url:
            room = asyncio.Semaphore(AT_ONCE)
            async with httpx.AsyncClient(base_url=url, headers=AUTH, timeout=60, trust_env=False) as http:
                await asyncio.gather(*[ask(http, plan, room) for plan in plans])
            store = SqliteUsage(tmp_path / FILE_NAME, 400)
            rows = await rows_of(store, count)
    by_run = {int((row.context or "").removeprefix("run-")): row for row in rows}
    assert len(rows) == len(by_run) == count
    for plan in plans:
        check(plan, by_run[plan.n])

    measured = [plan for plan in plans if by_run[plan.n].source == "measured"]
    guessed = [plan for plan in plans if plan.is_billed and by_run[plan.n].source != "measured"]
    told = (await report(store, since=0, until=time.time() + 60)).total
    assert abs(float(told.cost_measured) - sum(plan.dollars for plan in measured) * MARGIN) < 0.005
    invoice = sum(plan.dollars for plan in guessed) * MARGIN
    assert float(told.cost - told.cost_measured) == pytest.approx(invoice, rel=0.25)
    assert told.unpriced == 0


def check(plan: Plan, row: UsageRow) -> None:
    finish = {"cut": "cut", "cut-late": "cut", "refused": "failed", "left": "cancelled"}.get(plan.way, "stop")
    assert (row.finish, row.vendor, row.margin) == (finish, plan.vendor, MARGIN), plan.way
    if plan.way == "refused":
        assert (row.tokens_in, row.tokens_out, row.cost) == (None, None, None)
    elif plan.way in ("silent", "cut", "left"):
        assert row.source == ("partial" if plan.vendor == "second" else "estimated")
        assert row.tokens_out == pytest.approx(plan.output, rel=0.25)
        assert row.cost is not None
    else:
        assert row.source == "measured"
        assert (row.tokens_in, row.tokens_out) == (plan.prompt, plan.output)
        assert (row.tokens_cached, row.tokens_written or 0) == (plan.cached, plan.written)
        assert row.cost == pytest.approx(plan.dollars * MARGIN, rel=1e-9)
