"""Stores in memory that can be held, made to fail, and asked what they were asked; and a clock."""

import asyncio
import threading
from dataclasses import replace

from motes.errors import StoreError


class Clock:
    """Epoch seconds that move when told to."""

    def __init__(self, at=1_800_000_000.0):
        self.at = at

    def __call__(self):
        return self.at


class HeldKeys:
    """A `KeyStore`. `asked` lists the hashes that were looked up; a lookup waits until `gate` is set."""

    def __init__(self):
        self.keys = {}
        self.asked = []
        self.fails = False
        self.gate = threading.Event()
        self.gate.set()
        self.was_asked = threading.Event()

    async def add(self, key):
        self.keys[key.hash] = key
        return True

    async def get(self, hash):
        self.asked.append(hash)
        self.was_asked.set()
        await asyncio.to_thread(self.gate.wait, 10)
        if self.fails:
            raise StoreError("dynamodb cannot be used now: Told")
        return self.keys.get(hash)

    async def all(self):
        return list(self.keys.values())

    async def disable(self, id):
        self.keys = {hash: replace(key, disabled=True) for hash, key in self.keys.items()}
        return True


class HeldHealth:
    """A `HealthStore`. `recorded` is all it was told; a record waits until `gate` is set."""

    def __init__(self):
        self.recorded = []
        self.fails = False
        self.gate = threading.Event()
        self.gate.set()

    async def record(self, health):
        self.recorded.append(health)
        await asyncio.to_thread(self.gate.wait, 10)
        if self.fails:
            raise StoreError("dynamodb cannot be used now: Told")

    async def all(self):
        return self.recorded


class HeldUsage:
    """A `UsageStore`. `written` is every row in the order it came, `rows` the last one of each run; an `add`
    waits until `gate` is set.
    """

    def __init__(self):
        self.written = []
        self.rows = {}
        self.fails = False
        self.gate = threading.Event()
        self.gate.set()

    async def add(self, rows):
        await asyncio.to_thread(self.gate.wait, 10)
        if self.fails:
            raise StoreError("dynamodb cannot be used now: Told")
        self.written += rows
        self.rows |= {row.run: row for row in rows}

    async def between(self, since, until):
        yield [row for row in self.rows.values() if since <= row.at < until]
