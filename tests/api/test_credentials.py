"""Keys: hashes only, one file, refused at once when disabled."""

import json
import stat

import pytest
from starlette.datastructures import Headers

from motes.api.auth import authenticate
from motes.credentials import KeyRing, vendor_key
from motes.errors import PrepareError, Unauthenticated
from motes.settings import load_settings


@pytest.fixture
def ring(tmp_path):
    return KeyRing(tmp_path / "home" / "keys.json")


def test_a_new_key_opens_and_only_its_hash_is_kept(ring):
    key, secret = ring.new("mine")
    assert ring.find([secret]) == key
    assert secret not in ring.path.read_text()
    assert len(secret) > 40
    assert stat.S_IMODE(ring.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ring.path.parent.stat().st_mode) == 0o700


def test_another_process_sees_a_new_key_and_a_disabled_one_at_once(ring):
    other = KeyRing(ring.path)
    assert other.keys == ()
    key, secret = ring.new("mine")
    assert other.find([secret]) == key
    assert ring.disable(key.id)
    assert other.find([secret]) is None
    assert other.keys[0].disabled


def test_a_key_is_disabled_by_id_or_name_and_an_unknown_one_is_told(ring):
    ring.new("a")
    assert ring.disable("a")
    assert not ring.disable("nobody")


@pytest.mark.parametrize("given", ["", "x", "mk-", "\ud83d", "é"])
def test_anything_else_does_not_open(ring, given):
    ring.new("mine")
    assert ring.find([given]) is None
    assert ring.find([]) is None


def test_a_key_of_the_environment_opens_and_is_not_written(tmp_path):
    ring = KeyRing(tmp_path / "keys.json", "from-env")
    assert ring.find(["from-env"]).id == "environment"
    ring.new("other")
    assert len(json.loads(ring.path.read_text())["keys"]) == 1


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys":[1]}', '{"keys":[{"id":"a"}]}'])
def test_a_broken_key_file_is_a_fault_and_opens_to_nobody(tmp_path, content):
    path = tmp_path / "keys.json"
    path.write_text(content)
    with pytest.raises(PrepareError, match="no key file"):
        KeyRing(path).find(["x"])


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer good"},
        {"authorization": "bearer  good "},
        {"x-api-key": "good"},
        {"api-key": "good"},
        {"authorization": "Bearer other", "x-api-key": "good"},
    ],
)
def test_the_key_may_come_in_any_of_three_headers(tmp_path, headers):
    assert authenticate(Headers(headers), KeyRing(tmp_path / "k", "good")).id == "environment"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "missing_api_key"),
        ({"authorization": "Basic Z29vZA=="}, "missing_api_key"),
        ({"authorization": "Bearer "}, "missing_api_key"),
        ({"authorization": "Bearer bad"}, "invalid_api_key"),
        ({"x-api-key": "goo"}, "invalid_api_key"),
    ],
)
def test_without_the_right_key_nobody_comes_in(tmp_path, headers, code):
    with pytest.raises(Unauthenticated) as caught:
        authenticate(Headers(headers), KeyRing(tmp_path / "k", "good"))
    assert caught.value.code == code


def test_where_there_is_no_key_nothing_opens(tmp_path):
    with pytest.raises(Unauthenticated):
        authenticate(Headers({"x-api-key": "any"}), KeyRing(tmp_path / "k"))


def test_a_vendors_key_is_its_settings_or_its_variable(tmp_path):
    (tmp_path / "motes.toml").write_text('[vendors.groq]\nkey = "from-file"\n')
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    environ = {"GROQ_API_KEY": "from-env", "XAI_API_KEY": " from-env\n", "EMPTY": ""}
    assert vendor_key("groq", "GROQ_API_KEY", settings, environ) == "from-file"
    assert vendor_key("xai", "XAI_API_KEY", settings, environ) == "from-env"
    assert vendor_key("xai", "EMPTY", settings, environ) is None
    assert vendor_key("xai", None, settings, environ) is None
