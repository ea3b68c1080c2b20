"""What a caller wants of his run beyond the answer: that it can be joined again, that it lives on, and what
happens when he leaves.

Must never promise what the host cannot keep: one that does not see a reader leave cannot act on it.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from motes.api.choices import Choices
from motes.api.deadline import BLIND
from motes.chat import ChatRequest, MotesOptions
from motes.dataclass import dataclass, maker
from motes.errors import InvalidRequest
from motes.runs.orders import Departure
from motes.settings import Settings

_DETACHED: Final = Departure("detach")
_CANCELLED: Final = Departure("cancel")
_PLACE: Final = "motes.on_disconnect"
_WORD: Final = re.compile(r"cancel|detach(:[0-9]{1,6})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of one run."""

    is_resumable: bool
    is_kept: bool
    departure: Departure


_new_terms: Final = maker(Terms)


def wants_background(request: ChatRequest, settings: Settings, label: str) -> bool:
    """Whether the run is to live on at its vendor, by the caller's word or else the operator's."""
    said, patterns = request.motes.background, settings.background_models
    if said is not None or not patterns:
        return bool(said)
    return any(fnmatchcase(label, pattern) for pattern in patterns)


def terms_of(options: MotesOptions, choices: Choices, scope: Mapping[str, Any], *, background: bool) -> Terms:
    """The terms of a request. Raises InvalidRequest for what this host cannot do.

    A run in the background has a journal: its vendor's copy goes at its end, and a reader may be away then.
    """
    is_resumable = choices.resumable or background
    return _new_terms(
        is_resumable=is_resumable,
        is_kept=options.keep,
        departure=_departure(options.on_disconnect, scope, is_resumable),
    )


def _departure(word: str | None, scope: Mapping[str, Any], is_resumable: bool) -> Departure:
    if word is None:
        # Nobody asks for a run that can be joined again to have it end when he is cut off.
        return _DETACHED if is_resumable else _CANCELLED
    if not _WORD.fullmatch(word):
        raise InvalidRequest(
            f"{_PLACE}: must be `cancel`, `detach`, or `detach:` and a number of seconds",
            param=_PLACE,
            code="invalid_value",
        )
    then, _, seconds = word.partition(":")
    if BLIND in (scope.get("extensions") or {}) and (then == "cancel" or seconds):
        raise InvalidRequest(
            f"{_PLACE}: this host is not told when a client leaves, so only `detach` is possible here;"
            " POST /v1/runs/{id}/cancel ends a run",
            param=_PLACE,
            code="unsupported",
        )
    return Departure("cancel" if then == "cancel" else "detach", float(seconds) if seconds else None)
