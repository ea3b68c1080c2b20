"""A paused answer goes on by itself, and not for ever."""

import json
from dataclasses import replace

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Upstream, line, tiny_dispatch
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.reassembly import Reassembler

PATCH = {"messages+": [{"role": "assistant", "content": [{"type": "text", "text": "Search"}]}]}
PAUSED = Answer([line(text="Search"), line(usage={"tokens_out": 2}), line(pause=PATCH)])
ENDED = Answer([line(text="ed."), line(usage={"tokens_out": 3}), line(stop="ok")])


def message_of(said):
    whole = Reassembler()
    for particle in said.all:
        whole.feed(particle)
    return whole.finalize()


@in_virtual_time
async def test_a_pause_is_followed_by_a_request_with_the_patch():
    upstream = Upstream(PAUSED, ENDED)
    said = await said_by(upstream)
    assert json.loads(upstream.requests[0].content) == {"messages": []}
    assert json.loads(upstream.requests[1].content) == {"messages": PATCH["messages+"]}
    assert upstream.requests[1].headers["authorization"] == "Bearer sk-secret"
    (note,) = said.of(p.Note)
    assert note.text == "continuation 1 of 10: tiny pause"
    assert said.end == p.End("done-dialect", "ok")
    assert message_of(said).text == "Searched."


@in_virtual_time
async def test_the_usage_of_all_segments_is_added():
    said = await said_by(Upstream(PAUSED, PAUSED, ENDED))
    assert message_of(said).metrics.tokens_out == 7
    assert said.heard.ends[0][2].tokens_out == 7


@in_virtual_time
async def test_a_citation_after_a_pause_is_counted_from_the_head_of_the_whole_answer():
    cited = Answer([line(text="ed."), line(cited=[0, 2]), line(stop="ok")])
    said = await said_by(Upstream(PAUSED, PAUSED, cited))
    assert [(c.start, c.end) for c in said.of(p.Citation)] == [(12, 14)]


@in_virtual_time
async def test_patches_pile_up():
    upstream = Upstream(PAUSED, PAUSED, ENDED)
    await said_by(upstream)
    (turn,) = json.loads(upstream.requests[2].content)["messages"]
    assert [part["text"] for part in turn["content"]] == ["Search", "Search"]


@in_virtual_time
async def test_the_eleventh_pause_is_an_issue_and_one_end():
    upstream = Upstream(PAUSED)
    said = await said_by(upstream)
    assert len(upstream.requests) == 11
    assert len(said.of(p.Note)) == 10
    assert said.issue.error.code == "too_many_continuations"
    assert said.end == p.End("issue-dialect")


FAILURES = [httpx.ConnectError("refused"), Answer([], status=529), Answer([]), Answer([line(error="busy")])]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_part_that_fails_before_saying_anything_is_asked_for_again(failure):
    @in_virtual_time
    async def goes_on():
        said = await said_by(Upstream(PAUSED, failure, ENDED))
        assert len(said.of(p.RetryReset)) == 1
        assert message_of(said).text == "Searched."
        assert said.end.stop == "ok"

    goes_on()


@pytest.mark.parametrize("failure", FAILURES)
def test_a_part_that_keeps_failing_loses_nothing_of_what_came_before(failure):
    @in_virtual_time
    async def fails():
        said = await said_by(Upstream(PAUSED, failure))
        assert message_of(said).text == "Search"
        assert said.end.stop is None
        assert said.issue

    fails()


@in_virtual_time
async def test_a_part_that_fails_after_saying_something_is_not_asked_for_again():
    upstream = Upstream(PAUSED, Answer([line(text="half")]), ENDED)
    said = await said_by(upstream)
    assert len(upstream.requests) == 2
    assert message_of(said).text == "Searchhalf"
    assert said.end.stop is None


@in_virtual_time
async def test_a_pause_before_anything_visible_has_attempts_of_its_own():
    silent = Answer([line(pause=PATCH)])
    busy = Answer([], status=503)
    upstream = Upstream(busy, busy, silent, busy, busy, busy, Answer(GOOD))
    said = await said_by(upstream)
    assert [reset.attempt for reset in said.of(p.RetryReset)] == [1, 2, 1, 2, 3]
    assert said.end.stop == "ok"


@in_virtual_time
async def test_a_request_that_cannot_be_patched_is_an_issue():
    dispatch = tiny_dispatch()
    dispatch = replace(dispatch, request=replace(dispatch.request, body=b"not JSON"))
    said = await said_by(Upstream(PAUSED, ENDED), dispatch)
    assert said.issue.error.code == "internal_error"
    assert len(said.heard.bugs) == 1
    assert said.end.reason == "issue-dispatch-rpc"
