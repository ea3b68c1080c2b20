"""The built artefact, started by its own `bootstrap` with nothing around it but the standard library."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.upstream import SSE_HEAD, Gate, Upstream
from infra.runtime_api import PATIENCE, RuntimeAPI, bare_python, http_event, started

PRELUDE_END = bytes(8)
CHUNKS = 200
# What a cold start must not pay for.
HEAVY = {"boto3", "botocore", "fastapi", "uvicorn", "aws_lambda_powertools", "rich"}
HOUSES = {f"motes.dialects.{name}" for name in ("openai_chat", "anthropic_messages", "gemini_generate")}


@pytest.fixture(scope="module")
def artefact(native: Path) -> Path:
    return native / "StreamFunction"


def split(answer: bytes) -> tuple[dict[str, Any], bytes]:
    """Prelude and body."""
    prelude, _, body = answer.partition(PRELUDE_END)
    return json.loads(prelude), body


def test_the_artefact_starts_by_its_own_bootstrap_and_answers(artefact: Path, tmp_path: Path) -> None:
    with RuntimeAPI() as api, started(artefact, api, bare_python(tmp_path), tmp_path / "log"):
        prelude, body = split(api.invoke(http_event("GET", "/healthz")).rest())
        assert prelude["statusCode"] == 200
        assert json.loads(body)["status"] == "ok"
        prelude, body = split(api.invoke(http_event("GET", "/v1/models")).rest())
        assert prelude["statusCode"] == 401


def event(text: str) -> bytes:
    delta = {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": text}}],
    }
    return f"data: {json.dumps(delta)}\n\n".encode()


def test_each_chunk_is_with_the_platform_before_the_vendor_sends_the_next(
    artefact: Path, tmp_path: Path
) -> None:
    request = {"model": "openai/m", "stream": True, "messages": [{"role": "user", "content": "?"}]}
    with Upstream() as upstream, RuntimeAPI() as api:
        steps = [step for n in range(CHUNKS) for step in (Gate(str(n)), event(f"<{n}>"))]
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        end = f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode()
        upstream.play(SSE_HEAD, *steps, end)
        told = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": upstream.base_url}
        with started(artefact, api, bare_python(tmp_path), tmp_path / "log", **told):
            asked = http_event("POST", "/v1/chat/completions", request, authorization="Bearer mk-test")
            response, seen = api.invoke(asked), b""
            for n in range(CHUNKS):
                upstream.open(str(n))
                while f"<{n}>".encode() not in seen:
                    chunk = response.next()
                    assert chunk is not None, seen
                    seen += chunk
                assert f"<{n + 1}>".encode() not in seen
            assert response.rest().endswith(b"data: [DONE]\n\n")


def test_nothing_heavy_is_loaded_before_the_first_event(artefact: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with RuntimeAPI() as api, started(artefact, api, bare_python(tmp_path, "-X", "importtime"), log):
        assert api.asked.wait(PATIENCE), log.read_text()
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", log.read_text(), flags=re.MULTILINE))
    assert {"starlette.applications", "pydantic", "httpx", "motes.api.app"} <= loaded
    assert not loaded & HEAVY
    assert not loaded & HOUSES


@pytest.mark.parametrize(
    ("function", "module"), [("ManageFunction", "manage"), ("CleanupFunction", "cleanup")]
)
def test_the_other_handlers_can_be_loaded_from_their_artefacts_alone(
    native: Path, tmp_path: Path, function: str, module: str
) -> None:
    program = f"from motes.hosts.{module} import handler; assert callable(handler)"
    done = subprocess.run(
        [str(bare_python(tmp_path)), "-P", "-c", program],
        env={"PYTHONPATH": str(native / function), "MOTES_HOME": str(tmp_path), "MOTES_TABLE": "table"},
        cwd=native / function,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
