"""What is stored, as values.

Must never hold a caller's key itself, nor anything a vendor or a caller said.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from motes.dataclass import dataclass, replace
from motes.errors import ErrorKind
from motes.particles import Phase

_OWNER: Final = b"motes: owner of a run"


@dataclass(frozen=True, slots=True)
class CallerKey:
    """One caller's key, of which only the SHA-256 hash is kept. `created` is ISO 8601; `choices` are what its
    holder wants of every answer, by name.
    """

    id: str
    name: str
    hash: str
    created: str
    disabled: bool = False
    choices: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def owner(self) -> str:
        """Whose runs are this key's. A keyed hash of its hash: who reads a run cannot look its key up."""
        return hmac.digest(_OWNER, self.hash.encode(), hashlib.sha256).hex()

    def is_called(self, id: str) -> bool:
        """Whether it has that id or name."""
        return id in (self.id, self.name)


def by_age(key: CallerKey) -> tuple[str, str]:
    """The order in which keys are listed: the oldest first."""
    return key.created, key.id


@dataclass(frozen=True, slots=True)
class Failure:
    """How a vendor failed, in our words only. `at` is in epoch seconds, `status` the vendor's HTTP status."""

    at: float
    phase: Phase
    kind: ErrorKind
    status: int | None = None


@dataclass(frozen=True, slots=True)
class KeyRefusal:
    """How a vendor last refused one of its several keys, which is told by its place, from 0. Epoch seconds;
    until then the key is left alone.
    """

    key: int
    at: float
    until: float
    kind: ErrorKind
    status: int | None = None


@dataclass(frozen=True, slots=True)
class VendorHealth:
    """The last success of a vendor, in epoch seconds, its last failure, and the last refusal of each of its
    keys, as far as they are known.
    """

    vendor: str
    success: float | None = None
    failure: Failure | None = None
    refusals: tuple[KeyRefusal, ...] = ()

    def merged(self, other: "VendorHealth") -> "VendorHealth":
        """The newer of each."""
        return replace(
            self,
            success=max((t for t in (self.success, other.success) if t is not None), default=None),
            failure=max((f for f in (self.failure, other.failure) if f), key=_at, default=None),
            refusals=_newest((*other.refusals, *self.refusals)),
        )

    def newer_than(self, other: "VendorHealth") -> "VendorHealth":
        """What of it is newer than the other; the rest is left out."""
        success, failure = self.success, self.failure
        if success is not None and other.success is not None and success <= other.success:
            success = None
        if failure is not None and other.failure is not None and failure.at <= other.failure.at:
            failure = None
        known = {refusal.key: refusal.at for refusal in other.refusals}
        refusals = tuple(one for one in self.refusals if one.at > known.get(one.key, -1.0))
        return replace(self, success=success, failure=failure, refusals=refusals)


def _at(failure: Failure) -> float:
    return failure.at


def _newest(refusals: Iterable[KeyRefusal]) -> tuple[KeyRefusal, ...]:
    """The last refusal of each key."""
    out: dict[int, KeyRefusal] = {}
    for refusal in refusals:
        if refusal.key not in out or out[refusal.key].at <= refusal.at:
            out[refusal.key] = refusal
    return tuple(out[key] for key in sorted(out))
