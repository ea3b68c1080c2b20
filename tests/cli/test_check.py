"""`motes check`: what is wrong, where, and how to mend it; and a probe over a real socket."""

import asyncio
import socket
import threading
import time
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
    assert "openai (OPENAI_API_KEY), " in found.facts[-1]
    assert "azure (AZURE_BASE_URL), " in found.facts[-1]
    assert not any(fact.startswith("vendor openai: ") for fact in found.facts)
    assert "vendor ollama: ready, without a key" in found.facts
    assert any(fact.startswith("callers' keys: 0") for fact in found.facts)


def test_a_row_of_ones_own_that_lacks_a_key_is_told_by_itself(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    row = '[vendors.mine]\ndialect = "openai-chat"\nbase_url = "https://a/v1"\n'
    assert facts_of(inspect(environ, written(tmp_path, row)), "mine") == "no key (set MINE_API_KEY)"


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


def facts_of(found: Any, vendor: str) -> str:
    (line,) = [fact for fact in found.facts if fact.startswith(f"vendor {vendor}: ")]
    return line.removeprefix(f"vendor {vendor}: ")


def test_a_vendor_that_takes_no_key_needs_none(tmp_path: Path, environ: dict[str, str]) -> None:
    row = '[vendors.mine]\ndialect = "openai-chat"\nbase_url = "http://10.0.0.9/v1"\nauth = "none"\n'
    for key in ({}, {"MINE_API_KEY": SECRET}):
        found = inspect(environ | key, written(tmp_path, row))
        assert facts_of(found, "mine") == "ready, without a key"
        assert (found.faults, found.doubts) == ([], [])


def test_the_demos_vendors_are_known_and_where_they_are(tmp_path: Path, environ: dict[str, str]) -> None:
    toml = 'default_model = "demo/hello"\n[aliases]\nfast = "demo-gemini/echo"\n'
    found = inspect(environ, written(tmp_path, toml))
    assert found.faults == []
    assert found.doubts == [
        "aliases.fast: vendor 'demo-gemini' exists only under `motes serve`",
        "default_model: vendor 'demo' exists only under `motes serve`",
    ]
    assert facts_of(found, "demo") == "exists only under `motes serve`"


def test_a_vendor_of_the_operators_named_demo_is_his(tmp_path: Path, environ: dict[str, str]) -> None:
    row = '[vendors.demo]\ndialect = "openai-chat"\nbase_url = "https://host/v1"\nauth = "none"\n'
    found = inspect(environ, written(tmp_path, f'default_model = "demo/x"\n{row}'))
    assert (found.faults, found.doubts, facts_of(found, "demo")) == ([], [], "ready, without a key")


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('[aliases]\na = "b"\nb = "a"', "aliases.a: aliases lead in a circle"),
        ('[aliases]\nfast = "nobody"', "aliases.fast: model 'nobody' names no vendor"),
        ('default_model = "azure/x"', "default_model: vendor 'azure' has no address: set `base_url`"),
        (
            '[vendors.openai]\nkey = "sk-this-must-never-be\\u000bshown"',
            "OPENAI_API_KEY, or `key` in its settings",
        ),
    ],
)
def test_what_serving_would_refuse_is_a_fault(
    tmp_path: Path, environ: dict[str, str], toml: str, told: str
) -> None:
    found = inspect(environ, written(tmp_path, toml))
    assert told in "\n".join(found.faults)
    assert "sk-this" not in str(found)


def test_what_serving_would_take_is_none(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ, written(tmp_path, '[aliases]\na = "b"\nb = "openai/x"\n'))
    assert (found.faults, found.doubts) == ([], [])


@pytest.mark.parametrize("key", ["sk-this\x0bmust", "sk-this 海"])
def test_a_key_that_no_header_can_hold_is_a_fault(tmp_path: Path, environ: dict[str, str], key: str) -> None:
    found = inspect(environ | {"GROQ_API_KEY": key, "MOTES_API_KEY": key}, tmp_path)
    assert [fault.partition(":")[0] for fault in found.faults] == [
        "vendor groq",
        "environment variable MOTES_API_KEY",
    ]
    assert "sk-this" not in str(found)


def test_an_address_of_the_environment_is_shown_without_secrets(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    urls = {"OPENAI_BASE_URL": "https://me:hush@proxy:8/v1?key=hush", "OLLAMA_BASE_URL": "http://box:1/v1"}
    found = inspect(environ | urls, tmp_path)
    assert facts_of(found, "openai") == "no key (set OPENAI_API_KEY), at https://proxy:8/v1 (OPENAI_BASE_URL)"
    assert facts_of(found, "ollama") == "ready, without a key, at http://box:1/v1 (OLLAMA_BASE_URL)"
    assert "hush" not in str(found)


def test_a_port_that_is_none_is_a_fault(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(environ | {"OPENAI_BASE_URL": "http://127.0.0.1:99999/v1"}, tmp_path)
    assert ["OPENAI_BASE_URL: must have a port" in fault for fault in found.faults] == [True]


def test_who_is_named_before_the_host_is_not_the_host(tmp_path: Path, environ: dict[str, str]) -> None:
    found = inspect(
        environ | {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": "http://me:hush@10.0.0.9/v1"}, tmp_path
    )
    assert found.doubts == ["vendor openai: its key travels unencrypted to 10.0.0.9; use https://"]


@pytest.mark.parametrize("name", ["MOTES_ALIASES", "MOTES_VENDORS", "MOTES_VENDORS_OPENAI_KEY"])
def test_a_table_of_the_file_is_not_read_from_a_variable(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    found = inspect(environ | {name: "x"}, tmp_path)
    assert [doubt.startswith(f"environment variable {name}: not read, ") for doubt in found.doubts] == [True]


def test_a_home_that_is_a_file_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = inspect({"MOTES_HOME": str(tmp_path / "file")}, tmp_path)
    assert found.faults == [f"{tmp_path}/file/keys.json: cannot be read: Not a directory"]


def test_a_probe_of_the_demo_says_where_it_is(here: Path, capfd: Any) -> None:
    assert main(["check", "--probe", "demo/hello"]) == 1
    assert "cannot be probed: vendor 'demo' exists only under `motes serve`" in capfd.readouterr().out


@pytest.fixture
def answering() -> Iterator[Any]:
    """A vendor that sends these bytes, each after so many seconds, and then closes."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def play(*script: tuple[float, bytes]) -> int:
        def serve() -> None:
            line, _ = listener.accept()
            with line:
                line.recv(65536)
                for seconds, data in script:
                    time.sleep(seconds)
                    line.sendall(data)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield play
    for thread in threads:
        thread.join(10)
    listener.close()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def test_the_first_byte_is_one_of_the_body(here: Path, answering: Any, capfd: Any) -> None:
    written(here, vendor_at(answering((0, HEAD), (0.4, b"data: [DO"), (0.4, b"NE]\n\n"))))
    main(["check", "--probe", "try/m"])
    (told,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith("time to first byte")]
    assert 350 <= int(told.split()[-2]) < 750


def test_where_no_byte_came_there_is_no_time_to_it(here: Path, answering: Any, capfd: Any) -> None:
    written(here, vendor_at(answering((0, HEAD))))
    assert main(["check", "--probe", "try/m"]) == 1
    out = capfd.readouterr().out
    assert "status: 200" in out
    assert "time to first byte" not in out
