"""The log: one JSON object a line, with the invocation it belongs to, and a metric where something counts."""

import asyncio
import io
import json
import logging
import sys

import pytest

from motes.api.logline import logline
from motes.hosts.json_log import JSONFormatter, belongs_to, log_as_json
from motes.hosts.runtime import Invocation


def record(message, level=logging.WARNING, error=None):
    return logging.LogRecord("motes.x", level, "f.py", 1, message, None, error)


def line(message, **options):
    text = JSONFormatter("the-function").format(record(message, **options))
    assert "\n" not in text
    return json.loads(text)


def test_a_line_has_the_parts_of_its_event():
    told = line(logline("run_ended", model="a/b", seconds=0.123456, gone=None))
    assert told["timestamp"].endswith("Z")
    assert {name: told[name] for name in told if name != "timestamp"} == {
        "level": "WARNING",
        "logger": "motes.x",
        "event": "run_ended",
        "model": "a/b",
        "seconds": 0.123,
    }


def test_a_line_of_another_library_is_a_message():
    assert line("two\nlines\u2028")["message"] == "two\nlines\u2028"


def test_an_exception_is_in_the_same_line():
    try:
        raise ValueError("why")
    except ValueError:
        told = line(logline("bug"), error=sys.exc_info())
    assert told["errorType"] == "ValueError"
    assert told["stackTrace"][-1] == "ValueError: why"


def test_what_json_does_not_know_is_written_all_the_same():
    assert line(logline("x", odd={1: object()}))["event"] == "x"


@pytest.mark.parametrize(
    ("message", "name", "dimensions"),
    [
        (logline("slow_request", vendor="v", model="m"), "SlowRequests", ["vendor", "model"]),
        (logline("run_failed", model="v/m", kind="stream_truncated"), "Truncations", ["model"]),
    ],
)
def test_what_counts_carries_its_metric_by_model(message, name, dimensions):
    told = line(message)
    (directive,) = told["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "motes"
    assert directive["Dimensions"] == [["function"], ["function", *dimensions]]
    assert directive["Metrics"] == [{"Name": name, "Unit": "Count"}]
    assert told[name] == 1
    assert told["function"] == "the-function"
    assert set(dimensions) <= set(told)
    assert told["_aws"]["Timestamp"] > 1_700_000_000_000


def test_what_a_vendor_sent_amiss_is_counted_and_its_unknown_words_apart():
    plain = line(logline("tolerated", model="v/m", code="bad_event"))
    word = line(logline("tolerated", model="v/m", code="unknown_stop_reason"))
    assert (plain["Tolerated"], plain.get("UnknownFinishReasons")) == (1, None)
    assert (word["Tolerated"], word["UnknownFinishReasons"]) == (1, 1)
    assert word["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["function"], ["function", "model"]]


def test_what_does_not_count_carries_none():
    for message in (logline("run_failed", kind="rate_limit"), logline("run_ended"), "slow_request"):
        assert "_aws" not in line(message)


async def test_each_task_logs_for_its_own_invocation():
    async def one(id):
        belongs_to(Invocation(request_id=id, deadline=0.0, event=b"", trace_id=f"Root=1-{id};Parent=p"))
        await asyncio.sleep(0)
        return await asyncio.create_task(told())

    async def told():
        return line(logline("x"))

    first, second = await asyncio.gather(asyncio.create_task(one("a")), asyncio.create_task(one("b")))
    assert (first["requestId"], first["traceId"]) == ("a", "1-a")
    assert (second["requestId"], second["traceId"]) == ("b", "1-b")
    assert "requestId" not in line(logline("x"))


async def test_a_tenant_is_named():
    async def one():
        belongs_to(Invocation(request_id="a", deadline=0.0, event=b"", tenant_id="t-1"))
        return line(logline("x"))

    assert (await asyncio.create_task(one()))["tenantId"] == "t-1"


@pytest.mark.parametrize(("name", "level"), [("WARN", logging.WARNING), ("TRACE", logging.DEBUG), ("", None)])
def test_the_level_is_the_templates(name, level):
    root = logging.getLogger()
    before, handlers = root.level, list(root.handlers)
    try:
        log_as_json(io.StringIO(), {"AWS_LAMBDA_LOG_LEVEL": name} if name else {})
        assert root.level == (level or logging.INFO)
    finally:
        root.setLevel(before)
        root.handlers = handlers
