"""`motes check`: what is wrong, where, and how to mend it; and a probe over a real socket."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from motes.cli import main
from motes.cli.inspection import inspect
from motes.demo.server import DemoServer

SECRET = "sk-this-must-never-be-shown"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"MOTES_HOME": str(tmp_path / "home")}


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "motes.toml").write_text(text)
    return tmp_path


def test_nothing_set_is_nothing_wrong(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ, tmp_path)
    assert (found.faults, found.doubts) == ([], [])
    assert "vendor openai: no key (set OPENAI_API_KEY)" in found.facts
    assert "vendor ollama: ready, without a key" in found.facts
    assert any(fact.startswith("callers' keys: 0") for fact in found.facts)


def test_what_lies_at_amazon_is_named_and_not_asked_for(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ | {"MOTES_TABLE": "motes", "MOTES_KEY_PATH": "/motes"}, tmp_path)
    assert "callers' keys: in the table motes" in found.facts
    assert any("SSM has /motes/OPENAI_API_KEY" in fact for fact in found.facts)


def test_a_key_is_found_and_not_shown(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ | {"OPENAI_API_KEY": SECRET}, tmp_path)
    assert "vendor openai: ready" in found.facts
    assert SECRET not in str(found)


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("heartbeat_s = 0", "heartbeat_s"),
        ("hartbeat_s = 3", "did you mean 'heartbeat_s'"),
        ("heartbeat_s = ", "TOML"),
        ('default_model = "gpt"', "default_model"),
        ('[aliases]\nfast = "nobody/x"', "aliases.fast"),
        ('[vendors.mine]\ndialect = "openai-chat"', "base_url"),
        ('[vendors.mine]\ndialect = "smoke"\nbase_url = "http://a"', "smoke"),
        ("[vendors.openai.quirks]\nthink_tagz = true", "think_tagz"),
    ],
)
def test_a_fault_is_named_with_its_place(
    tmp_path: Path, environ: dict[str, str], toml: str, told: str
) -> None:
    found = inspect(environ, written(tmp_path, toml))
    assert found.faults
    assert told in "\n".join(found.faults)


def test_a_base_url_that_is_no_address_is_a_fault(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ | {"OPENAI_BASE_URL": "api.openai.com"}, tmp_path)
    assert found.faults == ["OPENAI_BASE_URL: must be an address that begins with http:// or https://"]


def test_a_key_over_plain_http_to_another_machine_is_doubted(tmp_path: Path, environ: dict[str, str]) -> None:
    key = {"OPENAI_API_KEY": SECRET}
    away = inspect(environ | key | {"OPENAI_BASE_URL": "http://10.0.0.9/v1"}, tmp_path)
    here = inspect(environ | key | {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, tmp_path)
    assert ["unencrypted" in doubt for doubt in away.doubts] == [True]
    assert here.doubts == []


def test_a_misspelt_variable_is_doubted(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ | {"MOTES_HEARTBEATS": "3", "MOTES_SHARED": "/x"}, tmp_path)
    assert [doubt for doubt in found.doubts if "MOTES_HEARTBEATS" in doubt] == found.doubts != []


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MOTES_CONFIG", "MOTES_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MOTES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_exit_0_if_nothing_is_wrong_and_1_if_anything_is(here: Path, capfd: Any) -> None:
    assert main(["check"]) == 0
    assert "nothing is wrong" in capfd.readouterr().out
    written(here, "heartbeat_s = -1")
    assert main(["check"]) == 1
    out = capfd.readouterr().out
    assert "wrong: " in out
    assert "heartbeat_s" in out


@pytest.fixture
def demo_port() -> Iterator[int]:
    """A demo vendor in a thread of its own."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    server = DemoServer(pace=0)
    stop = asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait(5)
    yield server.port
    loop.call_soon_threadsafe(stop.set)
    thread.join(5)
    loop.close()


def vendor_at(port: int) -> str:
    return f'[vendors.try]\ndialect = "openai-chat"\nbase_url = "http://127.0.0.1:{port}/v1"\nauth = "none"\n'


def test_a_probe_reports_status_first_byte_and_usage(here: Path, demo_port: int, capfd: Any) -> None:
    written(here, vendor_at(demo_port))
    assert main(["check", "--probe", "try/echo"]) == 0
    out = capfd.readouterr().out
    assert "status: 200" in out
    assert "time to first byte: " in out
    assert "usage seen: prompt " in out


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("try/nobody", "status: 404"),
        ("try/flaky", "rate_limit"),
        ("try/cut", "stream_truncated"),
        ("nobody/x", "no vendor"),
        ("openai/x", "OPENAI_API_KEY"),
    ],
)
def test_a_probe_that_fails_says_why_and_exits_1(
    here: Path, demo_port: int, capfd: Any, model: str, told: str
) -> None:
    written(here, vendor_at(demo_port))
    assert main(["check", "--probe", model]) == 1
    assert told in capfd.readouterr().out


def test_a_probe_without_an_answer_says_so(here: Path, capfd: Any) -> None:
    written(here, vendor_at(1))
    assert main(["check", "--probe", "try/echo"]) == 1
    out = capfd.readouterr().out
    assert "status: no answer" in out
    assert "refused" in out
