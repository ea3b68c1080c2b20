"""When the platform will cut a request off, as the host tells the app.

A host that knows puts it into the `extensions` of the ASGI scope; one that does not says nothing. Must never
import a host: this is the one word they share.
"""

from collections.abc import Mapping
from typing import Any, Final

DEADLINE: Final = "motes.deadline"


def extension(at: float) -> dict[str, dict[str, float]]:
    """What a host adds to a scope's `extensions`. `at` is a time of the event loop's clock."""
    return {DEADLINE: {"at": at}}


BLIND: Final = "motes.blind"
"""In a scope's `extensions`: the host does not learn when a client leaves."""


def deadline_of(scope: Mapping[str, Any]) -> float | None:
    """When this request is cut off, as a time of the event loop's clock; None where nobody cuts."""
    told = (scope.get("extensions") or {}).get(DEADLINE)
    return None if told is None else float(told["at"])
