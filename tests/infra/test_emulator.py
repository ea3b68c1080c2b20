"""The artefact under the platform's own emulator, which comes with the SAM CLI: an independent judge of what
the host says to the Runtime API.
"""

import json
import os
import platform
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from fakes.serving import KEY
from infra.bare import bare_python, boot
from infra.sam import Sam

PATIENCE = 20.0
INVOCATIONS = "2015-03-31/functions/function/invocations"
PRELUDE_END = bytes(8)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def emulator(sam: Sam) -> Path:
    """The binary inside the package of `sam`."""
    folder = sam.python("-c", "import samcli.local.rapid as r; print(list(r.__path__)[0])").strip()
    kind = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return Path(folder) / f"aws-lambda-rie-{kind}"


@pytest.fixture(scope="module")
def url(emulator: Path, native: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where events can be posted."""
    folder, front, back = tmp_path_factory.mktemp("emulated"), free_port(), free_port()
    addresses = [
        *("--runtime-interface-emulator-address", f"127.0.0.1:{front}"),
        *("--runtime-api-address", f"127.0.0.1:{back}"),
    ]
    command = [str(emulator), *addresses, *boot(native / "StreamFunction", bare_python(folder))]
    told = {"PATH": os.environ["PATH"], "MOTES_HOME": str(folder), "MOTES_API_KEY": KEY}
    process = subprocess.Popen(command, env=told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(front)
        yield f"http://127.0.0.1:{front}/{INVOCATIONS}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(port: int) -> None:
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("the emulator never listened")


def request(method: str, path: str, **headers: str) -> dict[str, Any]:
    """The event of an HTTP request."""
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.7", "userAgent": ""}
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "x", **headers},
        "requestContext": {"http": http, "requestId": "r", "stage": "$default"},
        "isBase64Encoded": False,
    }


def test_the_emulator_takes_the_streamed_answer_to_a_request(url: str) -> None:
    """It hands a stream on as it came: prelude, eight NULs, body."""
    answer = httpx.post(url, json=request("GET", "/healthz"), trust_env=False, timeout=PATIENCE)
    prelude, end, body = answer.content.partition(PRELUDE_END)
    assert end == PRELUDE_END
    assert json.loads(prelude)["statusCode"] == 200
    assert json.loads(body)["status"] == "ok"


def test_the_emulator_takes_one_after_the_other_from_the_same_process(url: str) -> None:
    for _ in range(20):
        answer = httpx.post(url, json=request("GET", "/v1/models"), trust_env=False, timeout=PATIENCE)
        assert json.loads(answer.content.partition(PRELUDE_END)[0])["statusCode"] == 401


def test_the_emulator_takes_the_whole_answer_to_an_event_that_is_not_http(url: str) -> None:
    answer = httpx.post(url, json={"motes": "ping"}, trust_env=False, timeout=PATIENCE)
    assert answer.json()["status"] == "ok"


def test_the_emulator_takes_the_error_of_an_unknown_event(url: str) -> None:
    answer = httpx.post(url, json={"source": "nobody"}, trust_env=False, timeout=PATIENCE)
    assert answer.json()["errorType"] == "Motes.UnknownEvent"
