"""`motes runs`: a table a person can read, one run, what it says, and its end; over HTTP and in the store."""

import json
import re

import pytest

from fakes.serving import KEY, client, serving
from fakes.stored_vendor import Script, StoredVendor
from motes.cli import main

ASK = {"model": "openai/m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
SLOW = Script(words=tuple(f"word{n} " for n in range(400)), pace=0.05)


@pytest.fixture(scope="module")
def stand(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with StoredVendor() as vendor, serving(home, vendor.toml("commit_after_s = 0.2\n")) as url:
        yield home, url, vendor


@pytest.fixture(params=["over-http", "in-the-store"])
def command(request, stand, monkeypatch, capsys, tmp_path):
    """Runs the command; gives its status, output and words."""
    home, url, vendor = stand
    vendor.script = Script()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOTES_HOME", str(home))
    monkeypatch.setenv("MOTES_API_KEY", KEY)
    monkeypatch.delenv("MOTES_BASE_URL", raising=False)

    def run(*words):
        status = main(["runs", *(["--url", url] if request.param == "over-http" else []), *words])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def made(stand, **motes):
    with client(stand[1]) as caller:
        response = caller.post("/particles", json=ASK | {"motes": {"background": True, **motes}})
        id = response.headers["x-motes-run-id"]
        # Who asks the gateway for a run that is just over waits until the store has it so.
        assert caller.get(f"/runs/{id}").json()["outcome"] == "completed"
        return id


def left(stand):
    """A run that goes on when its reader has left."""
    stand[2].script = SLOW
    request = ASK | {"motes": {"background": True}}
    with client(stand[1]) as caller, caller.stream("POST", "/particles", json=request) as response:
        for chunk in response.iter_raw():
            if b"word1 " in chunk:
                return response.headers["x-motes-run-id"]
    raise AssertionError("it never began")


def test_the_table_has_a_line_a_run(command, stand):
    id = made(stand)
    status, out, _ = command("list")
    assert status == 0
    head, *rows = out.splitlines()
    assert head.split()[:3] == ["run", "state", "model"]
    (row,) = [row for row in rows if row.startswith(id)]
    assert "openai/m" in row
    assert row.endswith("yes")


def test_one_run_is_shown_with_how_to_join_it(command, stand):
    id = made(stand)
    status, out, _ = command("show", id)
    assert status == 0
    assert f"/v1/runs/{id}/particles?after=" in out
    status, out, _ = command("--json", "show", id)
    assert json.loads(out)["id"] == id
    assert json.loads(command("show", "--json", id)[1])["id"] == id


def test_a_person_is_told_dates_and_yes_or_no(command, stand):
    _, out, _ = command("show", made(stand))
    told = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert re.fullmatch(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["created_at"])
    assert told["cancelled"] == "no"


def test_what_a_run_says_goes_to_the_output(command, stand):
    id = made(stand)
    status, out, _ = command("follow", id)
    assert (status, out.strip()) == (0, Script().text)
    status, out, _ = command("--json", "follow", id)
    assert json.loads(out.splitlines()[-1])["cg"] == "end"


def test_a_run_is_stopped_and_its_end_is_told(command, stand):
    id = left(stand)
    assert command("cancel", id)[0] == 0
    status, out, err = command("follow", id)
    assert status == 1
    assert out.startswith("word0 word1 ")
    assert "cancelled" in err


def test_a_run_that_was_over_is_not_called_cancelled(command, stand):
    id = made(stand)
    status, out, _ = command("--json", "cancel", id)
    told = json.loads(out)
    assert (status, told["cancelled"], told["outcome"]) == (0, False, "completed")
    assert not json.loads(command("--json", "show", id)[1])["cancelled"]


def test_a_run_is_deleted(command, stand):
    id = made(stand)
    assert command("delete", id)[0] == 0
    status, _, err = command("show", id)
    assert status == 1
    assert id in err


def test_a_run_that_is_not_there_is_an_error(command):
    status, _, err = command("cancel", "f" * 24)
    assert status == 1
    assert "there is no run" in err
