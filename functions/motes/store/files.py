"""Keys and health in two files of `MOTES_HOME`: the local store.

A file is read again when it changed, replaced whole, and readable by its owner only, not even for a moment by
others. Must never keep what it could not write.
"""

import asyncio
import hmac
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from motes import jsontext
from motes.errors import PrepareError, StoreError
from motes.store.records import CallerKey, Failure, KeyRefusal, VendorHealth, by_age

try:
    import fcntl
except ImportError:  # Not on Windows.
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True


class FileKeys:
    """A `KeyStore` in `keys.json`. A key that another process disabled is refused at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._keys: tuple[CallerKey, ...] = ()

    async def add(self, key: CallerKey) -> bool:
        """See `KeyStore`."""
        return await asyncio.to_thread(self._add, key)

    def _add(self, key: CallerKey) -> bool:
        self.now()  # A file that cannot be read is named before a lock is made beside it.
        with _alone(self.path):
            stored = self._fresh()
            if any(other.id == key.id or other.hash == key.hash for other in stored):
                return False
            self._write((*stored, key))
            return True

    async def get(self, hash: str) -> CallerKey | None:
        """See `KeyStore`. Every hash is compared, in constant time."""
        found = None
        for key in self.now():
            if hmac.compare_digest(key.hash.encode(), hash.encode()):
                found = key
        return found

    async def all(self) -> Sequence[CallerKey]:
        """See `KeyStore`."""
        return sorted(self.now(), key=by_age)

    async def disable(self, id: str) -> bool:
        """See `KeyStore`."""
        return await asyncio.to_thread(self._disable, id)

    def _disable(self, id: str) -> bool:
        if not self.now():
            return False
        with _alone(self.path):
            stored = self._fresh()
            if not any(key.is_called(id) for key in stored):
                return False
            self._write([replace(key, disabled=True) if key.is_called(id) else key for key in stored])
            return True

    def _fresh(self) -> tuple[CallerKey, ...]:
        """Read again, whatever the file's times say: what is written must hold what others wrote."""
        return _read_keys(self.path) if self.path.exists() else self.now()

    def now(self) -> tuple[CallerKey, ...]:
        """The keys as they are in the file. Raises PrepareError where it is broken, or cannot be there."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._keys = None, ()
            return ()
        except OSError as error:
            raise _unreadable(self.path, error) from None
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._keys, self._stamp = _read_keys(self.path), stamp
        return self._keys

    def _write(self, keys: Sequence[CallerKey]) -> None:
        _replace(self.path, {"keys": [asdict(key) for key in keys]})


class FileHealth:
    """A `HealthStore` in `health.json`. What cannot be read is forgotten: it was seen, not set."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    async def record(self, health: VendorHealth) -> None:
        """See `HealthStore`."""
        await asyncio.to_thread(self._record, health)

    async def all(self) -> Sequence[VendorHealth]:
        """See `HealthStore`."""
        return _read_health(self.path)

    def _record(self, health: VendorHealth) -> None:
        with self._lock:
            seen = {other.vendor: other for other in _read_health(self.path)}
            seen[health.vendor] = seen.get(health.vendor, health).merged(health)
            _replace(self.path, {"vendors": [asdict(seen[vendor]) for vendor in sorted(seen)]})


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes and threads from changing a file between our reading and our writing of it.

    The lock is on a file beside it, since the file itself is replaced. Where the system has no such locks,
    nobody is kept out.
    """
    if not _HAS_LOCKS:
        yield
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a file in one step."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
        try:
            _write(handle, jsontext.dump_bytes(content) + b"\n")
            Path(name).replace(path)
        finally:
            # Gone already where the replacement took place.
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None


def _write(handle: int, data: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _read_keys(path: Path) -> tuple[CallerKey, ...]:
    try:
        data = jsontext.loads(path.read_bytes())
        return tuple(_key(item) for item in data["keys"])
    except OSError as error:
        raise _unreadable(path, error) from None
    except (ValueError, TypeError, KeyError):
        raise PrepareError(
            f"{path}: is no key file; move it away and make keys with `motes keys new`", code="bad_setting"
        ) from None


def _unreadable(path: Path, error: OSError) -> PrepareError:
    """A file that is no file, or that lies in what is no folder (a wrong `MOTES_HOME`)."""
    return PrepareError(f"{path}: cannot be read: {error.strerror}", code="bad_setting")


def _key(item: Mapping[str, Any]) -> CallerKey:
    return CallerKey(
        id=str(item["id"]),
        name=str(item["name"]),
        hash=str(item["hash"]),
        created=str(item["created"]),
        disabled=item["disabled"] is not False,
        choices=_choices(item.get("choices")),
    )


def _choices(value: Any) -> dict[str, str]:
    """A key that was made before there were any has none."""
    return {str(name): str(word) for name, word in value.items()} if isinstance(value, dict) else {}


def _read_health(path: Path) -> list[VendorHealth]:
    try:
        data = jsontext.loads(path.read_bytes())
        return [_health(item) for item in data["vendors"]]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _health(item: Mapping[str, Any]) -> VendorHealth:
    success, failure = item["success"], item["failure"]
    return VendorHealth(
        vendor=str(item["vendor"]),
        success=None if success is None else float(success),
        failure=None if failure is None else Failure(**failure),
        refusals=tuple(KeyRefusal(**refusal) for refusal in item.get("refusals", ())),
    )
