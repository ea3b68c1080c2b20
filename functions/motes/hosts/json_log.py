"""The log as CloudWatch reads it: one JSON object a line, each with the invocation it belongs to.

A line that stands for something to be counted carries the metric in itself (embedded metric format), so that
a count can never be there without its reason. Must never write a body, a key or a URL, nor break a line.

Source: Amazon CloudWatch user guide, "Embedded metric format specification"; AWS Lambda developer guide,
"Log and monitor Python functions" (both read 2026-11-29).
"""

import json
import logging
import os
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TextIO

from motes.api.logline import LogLine

if TYPE_CHECKING:
    from motes.hosts.runtime import Invocation

NAMESPACE: Final = "motes"
FUNCTION: Final = "function"
"""The dimension that keeps one stack's metrics from another's."""

_CLEANED: Final = {
    "RunsDeleted": "deleted",
    "RunsAbandoned": "abandoned",
    "RunsPostponed": "postponed",
    "RunsParked": "parked",
    "RunsFailed": "failed",
    "RunsLeft": "left",
}
"""What a round of cleaning up counts."""
UNKNOWN_FINISH: Final = frozenset(
    {"unknown_finish_reason", "unknown_stop_reason", "unknown_incomplete_reason", "unknown_status"}
)
"""How the dialects say that a vendor ended in a word that is not known yet."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_invocation: ContextVar[Mapping[str, str]] = ContextVar("motes.invocation", default=_NOTHING)


def belongs_to(invocation: "Invocation") -> None:
    """Everything this task and its children log from now on is said of this invocation."""
    root = (invocation.trace_id or "").partition(";")[0].removeprefix("Root=")
    ids = {"requestId": invocation.request_id, "traceId": root, "tenantId": invocation.tenant_id or ""}
    _invocation.set({name: id for name, id in ids.items() if id})


def belongs_to_request(id: str) -> None:
    """The same for an invocation of which only its id is known."""
    _invocation.set({"requestId": id})


def log_as_json(stream: TextIO, environ: Mapping[str, str] = os.environ) -> None:
    """Write the log of this process to a stream. `AWS_LAMBDA_LOG_LEVEL` is the template's own setting."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONFormatter(environ.get("AWS_LAMBDA_FUNCTION_NAME", "motes")))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(environ.get("AWS_LAMBDA_LOG_LEVEL", "INFO").replace("TRACE", "DEBUG"))


class JSONFormatter(logging.Formatter):
    """Names that the platform's own lines have too are written as it writes them."""

    def __init__(self, function: str) -> None:
        super().__init__()
        self._function = function

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "timestamp": _iso(record.created),
            "level": record.levelname,
            "logger": record.name,
            **_invocation.get(),
            **_said(record),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line |= {
                "errorType": type(error).__name__,
                "stackTrace": self.formatException(record.exc_info).splitlines(),
            }
        return json.dumps({**line, **self._counted(record)}, default=str)

    def _counted(self, record: logging.LogRecord) -> Mapping[str, Any]:
        counts, dimensions = _metrics_of(record.msg)
        if not counts:
            return _NOTHING
        directive = {
            "Namespace": NAMESPACE,
            "Dimensions": [[FUNCTION], [FUNCTION, *dimensions]] if dimensions else [[FUNCTION]],
            "Metrics": [{"Name": name, "Unit": "Count"} for name in counts],
        }
        told = {"Timestamp": int(record.created * 1000), "CloudWatchMetrics": [directive]}
        return {"_aws": told, FUNCTION: self._function, **counts}


def _said(record: logging.LogRecord) -> Mapping[str, Any]:
    if isinstance(record.msg, LogLine):
        fields = record.msg.fields.items()
        return {"event": record.msg.event} | {name: _plain(value) for name, value in fields}
    return {"message": record.getMessage()}


def _plain(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def _metrics_of(line: Any) -> tuple[Mapping[str, int], list[str]]:
    """What a line counts for, and the dimensions of it besides the function's name."""
    match line:
        case LogLine(event="slow_request"):
            return {"SlowRequests": 1}, ["vendor", "model"]
        case LogLine(event="run_failed", fields={"kind": "stream_truncated"}):
            return {"Truncations": 1}, ["model"]
        case LogLine(event="tolerated", fields={"code": code}):
            counts = {"Tolerated": 1} | ({"UnknownFinishReasons": 1} if code in UNKNOWN_FINISH else {})
            return counts, ["model"]
        case LogLine(event="cleanup", fields=counts):
            return {metric: counts[name] for metric, name in _CLEANED.items() if name in counts}, []
    return {}, []


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
