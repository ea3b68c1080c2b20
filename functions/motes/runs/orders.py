"""What a request brings: for a run that is to begin, and for one that exists. Values only."""

from collections.abc import Callable
from dataclasses import field
from typing import Literal

from motes.dataclass import dataclass
from motes.dispatch import Dispatch
from motes.executor.exchange import Ahead
from motes.executor.observer import Observer
from motes.executor.run import Lane, Options
from motes.store.runs import StoredRun


@dataclass(frozen=True, slots=True)
class Departure:
    """What happens to a run when its last reader has gone. `seconds` is how long one that is left goes on at
    most; None: to its end.
    """

    then: Literal["detach", "cancel"] = "cancel"
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A run that is to begin; `secret` is the vendor's key where its caller brought it, `hidden` the one it
    is asked with, whoever's it is.
    """

    run: StoredRun
    dispatch: Dispatch
    options: Options
    observer: Observer
    departure: Departure
    secret: str | None = field(default=None, repr=False)
    hidden: str | None = field(default=None, repr=False)
    lane: Lane | None = None
    """The short way to whoever asks for it, if he has one."""
    ahead: Ahead | None = None
    """Its first request, where that is on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a request brings for a run that exists: `options` makes those of one that it takes up; `secret` is
    the vendor's key where the caller brings it.
    """

    options: Callable[[], Options]
    secret: str | None = field(default=None, repr=False)
