"""Stores in memory that can be held, made to fail, and asked what they were asked; and a clock."""

import asyncio

from motes.errors import StoreError


class Clock:
    """Epoch seconds that move when told to."""

    def __init__(self, at=1_800_000_000.0):
        self.at = at

    def __call__(self):
        return self.at


class HeldKeys:
    """A `KeyStore`. `asked` lists the hashes that were looked up; `hold()` keeps lookups waiting."""

    def __init__(self):
        self.keys = {}
        self.asked = []
        self.fails = False
        self._gate = None

    def hold(self):
        self._gate = asyncio.Event()

    def release(self):
        self._gate.set()

    async def add(self, key):
        self.keys[key.hash] = key
        return True

    async def get(self, hash):
        self.asked.append(hash)
        if self._gate is not None:
            await self._gate.wait()
        if self.fails:
            raise StoreError("dynamodb cannot be used now: Told")
        return self.keys.get(hash)

    async def all(self):
        return list(self.keys.values())

    async def disable(self, id):
        raise NotImplementedError


class HeldHealth:
    """A `HealthStore`. `recorded` is all it was told."""

    def __init__(self):
        self.recorded = []
        self.fails = False

    async def record(self, health):
        self.recorded.append(health)
        if self.fails:
            raise StoreError("dynamodb cannot be used now: Told")

    async def all(self):
        return self.recorded
