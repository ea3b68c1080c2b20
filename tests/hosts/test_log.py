"""The log of `motes serve`: what is made in a shorter way is what the standard library makes."""

import asyncio
import io
import json
import logging
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motes.api.logline import logline
from motes.hosts.log import log_to_stderr

NAMES = ("raiseExceptions", "_srcfile", "logThreads", "logProcesses", "logMultiprocessing")


@pytest.fixture
def log(monkeypatch):
    """A logger as `motes serve` has it, and what it writes; everything is as before afterwards."""
    root, uvicorn = logging.getLogger(), logging.getLogger("uvicorn.error")
    before = root.handlers[:], root.level, uvicorn.level, logging.getLogRecordFactory()
    for name in NAMES:
        monkeypatch.setattr(logging, name, getattr(logging, name))
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    root.handlers = []
    log_to_stderr()
    yield logging.getLogger("motes.api"), written
    root.handlers = before[0]
    root.setLevel(before[1])
    uvicorn.setLevel(before[2])
    logging.setLogRecordFactory(before[3])


def leave_alone():
    """Do without the handlers that pytest adds when a test is called; `log` puts back what was there."""
    root = logging.getLogger()
    root.handlers = root.handlers[:1]


def plainly_written(record):
    told = logging.Formatter("%(asctime)s %(levelname)s %(message)s").format(record)
    return f"{told}\n"


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


def test_a_line_is_written_as_the_standard_library_writes_it(log):
    log, written = log
    kept = Kept()
    logging.getLogger().addHandler(kept)
    log.info(logline("request", status=200, seconds=0.25, context="a b"))
    log.warning("a sentence of %s words", 5)
    log.error(logline("bug", error="ValueError"), exc_info=ValueError("why"))
    log.debug(logline("never"))
    assert written.getvalue() == "".join(map(plainly_written, kept.records))
    first, *_, last = written.getvalue().splitlines()
    assert first.endswith(' INFO request status=200 seconds=0.250 context="a b"')
    assert last == "ValueError: why"


def test_a_record_is_that_of_the_standard_library(log):
    log, _ = log
    kept = Kept()
    logging.getLogger().addHandler(kept)
    line = logline("request", status=200)
    log.info(line)
    (record,) = kept.records
    assert record.getMessage() == str(line)
    theirs = logging.LogRecord(
        "motes.api", logging.INFO, "(unknown file)", 0, line, (), None, "(unknown function)"
    )
    theirs.created, theirs.msecs, theirs.relativeCreated = (
        record.created,
        record.msecs,
        record.relativeCreated,
    )
    # A handler that formats a record adds what it said.
    theirs.message, theirs.asctime = str(line), record.asctime
    assert vars(record) == vars(theirs)
    assert record.msecs == int(record.created % 1 * 1000) or record.msecs == 0
    assert record.relativeCreated == pytest.approx((record.created - logging._startTime) * 1000, abs=1)


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR])
def test_a_line_that_nobody_else_hears_of_is_written_alike(log, level, monkeypatch):
    log, written = log
    logging.getLogger("motes")  # One between it and the root, that has nothing to say.
    leave_alone()
    made, root = [], logging.getLogger()
    factory = logging.getLogRecordFactory()
    monkeypatch.setattr(time, "time", lambda: 1_790_000_000.9876)
    logging.setLogRecordFactory(lambda *args, **more: made.append(args) or factory(*args, **more))
    log.log(level, logline("request", status=200, context="a b"))
    assert not made
    alone = written.getvalue()
    root.addHandler(Kept())
    log.log(level, logline("request", status=200, context="a b"))
    assert len(made) == (level >= logging.INFO)
    assert written.getvalue() == alone + alone
    assert bool(alone) == (level >= logging.INFO)


def test_who_asks_for_records_has_them(log):
    log, written = log
    leave_alone()
    handler, kept = logging.getLogger().handlers[0], Kept()
    handler.addFilter(lambda record: "secret" not in record.getMessage())
    log.info(logline("request", context="secret"))
    handler.filters.clear()
    handler.setLevel(logging.WARNING)
    log.info(logline("request", status=200))
    handler.setLevel(logging.NOTSET)
    assert not written.getvalue()
    log.addHandler(kept)
    try:
        log.info(logline("request", status=201))
    finally:
        log.removeHandler(kept)
    assert [record.getMessage() for record in kept.records] == ["request status=201"]
    assert written.getvalue().endswith(" INFO request status=201\n")


def test_a_stream_that_takes_nothing_ends_nobody(log, monkeypatch):
    log, written = log
    leave_alone()
    monkeypatch.setattr(logging, "raiseExceptions", False)
    written.close()
    log.info(logline("request", status=200))


def test_lines_wait_a_moment_for_each_other_where_a_loop_runs(log):
    log, written = log
    leave_alone()

    async def several():
        for status in (200, 201):
            log.info(logline("request", status=status))
        assert not written.getvalue()
        await asyncio.sleep(0.15)
        assert [line.rpartition("=")[2] for line in written.getvalue().splitlines()] == ["200", "201"]
        log.info(logline("request", status=202))
        await asyncio.sleep(0.15)

    asyncio.run(several())
    assert written.getvalue().endswith(" INFO request status=202\n")


@pytest.mark.parametrize(
    "trouble",
    [
        lambda log: log.warning(logline("slow_request")),
        lambda log: log.info("a sentence"),
        lambda log: logging.getLogger("other").info("a sentence"),
        lambda log: logging.getLogger().handlers[0].flush(),
        lambda log: [log.info(logline("request", status=200)) for _ in range(250)],
    ],
)
def test_nothing_is_written_before_what_came_earlier_and_trouble_waits_for_nobody(log, trouble):
    log, written = log
    leave_alone()

    async def lines():
        log.info(logline("request", status=200))
        trouble(log)
        return written.getvalue().splitlines()

    told = asyncio.run(lines())
    assert told
    assert told[0].endswith(" INFO request status=200")


def test_a_line_whose_loop_is_gone_is_written_with_the_next_one_or_at_the_end(log):
    log, written = log
    leave_alone()

    async def one():
        log.info(logline("request", status=200))

    asyncio.run(one())
    logging.getLogger().handlers[0].flush()
    assert written.getvalue().endswith(" INFO request status=200\n")
    asyncio.run(one())
    time.sleep(0.15)
    log.info(logline("request", status=201))
    assert written.getvalue().splitlines()[-1].endswith(" INFO request status=201")
    assert len(written.getvalue().splitlines()) == 3


class Word(str):
    """A text that is more than one."""

    __slots__ = ()


VALUES = st.one_of(
    st.none(),
    st.integers(),
    st.booleans(),
    st.floats(),
    st.text(),
    st.text('ab ="\\\n'),
    st.sampled_from(["", "x" * 300, "x" * 301, "ä" * 400, "a b=c", "a\nb", Word("a"), ["a"], Path("/a b")]),
)


@given(st.dictionaries(st.sampled_from("abcdef"), VALUES))
@example({"a": "b c=d"})
@example({"a": "b c"})
def test_the_short_way_to_a_line_tells_what_the_rule_for_each_field_tells(fields):
    told = ["event"]
    for name, value in fields.items():
        if value is None:
            continue
        text = f"{value:.3f}" if isinstance(value, float) else str(value)
        if isinstance(value, str) and len(value) > 300:
            text = f"{value[:297]}..."
        plain = re.fullmatch(r"[!#-<>-\[\]-~]+", text)
        told.append(f"{name}={text if plain else json.dumps(text)}")
    line = logline("event", **fields)
    assert str(line) == " ".join(told)
    assert line.fields.keys() == {name for name, value in fields.items() if value is not None}


@pytest.mark.parametrize("name", ["a", "a%", "%s", "%(a)s"])
def test_a_sign_of_percent_stands_for_itself(name):
    assert str(logline("100%", **{name: "5%"})) == f"100% {name}=5%"
    assert str(logline("100%", **{name: None})) == "100%"
