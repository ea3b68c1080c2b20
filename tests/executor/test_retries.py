"""When another attempt follows, when it does not, and what is said about it."""

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Upstream, line, tiny_dispatch
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.reassembly import Reassembler
from motes.vendor_errors import RETRYABLE_STATUSES

BUSY = Answer([b'{"error":{"message":"slow down"}}'], status=429)
QUOTA = b'{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'


def refused(status, **headers):
    return Answer([], status=status, headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.mark.parametrize("status", sorted(RETRYABLE_STATUSES))
def test_these_statuses_are_tried_four_times(status):
    @in_virtual_time
    async def fails():
        upstream = Upstream(refused(status))
        said = await said_by(upstream)
        assert len(upstream.requests) == 4
        assert said.issue.error.http_status == status
        assert said.end == p.End("issue-dispatch-rpc")

    fails()


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 410, 413, 422, 424, 451, 501, 505])
def test_these_statuses_are_final(status):
    @in_virtual_time
    async def fails():
        upstream = Upstream(refused(status))
        said = await said_by(upstream)
        assert len(upstream.requests) == 1
        assert not said.of(p.RetryReset)

    fails()


@in_virtual_time
async def test_a_quota_is_never_retried_whatever_its_status():
    upstream = Upstream(Answer([QUOTA], status=429, headers={"retry-after": "1"}))
    said = await said_by(upstream)
    assert len(upstream.requests) == 1
    assert said.issue.error.kind == "quota"


@in_virtual_time
async def test_a_vendor_that_says_not_to_retry_is_believed():
    upstream = Upstream(refused(500, x_should_retry="false"))
    await said_by(upstream)
    assert len(upstream.requests) == 1


@in_virtual_time
async def test_a_retry_is_announced_and_nothing_of_the_failure_is_left():
    upstream = Upstream(BUSY, Answer(GOOD))
    said = await said_by(upstream)
    (reset,) = said.of(p.RetryReset)
    assert (reset.scope, reset.clear, reset.attempt, reset.max_attempts) == ("srv-dispatch", "none", 1, 3)
    assert (reset.cause_http, reset.cause_conn, reset.reason) == (429, None, "slow down")
    assert upstream.times[1] - upstream.times[0] == pytest.approx(reset.delay_ms / 1000, abs=0.001)
    assert not said.of(p.Issue)
    assert said.text == "Hello"
    assert said.end == p.End("done-dialect", "ok")
    assert said.heard.retries == [reset]


@in_virtual_time
async def test_the_last_failure_is_the_one_that_is_told():
    said = await said_by(Upstream(refused(503), refused(500), refused(502), refused(529)))
    assert [(r.attempt, r.cause_http) for r in said.of(p.RetryReset)] == [(1, 503), (2, 500), (3, 502)]
    assert said.issue.error.http_status == 529


@in_virtual_time
async def test_a_connection_that_is_refused_is_tried_three_times():
    upstream = Upstream(httpx.ConnectError("refused"))
    said = await said_by(upstream)
    assert len(upstream.requests) == 3
    assert [(r.attempt, r.max_attempts, r.cause_conn) for r in said.of(p.RetryReset)] == [
        (1, 2, "connect_failed"),
        (2, 2, "connect_failed"),
    ]
    assert said.at(p.End)[0] < 1.5


@pytest.mark.parametrize(
    "moves",
    [
        [],
        [line(model="t-1")],
        [line(model="t-1", id="r1"), httpx.ReadError("reset")],
        [line(usage={"tokens_in": 3}), line(text="")],
    ],
)
def test_a_cut_before_anything_visible_is_tried_again(moves):
    @in_virtual_time
    async def is_cut():
        upstream = Upstream(Answer(moves), Answer(GOOD))
        said = await said_by(upstream)
        assert len(upstream.requests) == 2
        assert said.end.stop == "ok"
        assert not said.of(p.Issue)

    is_cut()


@pytest.mark.parametrize("seen", [line(text="H"), line(call="get_tide")])
@pytest.mark.parametrize(
    "failure", [[], [httpx.ReadError("reset")], [line(error={"type": "overloaded_error"})]]
)
def test_nothing_is_retried_after_something_visible(seen, failure):
    @in_virtual_time
    async def fails():
        upstream = Upstream(Answer([seen, *failure]), Answer(GOOD))
        said = await said_by(upstream)
        assert len(upstream.requests) == 1
        assert not said.of(p.RetryReset)
        assert said.issue.error.retryable
        assert said.end.stop is None

    fails()


@in_virtual_time
async def test_a_retryable_error_in_band_is_retried_with_a_reset_to_the_checkpoint():
    upstream = Upstream(Answer([line(error={"type": "overloaded_error", "message": "busy"})]), Answer(GOOD))
    said = await said_by(upstream)
    (reset,) = said.of(p.RetryReset)
    assert (reset.scope, reset.clear, reset.reason) == ("srv-op", "since-checkpoint", "busy")
    assert (reset.attempt, reset.max_attempts) == (1, 3)
    assert said.text == "Hello"


@in_virtual_time
async def test_an_error_in_band_that_stays_ends_as_the_dialects_own_issue():
    upstream = Upstream(Answer([line(error={"type": "overloaded_error", "message": "busy"})]))
    said = await said_by(upstream)
    assert len(upstream.requests) == 4
    assert (said.issue.phase, said.issue.error.kind) == ("dialect-issue", "overloaded")
    assert said.end == p.End("issue-dialect")


@in_virtual_time
async def test_an_error_in_band_that_is_final_is_told_at_once():
    upstream = Upstream(Answer([line(error={"type": "invalid_request_error", "message": "no"})]))
    said = await said_by(upstream)
    assert len(upstream.requests) == 1
    assert said.end == p.End("issue-dialect")


@in_virtual_time
async def test_a_run_that_lives_on_at_its_vendor_is_not_started_twice():
    upstream = Upstream(Answer([line(handle="run_1")]), Answer(GOOD))
    said = await said_by(upstream)
    assert len(upstream.requests) == 1
    assert said.issue.error.kind == "stream_truncated"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "2"}, 2.0),
        ({"retry_after": "60"}, 60.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "Sun, 29 Nov 2026 12:00:30 GMT"}, 30.0),
    ],
)
def test_the_wait_is_never_shorter_than_the_vendor_asks_for(headers, seconds):
    @in_virtual_time
    async def waits():
        upstream = Upstream(refused(429, **headers), Answer(GOOD))
        said = await said_by(upstream)
        assert seconds <= upstream.times[1] - upstream.times[0] <= max(seconds, 1.0)
        assert said.end.stop == "ok"

    waits()


@pytest.mark.parametrize("asked", ["61", "86400", "Sun, 29 Nov 2026 12:01:30 GMT"])
def test_a_wait_that_is_too_long_fails_at_once(asked):
    @in_virtual_time
    async def fails():
        upstream = Upstream(refused(429, retry_after=asked))
        said = await said_by(upstream)
        assert len(upstream.requests) == 1
        assert said.at(p.End)[0] < 0.1
        assert said.issue.error.retry_after > 60

    fails()


@pytest.mark.parametrize("asked", ["-5", "soon", "", "1e400", "nan", "Sun, 29 Nov 2020 12:00:00 GMT"])
def test_a_retry_after_that_means_nothing_is_no_trouble(asked):
    @in_virtual_time
    async def retries():
        said = await said_by(Upstream(refused(429, retry_after=asked), Answer(GOOD)))
        assert said.end.stop == "ok"

    retries()


@in_virtual_time
async def test_a_wait_beyond_the_deadline_fails_at_once():
    upstream = Upstream(refused(429, retry_after="30"))
    said = await said_by(upstream, deadline=32.0)
    assert len(upstream.requests) == 1
    assert said.issue.error.kind == "rate_limit"
    assert said.at(p.End)[0] < 0.1


@in_virtual_time
async def test_attempts_share_no_state():
    half = line(text="")[:-2]
    upstream = Upstream(Answer([half]), Answer([b'{"text":"x"}\n', line(stop="ok")]))
    said = await said_by(upstream)
    assert said.text == "x"


@in_virtual_time
async def test_a_message_put_together_after_retries_is_the_good_answer_alone():
    upstream = Upstream(BUSY, Answer([line(error={"type": "overloaded_error"})]), Answer(GOOD))
    said = await said_by(upstream)
    whole = Reassembler()
    for particle in said.all:
        whole.feed(particle)
    message = whole.finalize()
    assert (message.text, message.outcome, message.issue) == ("Hello", "completed", None)


@in_virtual_time
async def test_every_attempt_sends_the_same_request():
    upstream = Upstream(refused(503), Answer(GOOD))
    await said_by(upstream, tiny_dispatch())
    first, second = upstream.requests
    assert (first.url, first.content, first.headers) == (second.url, second.content, second.headers)
