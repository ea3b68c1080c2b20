"""A process that works with a file of runs, as another gateway on this machine would.

python store_process.py <file> <name> claims|journal
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from fakes.stored_runs import NOW, page, run
from motes.store.sqlite import SqliteRuns

SHARED = [f"shared{n}" for n in range(20)]


async def claims(store: SqliteRuns, name: str) -> None:
    """Make a run of one's own, and try to take every shared one; says which it has."""
    await store.put(run(name))
    for id in SHARED:
        if await store.claim(run(id), worker=name, until=NOW + 120, now=NOW + 60):
            sys.stdout.write(f"{id}\n")


async def journal(store: SqliteRuns, name: str) -> None:
    """Write one page after the other until killed; says of each that it is stored."""
    await store.put(run(name, is_resumable=True))
    for n in count(1):
        flags = await store.append(name, page(n, n, bytes(3000)), worker="w1", until=NOW + 60)
        sys.stdout.write(f"{n} {flags.is_lost}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _, file, who, what = sys.argv
    asyncio.run({"claims": claims, "journal": journal}[what](SqliteRuns(Path(file)), who))
