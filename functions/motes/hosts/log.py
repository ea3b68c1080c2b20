"""What the executor tells, as log lines.

Must never write a body, a key or a URL: an `Observer` is not even told them.
"""

import logging
import sys
import time
from typing import Final

from motes import particles as p
from motes.api.logline import logline
from motes.executor.observer import SlowRequest

_log = logging.getLogger("motes.run")

# What a vendor refuses is its caller's business; the rest may be ours.
_ORDINARY: Final = frozenset({401, 402, 403, 404, 429})


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


class _Lines(logging.Formatter):
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


def log_to_stderr(level: int = logging.INFO) -> None:
    """Write the log of this process to standard error, one event a line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    # A line tells neither where it was written nor by which thread (Python's logging HOWTO, "Optimization").
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    # uvicorn speaks in sentences about itself.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
