"""A run ends in good order before the platform's limit."""

import gzip

import pytest

from fakes.tiny import GOOD, Answer, Upstream, line
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.executor.observer import SlowRequest

SECONDS = [move for _ in range(400) for move in (line(text="x"), 1.0)]


@in_virtual_time
async def test_a_talking_run_is_warned_of_and_ended():
    said = await said_by(Upstream(Answer(SECONDS)), deadline=300.0)
    assert said.at(p.End) == pytest.approx([297.0])
    assert (said.issue.phase, said.issue.error.kind) == ("dispatch-read", "timeout")
    assert (said.issue.error.code, said.issue.error.retryable) == ("platform_deadline", True)
    assert "297 s" in said.issue.text
    assert said.end == p.End("issue-dispatch-rpc")
    assert said.text == "x" * 297
    (report,) = said.heard.slow
    assert report == SlowRequest(
        vendor="tiny",
        model="t-1",
        dialect="tiny",
        context="a test",
        elapsed=pytest.approx(285.0),
        remaining=pytest.approx(15.0),
        step="reading",
        received=pytest.approx(286 * len(line(text="x")), abs=2 * len(line(text="x"))),
        last_event_age=pytest.approx(0.0, abs=1.01),
        handle=None,
    )


@in_virtual_time
async def test_a_silent_run_is_ended_just_so():
    said = await said_by(Upstream(Answer([line(text="x"), 110.0, line(text="y"), 1000.0])), deadline=200.0)
    assert said.at(p.End) == pytest.approx([197.0])
    (report,) = said.heard.slow
    assert report.last_event_age == pytest.approx(75.0)
    assert len(said.of(p.Heartbeat)) >= 17


@in_virtual_time
async def test_a_run_without_an_answer_is_ended_and_its_connection_closed():
    upstream = Upstream(Answer([1000.0]))
    said = await said_by(upstream, deadline=60.0)
    assert said.at(p.End) == pytest.approx([57.0])
    assert said.heard.slow[0].step == "waiting"
    assert said.heard.slow[0].last_event_age is None
    assert upstream.bodies[0].closed


@in_virtual_time
async def test_the_bytes_of_all_attempts_are_told_as_they_came_over_the_line():
    failed = line(error={"type": "overloaded_error", "message": "busy"})
    packed = gzip.compress(line(text="x") * 50)
    upstream = Upstream(Answer([failed]), Answer([packed, 1000.0], headers={"content-encoding": "gzip"}))
    said = await said_by(upstream, deadline=60.0)
    assert said.text == "x" * 50
    assert said.heard.slow[0].received == len(failed) + len(packed)


@in_virtual_time
async def test_a_run_that_backs_off_says_so():
    upstream = Upstream(Answer([], status=429, headers={"retry-after": "50"}), Answer([1000.0]))
    said = await said_by(upstream, deadline=60.0)
    assert said.heard.slow[0].step == "backing-off"
    assert said.end.reason == "issue-dispatch-rpc"


@in_virtual_time
async def test_the_advice_names_the_handle_where_there_is_one():
    said = await said_by(Upstream(Answer([line(handle="run_9"), 1000.0])), deadline=60.0)
    assert said.heard.slow[0].handle.run_id == "run_9"
    assert "reattach" in said.issue.text


@in_virtual_time
async def test_a_quick_run_is_never_reported():
    said = await said_by(Upstream(Answer(GOOD)), deadline=300.0)
    assert said.end.stop == "ok"
    assert not said.heard.slow


@in_virtual_time
async def test_the_margins_are_settings():
    said = await said_by(Upstream(Answer(SECONDS)), deadline=100.0, warn_margin=40.0, stop_margin=20.0)
    assert said.at(p.End) == pytest.approx([80.0])
    assert said.heard.slow[0].elapsed == pytest.approx(60.0)


@in_virtual_time
async def test_a_deadline_that_has_passed_ends_the_run_before_it_starts():
    upstream = Upstream(Answer(GOOD))
    said = await said_by(upstream, deadline=1.0)
    assert said.issue.error.code == "platform_deadline"
    assert not upstream.requests


@in_virtual_time
async def test_a_flood_does_not_outrun_the_deadline():
    flood = [line(text="x") * 500] * 50
    moves = [move for piece in flood for move in (piece, 0.1)]
    said = await said_by(Upstream(Answer(moves)), deadline=5.0, stop_margin=2.0)
    assert said.at(p.End) == pytest.approx([3.0], abs=0.2)
