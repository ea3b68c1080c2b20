"""`motes cleanup`: what it does, what it only says, and how it ends."""

import asyncio

import pytest

from fakes.run_vendor import RunVendor
from fakes.stored_runs import ended, handle
from motes.cli import main
from motes.store.sqlite import SqliteRuns


@pytest.fixture
def vendor():
    with RunVendor({"resp_1"}).serving() as made:
        yield made


@pytest.fixture
def runs(tmp_path, monkeypatch, vendor):
    monkeypatch.setenv("MOTES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-vendor")
    monkeypatch.setenv("OPENAI_BASE_URL", vendor.base_url)
    monkeypatch.chdir(tmp_path)
    return SqliteRuns(tmp_path / "home" / "motes.sqlite")


@pytest.fixture
def cleanup(capfd, monkeypatch):
    monkeypatch.setattr("logging.root.handlers", [])

    def run(*args):
        status = main(["cleanup", *args])
        said = capfd.readouterr()
        return status, said.out, said.err

    return run


def test_without_a_run_there_is_nothing_to_do(runs, cleanup):
    assert cleanup()[:2] == (0, "nothing was due\n")
    status, out, err = cleanup("--dry-run")
    assert (status, out, err) == (0, "", "motes: nothing is due\n")


def test_a_dry_run_says_what_a_round_then_does(runs, cleanup, vendor):
    asyncio.run(runs.put(ended(due_at=1.0, handle=handle("resp_1"))))
    status, out, _ = cleanup("--dry-run")
    assert status == 0
    id, model, state, late, done = out.strip().split("\t")
    assert (id, model, state) == ("r1", "openai/gpt-5.6-terra", "finished")
    assert late.startswith("due for ")
    assert done == "delete resp_1 at the vendor, remove the record"
    assert vendor.there == {"resp_1"}
    assert cleanup()[:2] == (0, "1 deleted\n")
    assert not vendor.there


def test_what_is_given_up_on_is_an_exit_status_and_is_tried_again_when_asked(runs, cleanup, vendor):
    vendor.fails["resp_1"] = (401, 1)
    asyncio.run(runs.put(ended(due_at=1.0, handle=handle("resp_1"), tries=7)))
    status, out, err = cleanup()
    assert (status, out) == (1, "1 parked\n")
    assert "run_parked run=r1" in err
    assert "sk-vendor" not in err
    status, out, err = cleanup("--retry-parked")
    assert (status, out) == (0, "1 deleted\n")
    assert "1 runs that were given up on" in err
    assert not vendor.there


def test_a_store_that_cannot_be_used_is_told(tmp_path, runs, cleanup):
    (tmp_path / "home").write_text("no folder")
    status, _, err = cleanup()
    assert status == 1
    assert "motes.sqlite" in err
