"""What the operator sets: read once, and every fault named with its place and its cure."""

from pathlib import Path

import pytest

from motes.errors import PrepareError
from motes.settings import Settings, load_settings

README = (Path(__file__).parents[2] / "README.md").read_text()
NOT_SET = {"home", "source", "base_urls"}


def settings_of(tmp_path, toml="", **environ):
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    if toml:
        (tmp_path / "motes.toml").write_text(toml)
    return load_settings({"MOTES_HOME": str(home), **environ}, tmp_path)


def faults_of(tmp_path, toml="", **environ):
    with pytest.raises(PrepareError) as caught:
        settings_of(tmp_path, toml, **environ)
    assert caught.value.code == "bad_setting"
    return caught.value.message


def test_without_a_word_the_defaults_hold(tmp_path):
    settings = settings_of(tmp_path)
    assert settings.heartbeat_s == 10
    assert settings.commit_after_s == 8
    assert settings.max_body_bytes == 10 * 1024 * 1024
    assert settings.max_event_bytes == 64 * 1024 * 1024
    assert settings.deadline_s is None
    assert settings.reasoning_field == "reasoning_content"
    assert settings.source is None


def test_the_environment_goes_before_the_file(tmp_path):
    toml = 'heartbeat_s = 3\ndefault_model = "a/b"\n'
    settings = settings_of(tmp_path, toml, MOTES_HEARTBEAT_S="1.5")
    assert (settings.heartbeat_s, settings.default_model) == (1.5, "a/b")


def test_an_empty_variable_says_nothing(tmp_path):
    assert settings_of(tmp_path, "heartbeat_s = 3\n", MOTES_HEARTBEAT_S="").heartbeat_s == 3


def test_the_file_is_the_named_one_or_the_directorys_or_the_homes(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "motes.toml").write_text("heartbeat_s = 1\n")
    named = tmp_path / "other.toml"
    named.write_text("heartbeat_s = 3\n")
    assert settings_of(tmp_path).heartbeat_s == 1
    assert settings_of(tmp_path, "heartbeat_s = 2\n").heartbeat_s == 2
    assert settings_of(tmp_path, MOTES_CONFIG=str(named)).heartbeat_s == 3


def test_a_named_file_that_is_not_there_is_a_fault(tmp_path):
    assert "MOTES_CONFIG: there is no file" in faults_of(tmp_path, MOTES_CONFIG=str(tmp_path / "no.toml"))


@pytest.mark.parametrize("name", sorted(set(Settings.model_fields) - NOT_SET))
def test_every_setting_stands_in_the_readme(name):
    assert f"`{name}`" in README or f"`[{name}" in README


def test_state_lies_in_the_data_directory_unless_told_otherwise(tmp_path):
    assert load_settings({"XDG_DATA_HOME": str(tmp_path)}, tmp_path).home == tmp_path / "motes"
    assert load_settings({}, tmp_path).home.parts[-3:] == (".local", "share", "motes")


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("heartbeat = 3", "heartbeat: no such setting; did you mean 'heartbeat_s'?"),
        ("heartbeat_s = 'often'", "heartbeat_s: must be a number"),
        ("heartbeat_s = 0", "heartbeat_s: must be more than 0"),
        ("margin = 'much'", "margin: must be a number"),
        ("home = '/x'", "home: no such setting"),
        (
            "[vendors.x]\nbase_urll = 'http://x'",
            "vendors.x.base_urll: no such setting; did you mean 'base_url'?",
        ),
        ("[vendors.x.timeouts]\nidel = 3", "vendors.x.timeouts.idel: no such setting; did you mean 'idle'?"),
        ("reasoning_field = 'thoughts'", "reasoning_field: must be 'reasoning_content', "),
        ("vendors = 3", "vendors: must be a table"),
        ("[[[", "is not valid TOML"),
    ],
)
def test_a_fault_names_file_place_and_cure(tmp_path, toml, told):
    message = faults_of(tmp_path, toml)
    assert str(tmp_path / "motes.toml") in message
    assert told in message


def test_all_faults_are_told_at_once_one_a_line(tmp_path):
    message = faults_of(tmp_path, "heartbeet_s = 1\ncommit_after_s = -1\n", MOTES_DEADLINE_S="soon")
    assert len(message.splitlines()) == 3
    assert "environment variable MOTES_DEADLINE_S: " in message


def test_a_file_that_is_no_text_is_a_fault(tmp_path):
    (tmp_path / "motes.toml").write_bytes(b"\xff\xfe")
    assert "is not valid TOML" in faults_of(tmp_path)


def test_no_key_is_ever_shown(tmp_path):
    secret = "sk-very-secret"
    settings = settings_of(tmp_path, f'[vendors.x]\nkey = "{secret}"\n')
    assert secret not in repr(settings)
    assert secret not in repr(settings_of(tmp_path, f'[vendors.x]\nkey = ["{secret}"]\n'))
    assert secret not in faults_of(tmp_path, f'[vendors.x]\nkey = {{ a = "{secret}" }}\n')
    (tmp_path / "motes.toml").unlink()
    assert secret not in repr(settings_of(tmp_path, X_BASE_URL=f"http://user:{secret}@host/"))
