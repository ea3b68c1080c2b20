"""Keys: the vendors' from the environment or the settings, the callers' as hashes in a file.

Must never log, show or store a caller's key itself: `keys.json` holds SHA-256 hashes (the keys are 256
random bits, so a slow hash would protect nothing), is readable by its owner only, and is replaced whole.
"""

import hashlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from motes import jsontext
from motes.errors import PrepareError
from motes.settings import Settings

PREFIX: Final = "mk-"
ENVIRONMENT_KEY: Final = "environment"


def vendor_key(
    vendor: str, key_name: str | None, settings: Settings, environ: Mapping[str, str]
) -> str | None:
    """The key of a vendor: `key` of its settings, else the environment variable its row names."""
    row = settings.vendors.get(vendor)
    if row is not None and row.key is not None:
        return row.key.get_secret_value() or None
    return environ.get(key_name, "").strip() or None if key_name else None


@dataclass(frozen=True, slots=True)
class CallerKey:
    """One caller's key, of which only the hash is kept. `created` is ISO 8601."""

    id: str
    name: str
    hash: str
    created: str
    disabled: bool = False


class KeyRing:
    """The callers' keys. Reads the file again when it changed, so that a disabled key is refused at once."""

    def __init__(self, path: Path, environment_key: str | None = None) -> None:
        self.path = path
        self._fixed = _of_environment(environment_key)
        self._stamp: tuple[int, int] | None = None
        self._keys: tuple[CallerKey, ...] = ()

    @property
    def keys(self) -> tuple[CallerKey, ...]:
        """The keys as they are now. Raises PrepareError where the file is broken."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._keys = None, ()
            return self._fixed
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._keys, self._stamp = _read(self.path), stamp
        return self._fixed + self._keys

    def find(self, presented: Sequence[str]) -> CallerKey | None:
        """The enabled key that one of the presented secrets is. Every hash is compared, in constant time."""
        hashes = [_hash(secret) for secret in presented]
        found = None
        for key in self.keys:
            for given in hashes:
                if hmac.compare_digest(key.hash, given) and not key.disabled:
                    found = key
        return found

    def new(self, name: str) -> tuple[CallerKey, str]:
        """Make a key; gives its record and the secret, which is nowhere else."""
        secret = PREFIX + secrets.token_urlsafe(32)
        key = CallerKey(
            id=secrets.token_hex(4),
            name=name,
            hash=_hash(secret),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._write((*self._stored(), key))
        return key, secret

    def disable(self, id: str) -> bool:
        """Refuse a key from now on; False where no key has that id or name."""
        stored = self._stored()
        if not any(id in (key.id, key.name) for key in stored):
            return False
        self._write(tuple(replace(k, disabled=True) if id in (k.id, k.name) else k for k in stored))
        return True

    def _stored(self) -> tuple[CallerKey, ...]:
        return _read(self.path) if self.path.exists() else ()

    def _write(self, keys: Sequence[CallerKey]) -> None:
        """Replace the file in one step; it is never readable by others, not even for a moment."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = jsontext.dump_bytes({"keys": [asdict(key) for key in keys]})
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".keys-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data + b"\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        finally:
            # Gone already where the replacement took place.
            Path(name).unlink(missing_ok=True)


def key_file(settings: Settings) -> Path:
    """Where the callers' keys lie."""
    return settings.home / "keys.json"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _of_environment(secret: str | None) -> tuple[CallerKey, ...]:
    if not secret:
        return ()
    return (CallerKey(id=ENVIRONMENT_KEY, name="MOTES_API_KEY", hash=_hash(secret), created=""),)


def _read(path: Path) -> tuple[CallerKey, ...]:
    try:
        data = jsontext.loads(path.read_bytes())
        return tuple(_key(item) for item in data["keys"])
    except OSError as error:
        raise PrepareError(f"{path}: cannot be read: {error.strerror}", code="bad_setting") from None
    except (ValueError, TypeError, KeyError):
        raise PrepareError(
            f"{path}: is no key file; move it away and make keys with `motes keys new`", code="bad_setting"
        ) from None


def _key(item: Mapping[str, Any]) -> CallerKey:
    return CallerKey(
        id=str(item["id"]),
        name=str(item["name"]),
        hash=str(item["hash"]),
        created=str(item["created"]),
        disabled=item["disabled"] is not False,
    )
