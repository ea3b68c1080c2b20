"""Each way of waiting too long ends in-band, with a code of its own."""

import asyncio
from contextlib import aclosing

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Upstream, line, tiny_dispatch
from fakes.tiny_runs import options, said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.executor.pipeline import run
from motes.vendors.vendor import Timeouts


@in_virtual_time
async def test_no_first_byte_in_300_seconds_is_a_timeout():
    said = await said_by(Upstream(Answer([1000.0])))
    assert (said.issue.phase, said.issue.error.kind) == ("dispatch-read", "timeout")
    assert said.issue.error.code == "first_byte_timeout"
    assert "300 s" in said.issue.text
    assert said.at(p.End) == pytest.approx([300.0])


@in_virtual_time
async def test_headers_that_never_come_are_the_same_timeout():
    said = await said_by(Upstream(Answer(GOOD, lead=1000.0)))
    assert (said.issue.phase, said.issue.error.code) == ("dispatch-fetch", "first_byte_timeout")
    assert said.at(p.End) == pytest.approx([300.0])


@in_virtual_time
async def test_the_first_byte_is_counted_from_the_request_and_not_from_the_headers():
    said = await said_by(Upstream(Answer([200.0, *GOOD], lead=200.0)))
    assert said.issue.error.code == "first_byte_timeout"
    assert said.at(p.End) == pytest.approx([300.0])


@in_virtual_time
async def test_no_byte_in_120_seconds_is_an_idle_timeout_that_keeps_the_text():
    said = await said_by(Upstream(Answer([line(text="so far"), 1000.0])))
    assert said.text == "so far"
    assert (said.issue.phase, said.issue.error.code) == ("dispatch-read", "idle_timeout")
    assert said.at(p.End) == pytest.approx([120.0])
    assert said.end == p.End("issue-dispatch-rpc")


@in_virtual_time
async def test_any_byte_resets_the_idle_timeout():
    trickle = [move for _ in range(10) for move in (b"\n", 119.0)]
    said = await said_by(Upstream(Answer([*trickle, *GOOD])))
    assert said.end.stop == "ok"
    assert said.at(p.End)[0] == pytest.approx(1190.0, abs=1)


@in_virtual_time
async def test_signs_of_life_without_a_word_end_as_a_timeout_after_half_an_hour():
    pings = [move for _ in range(1000) for move in (b"\n", 10.0)]
    said = await said_by(Upstream(Answer([line(text="so far"), *pings, *GOOD])))
    assert said.text == "so far"
    assert (said.issue.phase, said.issue.error.code) == ("dispatch-read", "quiet_timeout")
    assert said.at(p.End) == pytest.approx([1800.0], abs=11)


@in_virtual_time
async def test_a_word_now_and_then_keeps_an_answer_alive():
    moves = [move for _ in range(10) for move in (line(text="a"), *[100.0, b"\n"] * 17)]
    said = await said_by(Upstream(Answer([*moves, *GOOD])))
    assert said.end.stop == "ok"


@in_virtual_time
async def test_a_timeout_of_the_vendors_row_counts():
    dispatch = tiny_dispatch(timeouts=Timeouts(first_byte=7.0, idle=3.0))
    late = await said_by(Upstream(Answer([100.0])), dispatch)
    assert late.at(p.End) == pytest.approx([7.0])
    idle = await said_by(Upstream(Answer([b"\n", 100.0])), dispatch)
    assert idle.at(p.End) == pytest.approx([3.0])


@pytest.mark.parametrize("moves", [[1000.0], [line(model="t-1"), 1000.0]])
def test_a_request_that_used_up_its_time_is_not_sent_again(moves):
    @in_virtual_time
    async def waits():
        upstream = Upstream(Answer(moves))
        said = await said_by(upstream)
        assert len(upstream.requests) == 1
        assert said.issue.error.retryable

    waits()


@in_virtual_time
async def test_a_connection_that_is_not_made_in_time_is_tried_three_times():
    upstream = Upstream(httpx.ConnectTimeout("no"))
    said = await said_by(upstream)
    assert len(upstream.requests) == 3
    assert said.issue.error.code == "connect_timeout"
    assert said.issue.error.retryable
    assert "10 s" in said.issue.text
    assert [reset.cause_conn for reset in said.of(p.RetryReset)] == ["connect_timeout"] * 2


@in_virtual_time
async def test_httpx_gets_the_connect_timeout_and_no_other():
    upstream = Upstream(Answer(GOOD))
    await said_by(upstream, tiny_dispatch(timeouts=Timeouts(connect=4.0)))
    timeouts = upstream.requests[0].extensions["timeout"]
    assert timeouts == {"connect": 4.0, "read": None, "write": None, "pool": None}


@pytest.mark.parametrize("comments", [[1000.0], [b"\n", 1.0] * 500], ids=["silence", "comments"])
def test_after_the_finish_reason_an_open_line_has_five_seconds_in_all_and_is_no_failure(comments):
    @in_virtual_time
    async def waits():
        late = Answer([line(text="all"), line(stopped="ok"), 4.0, line(usage={"tokens_out": 3}), *comments])
        said = await said_by(Upstream(late))
        assert said.end.stop == "ok"
        assert said.of(p.Metrics)[-1].tokens_out == 3
        assert [warning.code for warning in said.of(p.Warn)] == ["reset_after_end"]
        assert said.at(p.End) == pytest.approx([5.0], abs=0.2)

    waits()


@in_virtual_time
async def test_the_time_a_reader_takes_is_not_counted_as_silence():
    pieces = [x for _ in range(4) for x in (line(text="x") * 300, 1.0)]
    dispatch = tiny_dispatch(timeouts=Timeouts(idle=3.0))
    async with (
        Upstream(Answer([*pieces, *GOOD])).client() as http,
        aclosing(run(dispatch, http, options(heartbeat=1e6))) as particles,
    ):
        said = []
        async for particle in particles:
            said.append(particle)
            await asyncio.sleep(5.0)
    assert said[-1].stop == "ok"


@in_virtual_time
async def test_the_words_of_a_failure_are_not_waited_for_longer_than_the_idle_timeout():
    dispatch = tiny_dispatch(timeouts=Timeouts(idle=2.0))
    said = await said_by(Upstream(Answer([b"{", 1.5, b" ", 1000.0], status=400)), dispatch)
    assert said.issue.error.http_status == 400
    assert said.at(p.End) == pytest.approx([2.0])
