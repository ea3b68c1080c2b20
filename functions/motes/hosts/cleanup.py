"""The scheduled function that settles runs whose time has come.

Its contract: any event of a schedule in, a summary out, the same as one log line with its metrics; what it
raises makes the platform try again, and at last put the event into the dead-letter queue. Must never be
reachable over HTTP, nor begin with a run that it may not have the time to finish.
"""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from motes.hosts.upkeep import Upkeep

# What one run may take: a vendor's two answers, and the store's.
_MARGIN_SECONDS: Final = 40.0


class Context(Protocol):
    """What Lambda hands over of an invocation."""

    aws_request_id: str

    def get_remaining_time_in_millis(self) -> int:
        """Until the function is killed."""
        ...


def handler(event: Any, context: Context | None) -> dict[str, int | bool]:
    """One round. Raises ValueError for an event that no schedule sends, and StoreError."""
    if not isinstance(event, Mapping) or "requestContext" in event:
        raise ValueError("this is no event of a schedule")

    import asyncio

    if context is not None:
        _log_as_lambda_reads(context.aws_request_id)
    return asyncio.run(_upkeep().round(_is_time_left(context))).counts()


def _is_time_left(context: Context | None) -> Callable[[], bool]:
    if context is None:
        return lambda: True
    return lambda: context.get_remaining_time_in_millis() > _MARGIN_SECONDS * 1000


@cache
def _upkeep() -> "Upkeep":
    from motes.hosts.upkeep import Upkeep
    from motes.settings import load_settings

    return Upkeep(load_settings(os.environ, Path.cwd()), os.environ)


def _log_as_lambda_reads(request_id: str) -> None:
    """Lines that carry their metrics. The runtime's own handler would wrap them, and nothing be counted."""
    from motes.hosts.json_log import JSONFormatter, belongs_to_request, log_as_json

    root = logging.getLogger()
    if not any(isinstance(one.formatter, JSONFormatter) for one in root.handlers):
        root.handlers.clear()
        log_as_json(sys.stdout)
    belongs_to_request(request_id)
