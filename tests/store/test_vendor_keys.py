"""Vendors' keys in SSM: what lies nearer goes first, a new one is seen in time, an outage is lived through."""

import pytest

from fakes.stores import Clock
from fakes.tables import refusing
from motes.aws import AWS
from motes.credentials import open_vendor_keys
from motes.errors import StoreError
from motes.settings import load_settings

PATH = "/motes/test"


async def put(amazon, name, value, kind="SecureString"):
    await amazon.ssm(lambda client: client.put_parameter(Name=name, Value=value, Type=kind, Overwrite=True))


@pytest.fixture
def asked():
    return []


@pytest.fixture
async def counted(amazon, asked):
    await amazon.ssm(
        lambda client: client.meta.events.register(
            "before-call.ssm", lambda model, **_: asked.append(model.name)
        )
    )
    return amazon


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_keys(tmp_path, amazon, clock):
    def opened(toml="", **environ):
        (tmp_path / "motes.toml").write_text(toml)
        given = {"MOTES_HOME": str(tmp_path), "MOTES_KEY_PATH": PATH, **environ}
        return open_vendor_keys(load_settings(given, tmp_path), given, amazon, clock)

    return opened


async def test_every_key_under_the_path_is_found_by_its_name_and_no_other(amazon, open_keys):
    for n in range(13):
        await put(amazon, f"{PATH}/VENDOR{n}_API_KEY", f" sk-{n}\n")
    await put(amazon, f"{PATH}/deeper/XAI_API_KEY", "sk-deep")
    await put(amazon, "/motes/other/GROQ_API_KEY", "sk-other")
    await put(amazon, f"{PATH}/PLAIN_API_KEY", "sk-plain", "String")
    await put(amazon, f"{PATH}/EMPTY_API_KEY", " ")
    keys = open_keys()
    assert [await keys.all("v", [f"VENDOR{n}_API_KEY"]) for n in range(13)] == [
        (f"sk-{n}",) for n in range(13)
    ]
    assert await keys.all("v", ["PLAIN_API_KEY"]) == ("sk-plain",)
    for absent in ("XAI_API_KEY", "GROQ_API_KEY", "EMPTY_API_KEY", "deeper"):
        assert await keys.all("v", [absent]) == ()


async def test_settings_and_environment_go_first_and_then_nothing_is_asked(counted, asked, open_keys):
    await put(counted, f"{PATH}/GROQ_API_KEY", "sk-ssm")
    asked.clear()
    keys = open_keys('[vendors.xai]\nkey = "sk-toml"\n', GROQ_API_KEY="sk-env")
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ("sk-env",)
    assert await keys.all("xai", ["XAI_API_KEY"]) == ("sk-toml",)
    assert await keys.all("xai", []) == ("sk-toml",)
    assert await keys.all("none", []) == ()
    assert asked == []
    assert await open_keys().all("groq", ["GROQ_API_KEY"]) == ("sk-ssm",)


async def test_they_are_read_once_and_a_new_one_is_seen_in_time(counted, asked, open_keys, clock):
    await put(counted, f"{PATH}/GROQ_API_KEY", "sk-1")
    keys = open_keys(MOTES_VENDOR_KEYS_MAX_AGE_S="120")
    asked.clear()
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ("sk-1",)
    await put(counted, f"{PATH}/GROQ_API_KEY", "sk-2")
    clock.at += 119
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ("sk-1",)
    clock.at += 1
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ("sk-2",)
    assert asked.count("GetParametersByPath") == 2


async def test_renewed_ahead_they_are_never_too_old(counted, asked, open_keys, clock):
    await put(counted, f"{PATH}/GROQ_API_KEY", "sk-1")
    keys = open_keys()
    await keys.all("groq", ["GROQ_API_KEY"])
    asked.clear()
    await keys.renew()
    assert asked == []
    await put(counted, f"{PATH}/GROQ_API_KEY", "sk-2")
    clock.at += 150
    await keys.renew()
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ("sk-2",)


async def test_an_outage_of_ssm_is_lived_through_by_who_knew_the_keys(
    amazon, open_keys, clock, slept, caplog
):
    await put(amazon, f"{PATH}/GROQ_API_KEY", "sk-very-secret")
    keys = open_keys()
    await keys.all("groq", ["GROQ_API_KEY"])
    await amazon.ssm(
        lambda client: client.meta.events.register_first("before-send.ssm", refusing(99, "InternalFailure"))
    )
    clock.at += 301
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ("sk-very-secret",)
    assert "not_renewed what=vendor_keys" in caplog.text
    assert "InternalFailure" in caplog.text
    assert "sk-very-secret" not in caplog.text
    with pytest.raises(StoreError, match="ssm cannot be used now: InternalFailure"):
        await open_keys().all("groq", ["GROQ_API_KEY"])


async def test_without_a_path_nobody_is_asked(tmp_path):
    given = {"MOTES_HOME": str(tmp_path)}
    keys = open_vendor_keys(load_settings(given, tmp_path), given, AWS())
    assert await keys.all("groq", ["GROQ_API_KEY"]) == ()
    await keys.renew()


@pytest.mark.parametrize("path", ["motes", "/motes/", "/mo tes", "/"])
def test_a_path_that_cannot_be_is_a_fault(tmp_path, path):
    from motes.errors import PrepareError

    with pytest.raises(PrepareError, match="MOTES_KEY_PATH"):
        load_settings({"MOTES_HOME": str(tmp_path), "MOTES_KEY_PATH": path}, tmp_path)
