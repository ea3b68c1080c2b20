"""Keys: hashes only, one file, refused at once when disabled."""

import json
import stat

import pytest
from starlette.datastructures import Headers

from motes.api.auth import admit, authenticate
from motes.callers import KeyRing
from motes.credentials import several, vendor_keys
from motes.errors import PrepareError, Unauthenticated
from motes.settings import load_settings
from motes.store.files import FileKeys
from motes.vendors.catalogue import build_catalogue
from motes.vendors.table import ALIASES, VENDORS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "keys.json"


@pytest.fixture
def ring(path):
    return KeyRing(FileKeys(path))


async def test_a_new_key_opens_and_only_its_hash_is_kept(ring, path):
    key, secret = await ring.new("mine")
    assert (await ring.admit([secret])).key == key
    assert secret not in path.read_text()
    assert len(secret) > 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_another_process_sees_a_new_key_and_a_disabled_one_at_once(ring, path):
    other = KeyRing(FileKeys(path))
    assert await other.list() == []
    key, secret = await ring.new("mine")
    assert (await other.admit([secret])).key == key
    assert await ring.disable(key.id)
    assert await other.admit([secret]) is None
    assert (await other.list())[0].disabled


async def test_a_key_is_disabled_by_id_or_name_and_an_unknown_one_is_told(ring):
    await ring.new("a")
    assert await ring.disable("a")
    assert not await ring.disable("nobody")


@pytest.mark.parametrize("given", ["", "x", "mk-", "\ud83d", "é"])
async def test_anything_else_does_not_open(ring, given):
    await ring.new("mine")
    assert await ring.admit([given]) is None
    assert await ring.admit([]) is None


async def test_a_key_of_the_environment_opens_and_is_not_written(path):
    ring = KeyRing(FileKeys(path), "from-env")
    assert (await ring.admit(["from-env"])).key.id == "environment"
    await ring.new("other")
    assert len(json.loads(path.read_text())["keys"]) == 1


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys":[1]}', '{"keys":[{"id":"a"}]}'])
async def test_a_broken_key_file_is_a_fault_and_opens_to_nobody(tmp_path, content):
    path = tmp_path / "keys.json"
    path.write_text(content)
    with pytest.raises(PrepareError, match="no key file"):
        await KeyRing(FileKeys(path)).admit(["x"])


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
async def test_the_key_may_come_in_any_of_three_headers(path, headers):
    admission = await admit(Headers(headers), KeyRing(FileKeys(path), "good"))
    assert admission.key.id == "environment"


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
async def test_without_the_right_key_nobody_comes_in(path, headers, code):
    with pytest.raises(Unauthenticated) as caught:
        await authenticate(Headers(headers), KeyRing(FileKeys(path), "good"))
    assert caught.value.code == code


async def test_where_there_is_no_key_nothing_opens(path):
    with pytest.raises(Unauthenticated):
        await authenticate(Headers({"x-api-key": "any"}), KeyRing(FileKeys(path)))


def test_a_vendors_key_is_its_settings_or_its_variable(tmp_path):
    (tmp_path / "motes.toml").write_text('[vendors.groq]\nkey = "from-file"\n')
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    environ = {"GROQ_API_KEY": "from-env", "XAI_API_KEY": " from-env\n", "EMPTY": ""}
    assert vendor_keys("groq", ["GROQ_API_KEY"], settings, environ) == ("from-file",)
    assert vendor_keys("xai", ["XAI_API_KEY"], settings, environ) == ("from-env",)
    assert vendor_keys("xai", ["EMPTY"], settings, environ) == ()
    assert vendor_keys("xai", [], settings, environ) == ()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a", ("a",)),
        (" a ,b\n\n c\r\nb ,", ("a", "b", "c")),
        ("\n", ()),
        ('{"type": "service_account", "id": "x"}', ('{"type": "service_account", "id": "x"}',)),
    ],
)
def test_one_text_may_hold_several_keys_and_json_is_one(text, keys):
    assert several(text) == keys


def test_the_keys_of_a_vendor_are_those_of_the_file_else_of_all_its_variables(tmp_path):
    (tmp_path / "motes.toml").write_text(
        '[vendors.groq]\nkey = ["a", "b,c"]\n[vendors.xai]\nkey_env = ["ONE", "TWO"]\n'
    )
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    row = build_catalogue(VENDORS, ALIASES, settings).vendors["xai"]
    environ = {"GROQ_API_KEY": "not-this", "ONE": "d", "TWO": "e,d", "XAI_API_KEY": "not-this"}
    assert vendor_keys("groq", ["GROQ_API_KEY"], settings, environ) == ("a", "b", "c")
    assert row.key_names == ("ONE", "TWO")
    assert vendor_keys("xai", row.key_names, settings, environ) == ("d", "e")
    assert "b,c" not in repr(settings)
