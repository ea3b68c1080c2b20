"""What a store must be able to do: the Protocols that files and DynamoDB both keep, under one law test.

No method blocks the event loop for longer than a small file takes. Each raises StoreError where the store
fails, and PrepareError where an operator has to mend it.
"""

from collections.abc import Sequence
from typing import Protocol

from motes.store.records import CallerKey, VendorHealth


class KeyStore(Protocol):
    """The callers' keys."""

    async def add(self, key: CallerKey) -> bool:
        """Keep a key; False, and nothing changed, where its id or its hash is there already."""
        ...

    async def get(self, hash: str) -> CallerKey | None:
        """The key of that hash as it is now, disabled ones too."""
        ...

    async def all(self) -> Sequence[CallerKey]:
        """Every key, oldest first."""
        ...

    async def disable(self, id: str) -> bool:
        """Disable every key of that id or name for good; False where there is none."""
        ...


class HealthStore(Protocol):
    """How the vendors were last seen."""

    async def record(self, health: VendorHealth) -> None:
        """Keep what is newer than what is there; the rest stays as it is."""
        ...

    async def all(self) -> Sequence[VendorHealth]:
        """Every vendor that was seen, by name."""
        ...
