"""The scheduled function that settles runs whose time has come. So far no run is kept, so nothing is due.

Its contract: any event of a schedule in, a `Summary` out, the same as one log line; what it raises makes the
platform try again, and at last put the event into the dead-letter queue. Must never be reachable over HTTP.
"""

import logging
from collections.abc import Mapping
from typing import Any, TypedDict

from motes.api.logline import logline

_log = logging.getLogger("motes.cleanup")


class Summary(TypedDict):
    """How many runs were due, how many of them are gone, and how many are tried again later."""

    due: int
    deleted: int
    postponed: int


def handler(event: Any, _: object) -> Summary:
    """One round. Raises ValueError for an event that no schedule sends."""
    if not isinstance(event, Mapping) or "requestContext" in event:
        raise ValueError("this is no event of a schedule")
    summary = Summary(due=0, deleted=0, postponed=0)
    _log.info(logline("cleanup", **summary))
    return summary
