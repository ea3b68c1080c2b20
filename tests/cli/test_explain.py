"""`motes explain`: the request as it would be sent, with no key and no network."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from motes.cli import main

REQUEST = {"model": "openai/m", "messages": [{"role": "user", "content": "Grüß Gott 海"}]}
SECRET = "sk-this-must-never-be-shown"


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> Any:
    monkeypatch.setenv("MOTES_HOME", str(tmp_path))
    monkeypatch.delenv("MOTES_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*options: str, status: int = 0, body: Any = REQUEST) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["explain", *options]) == status
        out, err = capfdbinary.readouterr()
        assert err == b""
        return json.loads(out)

    return run


@pytest.mark.parametrize(
    ("model", "url", "header"),
    [
        ("openai/m", "https://api.openai.com/v1/chat/completions", "authorization"),
        ("anthropic/m", "https://api.anthropic.com/v1/messages", "x-api-key"),
        (
            "gemini/gemini-demo",
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-demo:streamGenerateContent?alt=sse",
            "x-goog-api-key",
        ),
        ("google/m", None, "x-goog-api-key"),
        ("together/a/b", "https://api.together.xyz/v1/chat/completions", "authorization"),
    ],
)
def test_the_request_is_shown_and_its_key_is_not(
    explain: Any, monkeypatch: Any, model: str, url: str | None, header: str
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "TOGETHER"):
        monkeypatch.setenv(f"{name}_API_KEY", SECRET)
    shown = explain("--model", model)
    assert list(shown) == ["method", "url", "headers", "body", "warnings"]
    assert shown["method"] == "POST"
    assert shown["url"] == url or url is None
    assert shown["headers"][header] == "***"
    assert SECRET not in json.dumps(shown)
    assert "Grüß Gott 海" in json.dumps(shown["body"], ensure_ascii=False)


def test_the_requests_own_model_does_without_the_option(explain: Any) -> None:
    assert explain()["body"]["model"] == "m"


def test_an_address_that_is_not_set_yet_has_a_placeholder(explain: Any) -> None:
    shown = explain("--model", "openai-compatible/m")
    assert shown["url"] == "https://openai-compatible.invalid/v1/chat/completions"


def test_what_was_changed_is_told(explain: Any) -> None:
    orphan = {"role": "tool", "tool_call_id": "x", "content": "?"}
    shown = explain(body=REQUEST | {"messages": [orphan, *REQUEST["messages"]]})
    assert len(shown["warnings"]) == 1


def test_a_trait_is_known_to_the_dialect(explain: Any) -> None:
    body = REQUEST | {"temperature": 0.5, "model": "openai/some-model"}
    assert explain(body=body)["body"]["temperature"] == 0.5
    assert "temperature" not in explain("--trait", "reasoning-model", body=body)["body"]


@pytest.mark.parametrize(
    ("body", "options", "code"),
    [
        (b"not json", ["--model", "openai/m"], "invalid_json"),
        ({"messages": []}, ["--model", "openai/m"], "invalid_value"),
        (REQUEST | {"n": 2}, [], "unsupported"),
        (REQUEST, ["--model", "nobody/m"], "model_not_found"),
        ({"messages": REQUEST["messages"]}, [], "missing_model"),
    ],
)
def test_a_refusal_is_an_error_object_and_exit_2(
    explain: Any, body: Any, options: list[str], code: str
) -> None:
    shown = explain(*options, status=2, body=body)
    assert shown["error"]["code"] == code
    assert shown["error"]["message"]


def test_header_values_of_the_settings_and_passwords_in_addresses_are_masked(
    explain: Any, tmp_path: Path
) -> None:
    (tmp_path / "motes.toml").write_text(
        '[vendors.mine]\ndialect = "openai-chat"\nbase_url = "https://me:hush@host/v1"\n'
        'auth = "query:key"\nheaders = { "X-Gateway-Token" = "hush" }\n'
    )
    shown = explain("--model", "mine/m")
    assert "hush" not in json.dumps(shown)
    assert shown["url"] == "https://***@host/v1/chat/completions?key=***"


def test_it_needs_no_network() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('a socket was opened')\n"
        "socket.socket.connect = refuse\n"
        "from motes.cli import main; sys.exit(main(['explain', '--model', 'openai/m']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(REQUEST).encode(),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["method"] == "POST"


def test_help_is_fast_because_nothing_is_loaded() -> None:
    code = (
        "import sys\nfrom motes.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('pydantic', 'httpx', 'orjson', 'rich', 'starlette', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "replay" in done.stdout
