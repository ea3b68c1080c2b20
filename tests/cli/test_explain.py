"""`motes explain`: the request as it would be sent, with no key and no network."""

import io
import json
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

from motes.cli import main
from motes.dispatch import generate
from motes.executor.connection import open_client
from motes.executor.pipeline import run
from motes.executor.run import Options
from motes.intake import parse_request
from motes.settings import Settings
from motes.vendors.catalogue import build_catalogue
from motes.vendors.table import ALIASES, VENDORS

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
    assert "OPENAI_COMPATIBLE_BASE_URL" in shown["warnings"][0]


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("demo/hello", "/v1/chat/completions"),
        ("demo-anthropic/hello", "/v1/messages"),
        ("demo-gemini/hello", "/v1beta/models/hello:streamGenerateContent?alt=sse"),
    ],
)
def test_the_demos_vendors_are_known_and_where_they_are(explain: Any, model: str, path: str) -> None:
    vendor = model.partition("/")[0]
    shown = explain("--model", model)
    assert shown["url"] == f"https://{vendor}.invalid{path}"
    assert shown["warnings"] == [f"vendor {vendor!r} exists only under `motes serve`"]


def test_an_address_that_is_set_needs_no_word(explain: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "https://host/v1?api-version=3&api-key=hush")
    shown = explain("--model", "openai-compatible/m")
    assert shown["url"] == "https://host/v1/chat/completions?api-version=3&api-key=***"
    assert shown["warnings"] == []


async def test_the_headers_that_are_shown_are_those_that_are_sent(explain: Any) -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    settings = Settings(home=Path())
    route = build_catalogue(VENDORS, ALIASES, settings).resolve("anthropic/m")
    plan = generate(parse_request(REQUEST), route.vendor, route.model, secret="***")
    async with (
        open_client(transport=httpx.MockTransport(answer)) as http,
        aclosing(run(plan, http, Options())) as particles,
    ):
        assert [particle async for particle in particles]
    of_the_connection = {"host", "content-length", "connection"}
    headers = {name: value for name, value in sent[0].headers.items() if name not in of_the_connection}
    assert explain("--model", "anthropic/m")["headers"] == headers


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
