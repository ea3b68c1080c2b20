"""The usage row of a run that lives on at its vendor: cut, stopped or taken up again, it has one row, and where the
vendor can tell what was used, it is asked."""

import asyncio
import time

import pytest

from fakes.serving import client, serving
from fakes.stored_vendor import Script, StoredVendor
from motes.store.sqlite_usage import FILE_NAME, SqliteUsage

ASK = {"messages": [{"role": "user", "content": "Hi"}], "stream": True, "motes": {"background": True}}
MODELS = {"openai": "openai/m", "gemini": "gemini/gemini-3-flash-preview"}
COUNTED = (11, 7, "measured")


@pytest.fixture
def vendor():
    with StoredVendor() as running:
        yield running


@pytest.fixture
def caller(tmp_path, vendor):
    with serving(tmp_path, vendor.toml("heartbeat_s = 1.0\n")) as url, client(url) as asking:
        yield asking


def rows_of(home, is_there):
    """The rows, once they are as they should be, or after a while as they are."""
    store, until = SqliteUsage(home / FILE_NAME, 400), time.monotonic() + 10

    async def read():
        return [row async for rows in store.between(0, time.time() + 60) for row in rows]

    while not is_there(rows := asyncio.run(read())) and time.monotonic() < until:
        time.sleep(0.05)
    return rows


def counts(row):
    return row.tokens_in, row.tokens_out, row.source


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_run_whose_line_breaks_is_counted_by_what_its_vendor_tells_later(caller, vendor, tmp_path, model):
    vendor.cuts_after = 300
    caller.post("/particles", json=ASK | {"model": model})
    (row,) = rows_of(tmp_path, lambda rows: rows and rows[0].source == "measured")
    assert counts(row) == COUNTED
    assert row.finish == "stop"


def test_a_run_that_is_stopped_is_asked_once_what_it_used(caller, vendor, tmp_path):
    vendor.script = Script(words=tuple(f"word{n} " for n in range(4000)), pace=0.02)
    with caller.stream("POST", "/particles", json=ASK | {"model": MODELS["gemini"]}) as response:
        run, got = response.headers["x-motes-run-id"], b""
        for piece in response.iter_raw():
            got += piece
            if b"word2 " in got and b"cancelled" not in got:
                caller.post(f"/runs/{run}/cancel")
                break
    vendor.wait_for(lambda: vendor.only().state == "cancelled")
    (row,) = rows_of(tmp_path, lambda rows: rows and rows[0].source == "measured")
    assert (row.run, row.finish) == (run, "cancelled")
    assert counts(row) == COUNTED
