"""Several keys of one vendor: which of them a conversation goes with, and which are left alone for a while.

A conversation stays with its key as long as that is taken, since a vendor's caches belong to a key. A key
that was refused cools down; where all do, the one that is ready first is asked. Keys are told by their place
in the settings, never by themselves, and kept here as hashes. Must never refuse a request for what it
remembers.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final

from motes.api.logline import logline
from motes.dataclass import dataclass
from motes.errors import ErrorKind, VendorError
from motes.store.records import KeyRefusal

_log = logging.getLogger("motes.api")

COOLDOWN_SECONDS: Final[dict[ErrorKind, float]] = {
    "authentication": 600.0,
    "quota": 3600.0,
    "rate_limit": 60.0,
}
"""How long a key is left alone, where the vendor does not say."""
LONGEST_SECONDS: Final = 3600.0


@dataclass(slots=True)
class _Key:
    """What is remembered of one key. `until` is in epoch seconds."""

    digest: str = field(repr=False)
    until: float = 0.0


class Rotation:
    """The keys of this process. `now` gives epoch seconds; `heard` is told of every refusal."""

    def __init__(self, now: Callable[[], float], heard: Callable[[str, KeyRefusal], None]) -> None:
        self._now = now
        self._heard = heard
        self._keys: dict[str, list[_Key]] = {}

    def order(self, vendor: str, keys: Sequence[str], conversation: str) -> list[int]:
        """The places of the keys, in the order in which this conversation is to try them."""
        known, now = self._known(vendor, keys), self._now()

        def rank(at: int) -> tuple[float, str]:
            key = known[at]
            # A clock that was set back makes no key wait for longer than it was told to.
            left = key.until - now
            return (left if 0 < left <= LONGEST_SECONDS else 0.0), _affinity(conversation, key.digest)

        return sorted(range(len(known)), key=rank)

    def refused(self, vendor: str, at: int, error: VendorError) -> None:
        """The vendor refused the key at that place."""
        keys = self._keys.get(vendor, [])
        if at >= len(keys):
            return
        asked = error.retry_after
        seconds = min(COOLDOWN_SECONDS.get(error.kind, 0.0) if asked is None else asked, LONGEST_SECONDS)
        now = self._now()
        keys[at].until = now + seconds
        refusal = KeyRefusal(at, now, now + seconds, error.kind, error.http_status)
        fields = {"kind": error.kind, "status": error.http_status, "seconds": seconds}
        _log.warning(logline("key_refused", vendor=vendor, key=at + 1, of=len(keys), **fields))
        self._heard(vendor, refusal)

    def _known(self, vendor: str, keys: Sequence[str]) -> list[_Key]:
        """What is remembered of these keys; one that was replaced is a new one."""
        before = {key.digest: key for key in self._keys.get(vendor, ())}
        digests = [hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() for key in keys]
        self._keys[vendor] = [before.get(digest) or _Key(digest) for digest in digests]
        return self._keys[vendor]


def _affinity(conversation: str, digest: str) -> str:
    """Rendezvous hashing: a key more or less moves only its own conversations."""
    return hashlib.sha256(f"{conversation}\0{digest}".encode()).hexdigest()
