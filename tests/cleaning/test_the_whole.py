"""Thousands of runs at a vendor that fails for some, in a store that throttles, cleaned up by processes that
are killed in the middle: at the end every run is gone or told of, none twice, in memory that does not grow.
"""

import asyncio
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from botocore.session import Session

from fakes import cleaning_process
from fakes.ministack import running
from fakes.run_vendor import RunVendor
from fakes.stored_runs import ended, handle, page, run
from fakes.tables import make_table
from fakes.throttled_table import throttled
from motes.hosts.upkeep import Upkeep
from motes.settings import load_settings

PROGRAM = cleaning_process.__file__
DAY = 24 * 3600
# What was under way when a process was killed may have been done at the vendor, and is asked for again.
AT_ONCE = 16
TABLE = "motes-cleaning"


@dataclass
class World:
    """What there is: runs in a store, their copies at a vendor."""

    environ: dict[str, str]
    vendor: RunVendor
    folder: Path
    parked: frozenset[str] = frozenset()

    def upkeep(self, ahead=0.0):
        return Upkeep(load_settings(self.environ, self.folder), self.environ, lambda: time.time() + ahead)

    @contextmanager
    def cleaning(self, ahead):
        process = subprocess.Popen(
            [sys.executable, PROGRAM, str(ahead)],
            env=os.environ | self.environ,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()


async def fill(world, count, seed):
    """Runs of every kind, all due; one in twenty of them fails at the vendor, one in a hundred for ever."""
    chance, store, now = random.Random(seed), world.upkeep().runs, time.time()
    parked = set()
    kept = []
    for n in range(count):
        id, copy = f"r{n}", f"resp_{n}"
        known = {
            "handle": handle(copy, now),
            "created": now - 1000 + n / 1000,
            "due_at": now - chance.random() * 900,
        }
        kind = chance.choices(("completed", "failed", "journal", "orphan"), (60, 20, 10, 10))[0]
        if kind == "orphan":
            kept.append(run(id, **known, lease_until=now - 1))
        else:
            outcome = "failed" if kind == "failed" else "completed"
            kept.append(ended(id, **known, outcome=outcome, is_resumable=kind == "journal"))
        world.vendor.there.add(copy)
        if n % 100 == 7:
            world.vendor.fails[copy] = (401, 1_000_000)
            parked.add(id)
        elif chance.random() < 0.04:
            world.vendor.fails[copy] = (chance.choice((0, 429, 500, 503)), chance.randint(1, 3))
    world.parked = frozenset(parked)
    waiting = iter(kept)

    async def put_all():
        for one in waiting:
            await store.put(one)
            if one.is_resumable:
                taken = await store.claim(one, worker="w", until=now, now=now)
                for n in (1, 2):
                    await store.append(one.id, page(n, n), worker="w", until=now)
                await store.update(replace(taken, worker=None, lease_until=None), worker="w")

    await asyncio.gather(*[put_all() for _ in range(8)])


@pytest.fixture
def world(request, tmp_path, kind):
    environ = {"MOTES_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "sk-vendor"}
    with RunVendor(set()).serving() as vendor:
        environ["OPENAI_BASE_URL"] = vendor.base_url
        if kind == "sqlite":
            yield World(environ, vendor, tmp_path)
            return
        command = shutil.which("ministack")
        if command is None:
            pytest.skip("needs MiniStack: `uv tool install ministack`, and `ministack` on the PATH")
        with running(command, tmp_path) as address, throttled(address, 0.03, 7) as gate:
            environ |= {
                "MOTES_TABLE": TABLE,
                "AWS_ENDPOINT_URL": gate,
                "AWS_DEFAULT_REGION": "eu-central-1",
                "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
                "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            }
            with pytest.MonkeyPatch.context() as patch:
                for name, value in environ.items():
                    patch.setenv(name, value)
                make_table(Session().create_client("dynamodb", endpoint_url=address), TABLE)
                yield World(environ, vendor, tmp_path)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("sqlite", 500),
        ("ministack", 200),
        pytest.param("sqlite", 10_000, marks=pytest.mark.soak),
        pytest.param("ministack", 10_000, marks=pytest.mark.soak),
    ],
)
def test_every_run_is_gone_or_told_of_and_none_twice(world, kind, count, caplog):
    asyncio.run(fill(world, count, seed=11))
    vendor = world.vendor
    for kill, share in enumerate((0.2, 0.5)):
        with world.cleaning(ahead=kill * 200):
            assert vendor.wait_until_deleted(int(count * share)), len(vendor.deleted)
    began, before = time.monotonic(), len(vendor.deleted)
    with world.cleaning(ahead=400) as process:
        said, _ = process.communicate()
    told = json.loads(said)
    seconds = time.monotonic() - began
    (world.folder / "figures").write_text(f"{told} {len(vendor.deleted) - before} in {seconds:.1f} s")
    assert told["is_done"]
    assert told["peak"] - told["warm"] < 8 * 1024

    caplog.set_level(logging.WARNING, "motes.cleanup")
    for ahead in (*(5000 * n for n in range(1, 10)), *(DAY * n for n in range(2, 12))):
        counts = asyncio.run(world.upkeep(ahead).round(lambda: True)).counts()
        assert counts["is_done"]
        assert counts["failed"] == counts["taken"] == 0
    assert counts == dict.fromkeys(counts, 0) | {"is_done": True}

    runs = asyncio.run(world.upkeep().runs.list(owner=None, limit=count))
    assert {one.id for one in runs} == world.parked
    assert {one.state for one in runs} == {"parked"}
    assert all(f"run_parked run={id} " in caplog.text for id in world.parked)
    assert vendor.there == {f"resp_{id[1:]}" for id in world.parked}
    assert set(vendor.deleted.values()) == {1}
    assert vendor.missed.total() <= 2 * AT_ONCE
    assert set(vendor.missed) <= set(vendor.deleted)
