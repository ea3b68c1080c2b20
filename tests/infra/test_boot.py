"""The built artefacts, started by their own `bootstrap` with nothing around them but the standard library."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from fakes.aws_lambda import FakeLambda
from fakes.serving import KEY, vendor_row
from fakes.upstream import DONE, SSE_HEAD, Gate, Upstream, chat_chunk
from infra.bare import bare_python, boot
from infra.sam import HOST_PLATFORM, HOST_PYTHON, Sam
from infra.templates import ROOT

CHUNKS = 200
PATIENCE = 20.0
USER = [{"role": "user", "content": "Hi"}]
# What a cold start must not pay for.
HEAVY = {"boto3", "botocore", "fastapi", "uvicorn", "rich"}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as listening:
        yield listening


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory, upstream: Upstream) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    (home / "motes.toml").write_text(vendor_row(upstream.base_url))
    return {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY}


@pytest.fixture
def function(native: Path, tmp_path: Path, environ: dict[str, str]) -> Iterator[FakeLambda]:
    command = boot(native / "StreamFunction", bare_python(tmp_path))
    with FakeLambda(command, environ) as running:
        yield running


def play_in_step(upstream: Upstream) -> None:
    """Each piece is sent when the one before it was seen."""
    upstream.forget()
    steps: list[Any] = [
        step for n in range(CHUNKS) for step in (Gate(str(n)), chat_chunk({"content": f"{n} "}))
    ]
    upstream.play(SSE_HEAD, *steps, chat_chunk({}, "stop"), DONE)
    upstream.open("0")


def read_in_step(base_url: str, upstream: Upstream) -> str:
    """The whole text; the vendor's next piece is let go when all before it has arrived."""
    seen = ""
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=PATIENCE) as client:
        for chunk in client.chat.completions.create(model="fake/m", messages=USER, stream=True):
            seen += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            if seen.endswith(" "):
                upstream.open(str(len(seen.split())))
    return seen


def test_openais_client_gets_each_piece_before_the_vendor_sends_the_next(
    function: FakeLambda, upstream: Upstream
) -> None:
    play_in_step(upstream)
    assert read_in_step(f"{function.url}/v1", upstream).split() == [str(n) for n in range(CHUNKS)]


def test_the_artefact_answers_for_itself_and_asks_for_a_key(function: FakeLambda) -> None:
    with httpx.Client(base_url=function.url, trust_env=False, timeout=PATIENCE) as client:
        assert client.get("/healthz").json()["status"] == "ok"
        assert client.get("/v1/models").status_code == 401


def test_nothing_heavy_is_loaded_before_the_first_request(
    native: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    python = bare_python(tmp_path, "-X", "importtime")
    with FakeLambda(boot(native / "StreamFunction", python), environ) as function:
        function.warm()
        log = "\n".join(function.log)
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", log, flags=re.MULTILINE))
    assert {"starlette.applications", "pydantic_core", "httpx", "motes.api.app"} <= loaded
    assert not loaded & HEAVY
    assert not [name for name in loaded if re.fullmatch(r"motes\.dialects\.\w+\.\w+", name)]


@pytest.mark.parametrize(
    ("function_name", "module"), [("ManageFunction", "manage"), ("CleanupFunction", "cleanup")]
)
def test_the_other_handlers_can_be_loaded_from_their_artefacts_alone(
    native: Path, tmp_path: Path, function_name: str, module: str
) -> None:
    program = f"from motes.hosts.{module} import handler; assert callable(handler)"
    done = subprocess.run(
        [str(bare_python(tmp_path)), "-P", "-c", program],
        env={"PYTHONPATH": str(native / function_name), "MOTES_HOME": str(tmp_path), "MOTES_TABLE": "table"},
        cwd=native / function_name,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_price_list_needs_nothing_but_the_artefact(native: Path, tmp_path: Path) -> None:
    """The build leaves out the HTTP client that the list would be renewed with."""
    program = """
from motes.api.prices import listed
from motes.particles import Metrics
from motes.vendors.table import VENDORS
price = listed(VENDORS["anthropic"], "claude-sonnet-4-5")
assert price is not None and price(Metrics(tokens_in=1000, tokens_out=1000))
"""
    artefact = native / "StreamFunction"
    assert not list(artefact.glob("httpx2*"))
    done = subprocess.run(
        [str(bare_python(tmp_path)), "-P", "-c", program],
        env={"PYTHONPATH": str(artefact)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_round_of_cleaning_up_needs_nothing_but_its_artefact(native: Path, tmp_path: Path) -> None:
    """Down to the HTTP client: a run is due whose vendor does not answer."""
    program = """
import asyncio
from pathlib import Path
from motes.particles import UpstreamHandle
from motes.store.runs import ReplyForm, StoredRun
from motes.store.sqlite import SqliteRuns
from motes.hosts.cleanup import handler
run = StoredRun(
    id="r1", owner="o", caller="c", vendor="openai", model="m", dialect="openai-responses", created=1.0,
    reply=ReplyForm(model="m", created=1), state="finished", due_at=1.0,
    handle=UpstreamHandle("vnd.oai.responses", "resp_1"),
)
assert asyncio.run(SqliteRuns(Path("home/motes.sqlite").resolve()).put(run))
summary = handler({}, None)
assert (summary["postponed"], summary["is_done"]) == (1, True), summary
"""
    environ = {
        "PYTHONPATH": str(native / "CleanupFunction"),
        "MOTES_HOME": str(tmp_path / "home"),
        "OPENAI_API_KEY": "sk-vendor",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    }
    done = subprocess.run(
        [str(bare_python(tmp_path)), "-P", "-c", program],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def behind_the_adapter(artefact: Path, folder: Path, environ: dict[str, str]) -> Iterator[str]:
    """As Lambda Web Adapter starts it: the handler, with a port to listen on and no argument."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = f"{bare_python(folder).parent}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [str(artefact / "bootstrap")], env={"PATH": path, "AWS_LWA_PORT": str(port), **environ}
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def is_ready(url: str) -> bool:
    """What the adapter asks until it is answered."""
    try:
        return httpx.get(f"{url}/healthz", trust_env=False).is_success
    except httpx.TransportError:
        return False


def test_the_same_artefact_with_uvicorn_in_it_streams_behind_the_adapter(
    sam: Sam, tmp_path: Path, environ: dict[str, str], upstream: Upstream
) -> None:
    target = {"MOTES_PLATFORM": HOST_PLATFORM, "MOTES_PYTHON": HOST_PYTHON}
    sam.run(
        "build",
        "StreamFunction",
        "--build-dir",
        str(tmp_path / "built"),
        MOTES_LOCK=str(ROOT / "requirements.txt"),
        **target,
    )
    with behind_the_adapter(tmp_path / "built" / "StreamFunction", tmp_path, environ) as url:
        limit = time.monotonic() + PATIENCE
        while not is_ready(url):
            assert time.monotonic() < limit
            time.sleep(0.05)
        play_in_step(upstream)
        assert read_in_step(f"{url}/v1", upstream).split() == [str(n) for n in range(CHUNKS)]
