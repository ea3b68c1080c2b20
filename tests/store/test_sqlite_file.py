"""One transaction for many: each piece of work is whole or nothing, and nobody waits for ever."""

import asyncio
import sqlite3
import threading
from contextlib import asynccontextmanager

import pytest

from motes.errors import StoreError
from motes.store.sqlite_file import SqliteFile


@pytest.fixture
def file(tmp_path):
    return SqliteFile(tmp_path / "words.sqlite", make, "words", "NORMAL")


def make(db):
    db.execute("CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY)")


def kept(word):
    def work(db):
        db.execute("INSERT INTO words VALUES (?)", (word,))
        return word

    return work


def words(db):
    return {word for (word,) in db.execute("SELECT word FROM words")}


@asynccontextmanager
async def on_its_way(file):
    """A transaction that does not end before the block does."""
    begun, over = threading.Event(), threading.Event()

    def held(_):
        begun.set()
        assert over.wait(20)

    holding = asyncio.create_task(file.do(held))
    try:
        assert await asyncio.to_thread(begun.wait, 20)
        yield
    finally:
        over.set()
        await holding


async def asked_meanwhile(file, *works):
    """What becomes of these, all of which are asked while a transaction is on its way."""
    async with on_its_way(file):
        asked = [asyncio.create_task(file.do(work)) for work in works]
        await asyncio.sleep(0)
    return await asyncio.gather(*asked, return_exceptions=True)


async def commits_of(file):
    """Notes each transaction from now on."""
    commits = []

    def watched(db):
        db.set_trace_callback(lambda said: commits.append(said) if said == "COMMIT" else None)

    await file.do(watched)
    commits.clear()
    return commits


async def test_what_is_asked_at_once_is_few_transactions(file):
    commits = await commits_of(file)
    asked = [file.do(kept(f"w{n}")) for n in range(50)]
    assert await asyncio.gather(*asked) == [f"w{n}" for n in range(50)]
    assert len(commits) < 5
    assert len(await file.do(words)) == 50


async def test_what_is_asked_while_a_transaction_is_on_its_way_shares_the_next(file):
    commits = await commits_of(file)
    expected = [f"w{n}" for n in range(50)]
    assert await asked_meanwhile(file, *map(kept, expected)) == expected
    assert len(commits) == 2
    assert await file.do(words) == set(expected)


async def test_what_is_alone_waits_for_nobody(file):
    loop = asyncio.get_running_loop()
    await file.do(words)
    started = loop.time()
    for n in range(100):
        await file.do(kept(f"w{n}"))
    assert loop.time() - started < 2


async def test_what_fails_takes_nothing_from_the_others_and_leaves_nothing_behind(file):
    def broken(db):
        db.execute("INSERT INTO words VALUES ('half')")
        db.execute("INSERT INTO words VALUES ('half')")

    one, failure, two = await asked_meanwhile(file, kept("one"), broken, kept("two"))
    assert (one, two) == ("one", "two")
    assert isinstance(failure, StoreError)
    assert "words cannot be kept now: UNIQUE" in failure.message
    assert await file.do(words) == {"one", "two"}


async def test_a_bug_is_told_to_who_waits_and_the_next_is_served(file):
    def bug(db):
        raise ZeroDivisionError

    with pytest.raises(StoreError, match="words cannot be kept now"):
        await file.do(bug)
    assert await file.do(kept("next")) == "next"


async def test_who_asks_while_a_bug_is_being_told_is_served_too(file):
    def bug(db):
        raise ZeroDivisionError

    for n in range(200):
        asked = [asyncio.create_task(file.do(work)) for work in (bug, bug, kept(f"w{n}"))]
        async with asyncio.timeout(5):
            await asyncio.gather(*asked, return_exceptions=True)
            assert await file.do(kept(f"next{n}")) == f"next{n}"


async def test_who_asks_while_the_thread_breaks_off_is_told(file):
    def breaks_off(db):
        raise SystemExit

    with pytest.raises(StoreError, match="words cannot be kept now"):
        await file.do(breaks_off)
    async with asyncio.timeout(5):
        assert await asyncio.gather(*[file.do(words) for _ in range(3)]) == [set()] * 3
        assert await file.do(kept("after")) == "after"


async def test_what_nobody_waits_for_any_more_is_not_begun(file):
    async with on_its_way(file):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await file.do(kept("left"))
    assert await file.do(words) == set()


async def test_a_file_that_another_has_locked_is_waited_for(file):
    await file.do(kept("first"))
    other = sqlite3.connect(file.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(file.do(kept("second")))
    await asyncio.wait({waiting}, timeout=0.1)
    assert not waiting.done()
    other.execute("COMMIT")
    other.close()
    assert await waiting == "second"


def test_loops_in_several_threads_share_a_file(file):
    async def many(name):
        await asyncio.gather(*[file.do(kept(f"{name}{n}")) for n in range(20)])

    async def all_of_them():
        await asyncio.gather(*[asyncio.to_thread(asyncio.run, many(name)) for name in "abc"])
        return await file.do(words)

    assert len(asyncio.run(all_of_them())) == 60
