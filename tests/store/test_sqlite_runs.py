"""The file of runs: who may read it, several processes at once, and one that is killed."""

import asyncio
import json
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import store_process
from fakes.stored_runs import NOW, OWNER, ended, page, run
from motes.errors import StoreError
from motes.store import sqlite_file
from motes.store.sqlite import VERSION, SqliteRuns

TESTS = Path(__file__).parents[1]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "home" / "motes.sqlite"


def started(file, name, what):
    return subprocess.Popen(
        [sys.executable, store_process.__file__, str(file), name, what],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_nobody_else_may_read_it(file):
    umask = os.umask(0)
    try:
        store = SqliteRuns(file)
        await store.put(run())
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    finally:
        os.umask(umask)
    assert set(modes.values()) == {0o600}
    assert len(modes) == 3
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_a_restart_finds_everything(file):
    first = SqliteRuns(file)
    await first.put(run(is_resumable=True))
    await first.append("r1", page(1, 4), worker="w1", until=NOW + 60)
    del first
    again = SqliteRuns(file)
    assert await again.get("r1", owner=OWNER) == run(is_resumable=True, last_seq=4)
    assert list(await again.pages("r1", after=0, limit=9)) == [page(1, 4)]


def test_processes_that_begin_at_once_share_one_file_and_one_of_them_takes_each_run(file):
    """The file is not there yet for some of them: all of them want to make it."""
    names = [f"p{n}" for n in range(6)]
    running = [started(file, name, "claims") for name in names[:3]]
    store = SqliteRuns(file)
    for id in store_process.SHARED:
        asyncio.run(store.put(run(id)))
    running += [started(file, name, "claims") for name in names[3:]]
    said = [process.communicate(timeout=60)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * 6
    taken = [id for ids in said for id in ids]
    assert len(taken) == len(set(taken))
    for name, ids in zip(names, said, strict=True):
        assert asyncio.run(store.get(name, owner=OWNER)) == run(name)
        for id in ids:
            assert asyncio.run(store.get(id, owner=OWNER)).worker == name


def test_a_process_that_is_killed_leaves_whole_pages_and_holds_nobody_up(file):
    with started(file, "r1", "journal") as process:
        told = [process.stdout.readline() for _ in range(40)]
        process.kill()
        told += process.stdout.readlines()
    assert {line.split()[1] for line in told} == {"False"}
    store = SqliteRuns(file)
    there = asyncio.run(store.get("r1", owner=OWNER))
    pages = asyncio.run(store.pages("r1", after=0, limit=100_000))
    assert [one.first for one in pages] == list(range(1, there.last_seq + 1))
    # What was told to be stored is; the last one may not have been told any more.
    assert there.last_seq - len(told) in (0, 1)
    taken = asyncio.run(store.claim(there, worker="w2", until=NOW + 200, now=NOW + 60))
    following = page(there.last_seq + 1, there.last_seq + 1)
    assert not asyncio.run(store.append("r1", following, worker=taken.worker, until=NOW + 200)).is_lost


async def test_a_file_of_a_newer_version_is_not_touched(file):
    await SqliteRuns(file).put(run())
    with sqlite3.connect(file) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="newer version"):
        await SqliteRuns(file).get("r1", owner=None)


async def test_a_record_with_a_field_that_is_no_more_is_read(file):
    store = SqliteRuns(file)
    await store.put(run())
    with sqlite3.connect(file) as db:
        ((raw,),) = db.execute("SELECT fields FROM runs").fetchall()
        fields = json.loads(raw)
        fields["reply"]["prompt_bytes"] = 2
        db.execute("UPDATE runs SET fields = ?", (json.dumps(fields),))
    db.close()
    assert await store.get("r1", owner=OWNER) == run()


async def test_what_is_no_such_file_is_told_by_its_name(file, tmp_path):
    file.parent.mkdir()
    file.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match=r"motes\.sqlite.*not a database"):
        await SqliteRuns(file).put(run())
    with pytest.raises(StoreError, match="cannot be written"):
        await SqliteRuns(tmp_path / "home" / "motes.sqlite" / "x").put(run())


async def test_a_store_that_could_not_be_opened_is_opened_once_it_can_be(file):
    file.parent.mkdir()
    file.mkdir()
    store = SqliteRuns(file)
    with pytest.raises(StoreError):
        await store.put(run())
    file.rmdir()
    assert await store.put(run())


async def test_more_runs_than_one_statement_takes_are_all_kept(file):
    store = SqliteRuns(file)
    assert await store.put_all([ended(f"r{n}") for n in range(1200)]) == {}
    assert await store.get("r0", owner=None) == ended("r0")
    assert await store.get("r1199", owner=None) == ended("r1199")


async def test_runs_that_cannot_be_kept_are_told_one_by_one(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "motes.sqlite").write_text(
        "this is none of ours, and it is longer than a header" * 9
    )
    failures = await SqliteRuns(tmp_path / "home" / "motes.sqlite").put_all([ended("r1"), ended("r2")])
    assert set(failures) == {"r1", "r2"}
    assert "runs cannot be kept now" in failures["r2"].message


async def test_what_nobody_will_clean_up_is_forgotten_after_two_weeks(file):
    now = [NOW]
    store = SqliteRuns(file, lambda: now[0])
    await store.put(ended("never", due_at=None))
    await store.put(ended("due", due_at=NOW))
    now[0] += 13 * 24 * 3600
    await store.due(now[0], 9)
    assert await store.get("never", owner=None) is not None
    now[0] += 2 * 24 * 3600
    await store.due(now[0], 9)
    assert await store.get("never", owner=None) is None
    assert await store.get("due", owner=None) is not None


@pytest.mark.parametrize("raw", [b"no json", b"[]", b"null", b"\xff\xfe", b'{"reply": 3}', b"{}"])
async def test_a_row_that_holds_no_run_is_a_fault_of_the_store_whatever_it_holds(file, raw):
    store = SqliteRuns(file)
    await store.put(run(is_resumable=True))
    with sqlite3.connect(file) as db:
        db.execute("UPDATE runs SET fields = ?", (raw,))
    db.close()
    assert list(await store.list(owner=None, limit=9)) == []
    for asked in (
        store.get("r1", owner=None),
        store.append("r1", page(1, 1), worker="w1", until=NOW),
        store.cancel("r1", owner=None),
    ):
        with pytest.raises(StoreError, match="cannot be read"):
            await asked


async def test_a_file_that_is_locked_holds_no_resolving_of_names_up(file, monkeypatch):
    monkeypatch.setattr(sqlite_file, "_BUSY_SECONDS", 0.5)
    store = SqliteRuns(file)
    await store.put(run())
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    asked = [asyncio.create_task(store.get("r1", owner=None)) for _ in range(50)]
    await asyncio.sleep(0)
    try:
        await asyncio.wait_for(asyncio.get_running_loop().getaddrinfo("localhost", 80), 0.4)
    finally:
        for task in asked[1:]:
            task.cancel()
        db.close()
    assert await asked[0] == run()
    # What nobody waited for was not done either, so that the next one has its turn at once.
    assert await asyncio.wait_for(store.get("r1", owner=None), 0.4) == run()


async def test_a_run_that_cannot_be_read_hides_none_of_the_others(file, caplog):
    store = SqliteRuns(file)
    for id in ("broken", "r1"):
        await store.put(ended(id, due_at=NOW, is_resumable=True))
    with sqlite3.connect(file) as db:
        db.execute("UPDATE runs SET fields = '{\"id\": \"broken\"}' WHERE id = 'broken'")
    db.close()
    assert [one.id for one in await store.due(NOW, 9)] == ["r1"]
    assert [one.id for one in await store.list(owner=None, limit=9)] == ["r1"]
    assert "run_unreadable run='broken'" in caplog.text
    with pytest.raises(StoreError, match="cannot be read"):
        await store.get("broken", owner=None)
