"""`motes keys`: make, list and disable, without ever showing a key twice."""

import asyncio

import pytest
from moto import mock_aws

from fakes.tables import TABLE, make_table
from motes.aws import AWS
from motes.callers import hash_of
from motes.cli import main
from motes.store.files import FileKeys


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MOTES_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MOTES_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def stored(home, secret):
    """The record of a key that was shown."""
    return next(key for key in FileKeys(home / "keys.json").now() if key.hash == hash_of(secret))


def run(capfd, *args):
    status = main(["keys", *args])
    said = capfd.readouterr()
    return status, said.out, said.err


def test_a_new_key_is_the_only_thing_on_standard_output(home, capfd):
    status, out, err = run(capfd, "new", "--name", "mine")
    assert status == 0
    assert stored(home, out.strip()).name == "mine"
    assert out.strip() not in err


def test_keys_are_listed_without_their_secrets_and_disabled_by_id(home, capfd):
    secret = run(capfd, "new", "--name", "mine")[1].strip()
    _, out, _ = run(capfd, "list")
    id, state, _, name = out.strip().split("\t")
    assert (state, name) == ("enabled", "mine")
    assert secret not in out
    assert run(capfd, "disable", id)[0] == 0
    assert "disabled" in run(capfd, "list")[1]
    assert stored(home, secret).disabled


def test_a_key_is_named_and_told_what_its_answers_are_like(home, capfd):
    chosen = ("--set", "reasoning_field=reasoning", "--set", "keepalive=empty-delta")
    status, out, _ = run(capfd, "new", "mine", *chosen)
    assert status == 0
    key = stored(home, out.strip())
    assert (key.name, dict(key.choices)) == (
        "mine",
        {"reasoning_field": "reasoning", "keepalive": "empty-delta"},
    )
    listed = run(capfd, "list")[1].strip().split("\t")
    assert listed[3:] == ["mine", "reasoning_field=reasoning", "keepalive=empty-delta"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("reasoning_feild=none", "did you mean 'reasoning_field'?"),
        ("reasoning_field=loud", "must be one of reasoning_content, reasoning, both, none, think-tags"),
        ("reasoning_field", "write CHOICE=WORD"),
    ],
)
def test_a_choice_that_is_none_makes_no_key(home, capfd, given, told):
    status, out, err = run(capfd, "new", "--set", given)
    assert (status, out) == (1, "")
    assert told in err
    assert not (home / "keys.json").exists()


def test_a_key_that_is_not_there_cannot_be_disabled(home, capfd):
    status, _, err = run(capfd, "disable", "nobody")
    assert status == 1
    assert "motes keys list" in err


def test_no_keys_at_all_is_said_beside_an_empty_list(home, capfd):
    status, out, err = run(capfd, "list")
    assert (status, out) == (0, "")
    assert "there are no keys" in err


def test_the_environments_key_cannot_be_disabled_and_it_says_why(home, capfd, monkeypatch):
    monkeypatch.setenv("MOTES_API_KEY", "mine")
    status, _, err = run(capfd, "disable", "environment")
    assert status == 1
    assert "as long as MOTES_API_KEY is set" in err


@pytest.mark.parametrize("action", [["list"], ["new"], ["disable", "x"]])
def test_a_home_that_is_a_file_is_named(home, capfd, action):
    home.touch()
    status, _, err = run(capfd, *action)
    assert (status, err) == (1, f"motes: error: {home}/keys.json: cannot be read: Not a directory\n")


def test_a_home_of_nobody_is_named(home, capfd, monkeypatch):
    monkeypatch.setenv("MOTES_HOME", "~nobody-of-that-name/x")
    status, _, err = run(capfd, "list")
    assert (status, err) == (
        1,
        "motes: error: environment variable MOTES_HOME: there is no user of that name\n",
    )


def test_settings_that_are_wrong_are_named(home, capfd):
    (home.parent / "motes.toml").write_text("heartbeat = 3\n")
    status, _, err = run(capfd, "list")
    assert status == 1
    assert "did you mean 'heartbeat_s'?" in err


def test_the_keys_of_a_table_are_made_listed_and_disabled_alike(home, capfd, monkeypatch):
    monkeypatch.setenv("MOTES_TABLE", TABLE)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        status, _, err = run(capfd, "list")
        assert status == 1
        assert "dynamodb cannot be used now: ResourceNotFoundException" in err
        asyncio.run(AWS().dynamodb(make_table))
        secret = run(capfd, "new", "--name", "mine")[1].strip()
        assert run(capfd, "disable", "mine")[0] == 0
        _, out, _ = run(capfd, "list")
    assert out.strip().split("\t")[1::2] == ["disabled", "mine"]
    assert secret not in out
    assert not home.exists()
