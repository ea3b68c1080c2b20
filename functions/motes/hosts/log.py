"""What the executor tells, as log lines.

Must never write a body, a key or a URL: an `Observer` is not even told them.
"""

import asyncio
import logging
import sys
import time
from typing import Any, Final, TextIO, cast

from motes import particles as p
from motes.api.logline import LogLine, logline
from motes.executor.observer import SlowRequest

_log = logging.getLogger("motes.run")

# What a vendor refuses is its caller's business; the rest may be ours.
_ORDINARY: Final = frozenset({401, 402, 403, 404, 429})
# The logs that have a line for each request.
_EACH_REQUEST: Final = ("motes.api", "motes.run")
# So long, and so many of them, wait for each other: shorter than anybody takes to look at a log, and long
# enough for the lines of a busy gateway to be one write.
_PATIENCE_SECONDS: Final = 0.1
_MOST_LINES: Final = 200


class LogObserver:
    """An `Observer` that writes to the standard library's log."""

    def slow_request(self, report: SlowRequest) -> None:
        """See `Observer`."""
        _log.warning(
            logline(
                "slow_request",
                vendor=report.vendor,
                model=report.model,
                dialect=report.dialect,
                context=report.context,
                elapsed=report.elapsed,
                remaining=report.remaining,
                step=report.step,
                received=report.received,
                last_event_age=report.last_event_age,
                handle=report.handle.run_id if report.handle else None,
            )
        )

    def retrying(self, label: str, reset: p.RetryReset) -> None:
        """See `Observer`."""
        _log.info(
            logline(
                "retrying",
                model=label,
                attempt=reset.attempt,
                delay_ms=reset.delay_ms,
                http=reset.cause_http,
                connection=reset.cause_conn,
            )
        )

    def failed(self, label: str, issue: p.Issue) -> None:
        """See `Observer`."""
        error = issue.error
        status = error.http_status if error else None
        level = logging.INFO if status in _ORDINARY or issue.phase == "dialect-issue" else logging.WARNING
        kind, code = (error.kind, error.code) if error else (None, None)
        _log.log(
            level, logline("run_failed", model=label, phase=issue.phase, kind=kind, code=code, http=status)
        )

    def warned(self, label: str, warning: p.Warn) -> None:
        """See `Observer`. The words of a warning are the vendor's, and so not for the log."""
        _log.info(logline("tolerated", model=label, code=warning.code))

    def bug(self, label: str, error: Exception) -> None:
        """See `Observer`."""
        _log.error(logline("bug", model=label, error=type(error).__name__), exc_info=error)

    def run_ended(self, label: str, end: p.End, metrics: p.Metrics) -> None:
        """See `Observer`."""
        _log.info(
            LogLine(
                "run_ended",
                {
                    "model": label,
                    "reason": end.reason,
                    "stop": end.stop,
                    "first_ms": metrics.start_ms,
                    "all_ms": metrics.all_ms,
                    "tokens_in": metrics.tokens_in,
                    "tokens_out": metrics.tokens_out,
                },
            )
        )


class _Times(logging.Formatter):
    """The standard library's, that writes the time down once a second."""

    _second = -1
    _told = ""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 (its name)
        """See `logging.Formatter`."""
        return self.told(record.created, datefmt)

    def told(self, at: float, form: str | None = None) -> str:
        """A time as it begins a line."""
        second = int(at)
        if second != self._second:
            self._second = second
            self._told = time.strftime(form or self.default_time_format, self.converter(second))
        return "%s,%03d" % (self._told, (at - second) * 1000)  # noqa: UP031 (half of what the other way takes)


class _Lines(logging.StreamHandler[TextIO]):
    """The standard library's, that also takes a line of which there is no record.

    Such a line waits a moment for others, and all of them are one write: each would be a call of the kernel.
    What tells of trouble waits for nobody, and nothing stands before what came earlier.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._times = _Times("%(asctime)s %(levelname)s %(message)s")
        self.setFormatter(self._times)
        self._waiting: list[tuple[float, int, LogLine]] = []
        self._due = 0.0
        """When those that wait are written, at the latest."""

    def write(self, level: int, line: LogLine) -> None:
        """Write a line as the record of it would be written now."""
        assert self.lock is not None  # noqa: S101 (for the type: it is one of ours)
        with self.lock:
            now = time.time()
            self._waiting.append((now, level, line))
            if level > logging.INFO or len(self._waiting) >= _MOST_LINES:
                self._write_waiting()
            elif now >= self._due:
                self._write_soon(now)

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.StreamHandler`."""
        self._write_waiting()
        super().emit(record)

    def flush(self) -> None:
        """See `logging.StreamHandler`."""
        self._write_waiting()
        super().flush()

    def _write_soon(self, now: float) -> None:
        """In a moment, where there is a loop to do so."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._write_waiting()
        else:
            self._due = now + _PATIENCE_SECONDS
            loop.call_later(_PATIENCE_SECONDS, self._write_waiting)

    def _write_waiting(self) -> None:
        assert self.lock is not None  # noqa: S101 (for the type)
        with self.lock:
            self._due = 0.0
            waiting, self._waiting = self._waiting, []
            if not waiting:
                return
            told, name, end = self._times.told, logging.getLevelName, self.terminator
            text = "".join([f"{told(at)} {name(level)} {line!s}{end}" for at, level, line in waiting])
            try:
                self.stream.write(text)
                if not getattr(self.stream, "line_buffering", False):
                    self.stream.flush()
            except (OSError, ValueError):
                self.handleError(logging.makeLogRecord({"msg": text}))


class _Logger(logging.Logger):
    """The standard library's, that makes no record of a line of ours where nobody but `_Lines` would have it:
    a record costs more than all else about a line.
    """

    def _log(self, level: int, msg: object, args: Any, **more: Any) -> None:  # type: ignore[override]
        lines = self._only_handler() if isinstance(msg, LogLine) and not (args or more) else None
        if lines is None or lines.filters or lines.level > level:
            super()._log(level, msg, args, **more)
        else:
            lines.write(level, cast(LogLine, msg))

    def _only_handler(self) -> _Lines | None:
        """That of the root, if it is the only one there is on the way."""
        one: logging.Logger | None = self
        while one is not None and one is not logging.root:
            if one.handlers or self.filters or not one.propagate:
                return None
            one = one.parent
        handlers = logging.root.handlers
        return lines if len(handlers) == 1 and type(lines := handlers[0]) is _Lines else None


def log_to_stderr(level: int = logging.INFO) -> None:
    """Write the log of this process to standard error, one event a line."""
    root = logging.getLogger()
    root.addHandler(_Lines(sys.stderr))
    root.setLevel(level)
    # A line tells neither where it was written nor by which thread (Python's logging HOWTO, "Optimization").
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    for name in _EACH_REQUEST:
        # Whoever asks for it by its name, before or after, has the same one.
        logging.getLogger(name).__class__ = _Logger
    # uvicorn speaks in sentences about itself.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
