"""What a run used, whichever way it ends: counted by its vendor, in part, or not at all; and what it costs."""

from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal

import pytest

from fakes.tiny import Answer, Listener, Upstream, line, tiny_dispatch
from fakes.tiny_runs import options, said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.costs import Rates, cost_of
from motes.executor.pipeline import run

PROMPT = 11
TEXT = "x" * 40
TEN = 10  # tokens of TEXT
DISPATCH = replace(tiny_dispatch(), prompt_tokens=lambda: PROMPT)
STOP = line(stop="ok")
RATES = Rates(input=Decimal(2), output=Decimal(10))


def price(metrics):
    return cost_of(metrics, RATES, Decimal("1.5"))


def counts(metrics):
    return metrics.tokens_in, metrics.tokens_out, metrics.source


def cost(given, answered):
    return p.Cost((2 * given + 10 * answered) * 1.5 / 1_000_000, 1.5)


def told(tokens_in=None, tokens_out=None, partial=False):
    given = {"tokens_in": tokens_in, "tokens_out": tokens_out, "partial": partial}
    return line(usage={name: value for name, value in given.items() if value is not None})


RUNS = {
    "counted at the end": ([line(text=TEXT), told(7, 9), STOP], (7, 9, "measured")),
    "counted as nothing": ([line(text=TEXT), told(0, 0), STOP], (0, 0, "measured")),
    "counted with every piece": (
        [told(7, 1), line(text=TEXT), told(7, 5), line(text=TEXT), told(7, 9), STOP],
        (7, 9, "measured"),
    ),
    "silent": ([line(text=TEXT), STOP], (PROMPT, TEN, "estimated")),
    "input only": ([told(7), line(text=TEXT), STOP], (7, TEN, "partial")),
    "output only": ([line(text=TEXT), told(None, 9), STOP], (PROMPT, 9, "partial")),
    "an early count that never was made good": (
        [told(7, 1, partial=True), line(text=TEXT), STOP],
        (7, 1 + TEN, "partial"),
    ),
    "cut after the count": ([line(text=TEXT), told(7, 9)], (7, 9, "measured")),
    "cut after an early count": ([told(7, 1), line(text=TEXT)], (7, 1 + TEN, "partial")),
    "cut without a count": ([line(text=TEXT)], (PROMPT, TEN, "estimated")),
}


@pytest.mark.parametrize(("moves", "expected"), RUNS.values(), ids=RUNS.keys())
def test_what_a_run_used_is_told_before_its_end_and_to_the_observer_alike(moves, expected):
    @in_virtual_time
    async def agrees():
        said = await said_by(Upstream(Answer(moves)), DISPATCH, price=price)
        last = said.of(p.Metrics)[-1]
        ((_, _, total),) = said.heard.ends
        assert counts(last) == counts(total) == expected
        assert last.cost == total.cost == cost(*expected[:2])
        head = [one for one in said.all if isinstance(one, p.Metrics | p.Issue | p.End)]
        assert [type(one) for one in head[head.index(last) :]][1:] in ([p.End], [p.Issue, p.End])

    agrees()


@pytest.mark.parametrize("answer", [Answer([], status=401), Answer([])])
def test_of_an_answer_that_never_began_nothing_is_estimated(answer):
    @in_virtual_time
    async def says_nothing():
        said = await said_by(Upstream(answer), DISPATCH, price=price)
        assert not said.of(p.Metrics)
        ((_, _, total),) = said.heard.ends
        assert counts(total) == (None, None, "estimated")
        assert total.cost is None

    says_nothing()


@in_virtual_time
async def test_a_run_whose_reader_leaves_is_told_to_the_observer_with_its_estimate():
    upstream, heard = Upstream(Answer([told(7), line(text=TEXT), 1000.0])), Listener()
    async with (
        upstream.client() as http,
        aclosing(run(DISPATCH, http, options(price=price), heard)) as particles,
    ):
        async for particle in particles:
            if isinstance(particle, p.Text):
                break
    ((_, end, total),) = heard.ends
    assert end.reason == "done-dispatch-aborted"
    assert counts(total) == (7, TEN, "partial")
    assert total.cost == cost(7, TEN)


@in_virtual_time
async def test_a_run_at_its_deadline_has_its_estimate():
    said = await said_by(Upstream(Answer([line(text=TEXT), 1000.0])), DISPATCH, deadline=30.0, price=price)
    ((_, _, total),) = said.heard.ends
    assert counts(total) == counts(said.of(p.Metrics)[-1]) == (PROMPT, TEN, "estimated")


@in_virtual_time
async def test_each_part_of_a_paused_answer_is_counted_and_priced_by_itself_and_added():
    paused = [told(7, 1, partial=True), line(text=TEXT), line(pause={"append_messages": []})]
    said = await said_by(
        Upstream(Answer(paused), Answer([line(text="on"), told(20, 3), STOP])), DISPATCH, price=price
    )
    ((_, _, total),) = said.heard.ends
    assert counts(total) == (27, 1 + TEN + 3, "partial")
    assert total.cost is not None
    assert total.cost.amount == pytest.approx(cost(27, 1 + TEN + 3).amount)
    before = said.all[said.all.index(said.of(p.Note)[0]) - 1]
    assert counts(before) == (7, 1 + TEN, "partial")


@in_virtual_time
async def test_what_a_failed_attempt_counted_is_no_part_of_the_one_that_answers():
    failed = Answer([told(500, 1, partial=True), line(error={"type": "overloaded_error", "message": "busy"})])
    said = await said_by(Upstream(failed, Answer([line(text=TEXT), STOP])), DISPATCH, price=price)
    ((_, _, total),) = said.heard.ends
    assert counts(total) == (PROMPT, TEN, "estimated")


@in_virtual_time
async def test_the_vendors_own_cost_goes_before_ours_and_the_margin_on_both():
    moves = [line(text=TEXT), line(usage={"tokens_in": 7, "tokens_out": 9, "cost_cents": 4.2}), STOP]
    said = await said_by(Upstream(Answer(moves)), DISPATCH, price=price)
    assert said.of(p.Metrics)[-1].cost == p.Cost(0.063, 1.5)
