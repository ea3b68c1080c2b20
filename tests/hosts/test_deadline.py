"""The platform's time limit through the whole host, five times as fast as the real one.

A limit of 20 s becomes 4 s: warned of 3 s before it (15 s), ended 0.6 s before it (3 s). All cases run at once.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from fakes.lambda_environment import Limits
from fakes.serving import ASK, STREAM, vendor_row
from fakes.upstream import SSE_HEAD, Sleep, UntilGone, Upstream, answer, chat_chunk
from hosts.commands import caller, events

TIMEOUT, WARN, STOP = 4.0, 3.0, 0.6
SECONDS = 12.0
# What a busy machine may add to a timer.
LATE = 0.3
SETTINGS = {
    "MOTES_DEADLINE_WARN_S": str(WARN),
    "MOTES_DEADLINE_STOP_S": str(STOP),
    "MOTES_HEARTBEAT_S": "1",
    "MOTES_COMMIT_AFTER_S": "1.6",
}
EGRESSES = {
    "chat": ("/v1/chat/completions", STREAM, "application/json"),
    "whole": ("/v1/chat/completions", ASK, "application/json"),
    "lines": ("/v1/particles", ASK, "application/x-ndjson"),
    "events": ("/v1/particles", ASK, "text/event-stream"),
}
TALK = [step for _ in range(int(SECONDS / 0.1)) for step in (chat_chunk({"content": "word "}), Sleep(0.1))]
BEATS = [step for _ in range(int(SECONDS / 0.2)) for step in (b": ping\n\n", Sleep(0.2))]
VENDORS = {
    "talking": [[SSE_HEAD, *TALK]],
    "beating": [[SSE_HEAD, *BEATS]],
    "silent": [[UntilGone()]],
    # The first attempt of each of the four is told to come back; at the time of the warning all are waiting.
    "retried": [[answer(429, {"error": {"message": "slow down"}}, retry_after="2")]] * 4
    + [[SSE_HEAD, *TALK]],
}
CASES = [(vendor, egress) for vendor in VENDORS for egress in EGRESSES]


@pytest.fixture(scope="module")
def outcomes(launch):
    """Every case, all at once: (response, invocation)."""
    upstreams = {name: Upstream(scripts=list(scripts)) for name, scripts in VENDORS.items()}
    for upstream in upstreams.values():
        upstream.__enter__()
    toml = "".join(vendor_row(upstream.base_url, name) for name, upstream in upstreams.items())
    limits = Limits(timeout=TIMEOUT)
    function = launch(toml=toml, environ=SETTINGS, limits=limits, concurrency=len(CASES)).warm()

    def ask(case):
        vendor, egress = case
        path, body, accept = EGRESSES[egress]
        headers = {"accept": accept, "x-request-id": f"{vendor}-{egress}"}
        with caller(function) as client:
            return client.post(path, json=body | {"model": f"{vendor}/m"}, headers=headers)

    with ThreadPoolExecutor(len(CASES)) as pool:
        told = dict(zip(CASES, pool.map(ask, CASES), strict=True))
    yield function, told
    for upstream in upstreams.values():
        upstream.__exit__()


def case_of(outcomes, vendor, egress):
    """The response, and the lines of the log, of one case."""
    function, told = outcomes
    request = function.line("request", request_id=f"{vendor}-{egress}")
    lines = [json.loads(line) for line in function.log]
    return told[vendor, egress], [line for line in lines if line.get("requestId") == request["requestId"]]


def line_of(lines, event):
    (line,) = [line for line in lines if line.get("event") == event]
    return line


def seconds(line):
    return datetime.fromisoformat(line["timestamp"]).timestamp()


@pytest.mark.parametrize(("vendor", "egress"), CASES)
def test_the_run_is_warned_of_and_ended_before_the_limit(outcomes, vendor, egress):
    _, lines = case_of(outcomes, vendor, egress)
    slow, ended = line_of(lines, "slow_request"), line_of(lines, "run_ended")
    assert slow["remaining"] == pytest.approx(WARN, abs=LATE)
    assert slow["elapsed"] + slow["remaining"] <= TIMEOUT
    assert seconds(ended) - seconds(slow) == pytest.approx(WARN - STOP, abs=LATE)
    assert (slow["vendor"], slow["model"], slow["SlowRequests"]) == (vendor, "m", 1)
    step = {"talking": "reading", "beating": "reading", "silent": "waiting", "retried": "backing-off"}[vendor]
    assert slow["step"] == step
    assert ("last_event_age" in slow) == (vendor not in ("silent", "retried"))


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_chat_stream_ends_with_an_error_and_done(outcomes, vendor):
    response, _ = case_of(outcomes, vendor, "chat")
    assert response.status_code == 200
    *chunks, error, done = events(response.text)
    assert done == "[DONE]"
    assert error["error"]["motes"]["code"] == "platform_deadline"
    assert error["error"]["motes"]["retryable"] is True
    assert not [c for c in chunks if any(choice["finish_reason"] for choice in c["choices"])]
    assert (response.text.count("word") > 8) == (vendor in ("talking", "retried"))


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_whole_answer_is_a_504_with_what_had_come(outcomes, vendor):
    response, _ = case_of(outcomes, vendor, "whole")
    assert response.status_code == 504
    told = response.json()["error"]["motes"]
    assert (told["code"], told["kind"], told["retryable"]) == ("platform_deadline", "timeout", True)
    assert told.get("partial", "").startswith("word ") == (vendor in ("talking", "retried"))


@pytest.mark.parametrize("egress", ["lines", "events"])
@pytest.mark.parametrize("vendor", VENDORS)
def test_particles_end_with_the_issue_and_the_end(outcomes, vendor, egress):
    response, _ = case_of(outcomes, vendor, egress)
    rows = response.text.splitlines()
    *_, issue, end = [json.loads(row.removeprefix("data: ")) for row in rows if row[:1] in ("{", "d")]
    assert (issue["cg"], issue["issueId"]) == ("issue", "dispatch-read")
    assert (issue["err"]["kind"], issue["err"]["vendorCode"]) == ("timeout", "platform_deadline")
    assert issue["err"]["retryable"] is True
    assert (end["cg"], end["terminationReason"]) == ("end", "issue-dispatch-rpc")


def test_no_process_was_killed(outcomes):
    function, _ = outcomes
    assert len(function.environments) == 1
    assert not [line for line in function.log if "Task timed out" in line]
