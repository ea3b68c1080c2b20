"""Who may ask: the callers' keys of this process, from the store and from the environment.

A local store is asked each time. A remote one is asked once for a key; then the answer is remembered, a
request with that key starts at once, and what is too old is asked again beside it: nothing is shown to the
caller before `Admission.confirmed`. Must never log, show or store a key itself. The store has SHA-256 hashes:
the keys are 256 random bits, so a slow hash would protect nothing.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TypeAlias

from motes.dataclass import dataclass
from motes.remembered import Remembered
from motes.settings import Settings
from motes.store.base import KeyStore
from motes.store.opening import Stores
from motes.store.records import CallerKey

PREFIX: Final = "mk-"
ENVIRONMENT_KEY: Final = "environment"
_OWNER_CHARS: Final = 32

_OURS: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")

Entry: TypeAlias = Remembered[CallerKey | None]


@dataclass(frozen=True, slots=True)
class Admission:
    """A caller who may ask."""

    key: CallerKey
    entry: Entry | None = None

    async def confirmed(self) -> bool:
        """Whether the key still opens; waits only where that was asked too long ago. Raises StoreError."""
        return self.entry is None or _opens(await self.entry.get())


class KeyRing:
    """The keys. With `max_age` (seconds) the store is a remote one, whose answers are remembered so long."""

    def __init__(
        self,
        store: KeyStore,
        environment_key: str | None = None,
        *,
        max_age: float | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._fixed = _of_environment(environment_key)
        self._max_age = max_age
        self._now = now
        self._entries: dict[str, Entry] = {}
        self._used: set[str] = set()

    async def admit(self, presented: Sequence[str]) -> Admission | None:
        """Let in whose secret, any of the presented ones, is an enabled key. Raises StoreError."""
        if self._fixed is not None:
            for secret in presented:
                if hmac.compare_digest(self._fixed.hash, hash_of(secret)):
                    return Admission(self._fixed)
        for secret in presented:
            admission = await self._looked_up(secret)
            if admission is not None:
                return admission
        return None

    async def list(self) -> list[CallerKey]:
        """Every key, the one of the environment first."""
        stored = list(await self._store.all())
        return stored if self._fixed is None else [self._fixed, *stored]

    async def new(self, name: str, choices: Mapping[str, str] | None = None) -> tuple[CallerKey, str]:
        """Make a key; gives its record and the secret, which is nowhere else."""
        while True:
            secret = PREFIX + secrets.token_urlsafe(32)
            created = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")
            key = CallerKey(secrets.token_hex(4), name, hash_of(secret), created, choices=dict(choices or {}))
            if await self._store.add(key):
                return key, secret

    async def disable(self, id: str) -> bool:
        """Refuse every key of that id or name from now on; False where there is none."""
        return await self._store.disable(id)

    async def renew(self) -> None:
        """Ask ahead for the keys that were used and will soon be too old. Never raises."""
        used, self._used = self._used, set()
        entries = [self._entries[hash] for hash in used if hash in self._entries]
        await asyncio.gather(*[entry.renew() for entry in entries])

    async def _looked_up(self, secret: str) -> Admission | None:
        hash = hash_of(secret)
        if self._max_age is None:
            key = await self._store.get(hash)
            return Admission(key) if key is not None and not key.disabled else None
        # What is not one of ours by its looks costs no question.
        return await self._remembered(hash) if _OURS.fullmatch(secret) else None

    async def _remembered(self, hash: str) -> Admission | None:
        entry = self._entries.get(hash) or self._new_entry(hash)
        key = entry.known.value if entry.known else None
        if _opens(key):
            entry.begin()
        else:
            key = await self._asked(hash, entry)
        if key is None or key.disabled:
            return None
        self._used.add(hash)
        return Admission(key, entry)

    async def _asked(self, hash: str, entry: Entry) -> CallerKey | None:
        try:
            return await entry.get()
        finally:
            # Wrong keys are not remembered: there is no end of them.
            if entry.known is None or entry.known.value is None:
                self._entries.pop(hash, None)

    def _new_entry(self, hash: str) -> Entry:
        assert self._max_age is not None  # noqa: S101 (for the type)
        entry = Remembered(lambda: self._store.get(hash), self._max_age, self._now, "caller_key")
        self._entries[hash] = entry
        return entry


def open_keys(
    settings: Settings,
    environ: Mapping[str, str],
    stores: Stores,
    now: Callable[[], float] = time.time,
) -> KeyRing:
    """The key ring of these settings."""
    return KeyRing(
        stores.keys,
        environ.get("MOTES_API_KEY"),
        max_age=settings.keys_max_age_s if stores.is_remote else None,
        now=now,
    )


def hash_of(secret: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def owner_of(key: CallerKey) -> str:
    """Whose runs are this key's: a hash of its hash, so that the record of a run opens nothing."""
    return _owner(key.hash)


@lru_cache(maxsize=256)
def _owner(hash: str) -> str:
    return hmac.new(b"motes run owner", hash.encode(), "sha256").hexdigest()[:_OWNER_CHARS]


def _opens(key: CallerKey | None) -> bool:
    return key is not None and not key.disabled


def _of_environment(secret: str | None) -> CallerKey | None:
    # What a caller sends is stripped as well: a line break at the end of a secret's file is no part of it.
    secret = (secret or "").strip()
    if not secret:
        return None
    return CallerKey(ENVIRONMENT_KEY, "MOTES_API_KEY", hash_of(secret), "")
