"""What the executor tells, as log lines.

Must never write a body, a key or a URL: an `Observer` is not even told them.
"""

import logging
import sys
import time
from typing import Any, Final, TextIO

from motes import particles as p
from motes.api.logline import LogLine, logline
from motes.executor.observer import SlowRequest

_log = logging.getLogger("motes.run")

# What a vendor refuses is its caller's business; the rest may be ours.
_ORDINARY: Final = frozenset({401, 402, 403, 404, 429})
# Where a record says that it is from once the places are left out.
_NOWHERE: Final = "(unknown file)"


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
            logline(
                "run_ended",
                model=label,
                reason=end.reason,
                stop=end.stop,
                first_ms=metrics.start_ms,
                all_ms=metrics.all_ms,
                tokens_in=metrics.tokens_in,
                tokens_out=metrics.tokens_out,
            )
        )


class _Times(logging.Formatter):
    """The standard library's, that writes the time down once a second."""

    _second = -1
    _told = ""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 (its name)
        """See `logging.Formatter`."""
        second = int(record.created)
        if second != self._second:
            self._second = second
            self._told = time.strftime(datefmt or self.default_time_format, self.converter(second))
        return f"{self._told},{int(record.msecs):03d}"


class _Lines(logging.StreamHandler[TextIO]):
    """The standard library's, that writes a line of ours as it is."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._times = _Times("%(asctime)s %(levelname)s %(message)s")
        self.setFormatter(self._times)

    def handle(self, record: logging.LogRecord) -> bool:
        """See `logging.Handler`."""
        if type(record.msg) is not LogLine or record.exc_info or self.filters or self.lock is None:
            return bool(super().handle(record))
        with self.lock:
            try:
                told = self._times.formatTime(record)
                self.stream.write(f"{told} {record.levelname} {record.msg}{self.terminator}")
                if not getattr(self.stream, "line_buffering", False):
                    self.flush()
            except (OSError, ValueError):
                self.handleError(record)
        return True


class _Records:
    """Makes records as the standard library does, those of a log that tells no places and no threads by
    filling in a blank one: it takes every name apart to find the module in it.
    """

    def __init__(self) -> None:
        blank = logging.LogRecord("", 0, _NOWHERE, 0, "", (), None)
        self._blank = blank.__dict__
        self._started = blank.created - blank.relativeCreated / 1000

    def __call__(  # noqa: PLR0913, PLR0917 (their factory's)
        self,
        name: str,
        level: int,
        path: str,
        line: int,
        msg: object,
        args: Any,
        exc_info: Any,
        func: str | None = None,
        sinfo: str | None = None,
        **more: Any,
    ) -> logging.LogRecord:
        """See `logging.setLogRecordFactory`."""
        if args or path != _NOWHERE:
            return logging.LogRecord(name, level, path, line, msg, args, exc_info, func, sinfo, **more)
        now = time.time()
        record = logging.LogRecord.__new__(logging.LogRecord)
        record.__dict__ = {
            **self._blank,
            "name": name,
            "msg": msg,
            "args": args,
            "levelname": logging.getLevelName(level),
            "levelno": level,
            "lineno": line,
            "exc_info": exc_info,
            "funcName": func,
            "stack_info": sinfo,
            "created": now,
            "msecs": int((now - int(now)) * 1000) + 0.0,
            "relativeCreated": (now - self._started) * 1000,
        }
        return record


def log_to_stderr(level: int = logging.INFO) -> None:
    """Write the log of this process to standard error, one event a line."""
    root = logging.getLogger()
    root.addHandler(_Lines(sys.stderr))
    root.setLevel(level)
    # A line tells neither where it was written nor by which thread (Python's logging HOWTO, "Optimization").
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.setLogRecordFactory(_Records())
    # uvicorn speaks in sentences about itself.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
