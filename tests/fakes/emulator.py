"""The platform's own emulator of the Runtime API, which lies inside the aws-sam-cli wheel.

It is built from the code that runs on the platform, so what it accepts is right. It gives an answer in one piece,
without its trailers, and has no Function URL.
"""

import http.client
import json
import os
import platform
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

VARIABLE = "MOTES_LAMBDA_EMULATOR"
MISSING = f"needs the emulator of the AWS SAM CLI: `uv tool install aws-sam-cli`, or its path in ${VARIABLE}"
_PATIENCE = 20.0


def find() -> Path | None:
    """The emulator for this machine: where $MOTES_LAMBDA_EMULATOR says, or beside the `sam` on the PATH."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    sam = shutil.which("sam")
    if sam is None:
        return None
    machine = "arm64" if platform.machine() in ("aarch64", "arm64") else "x86_64"
    home = Path(sam).resolve().parents[1]
    found = home.glob(f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{machine}")
    return next((path for path in found if os.access(path, os.X_OK)), None)


class Emulator:
    """`with Emulator(...) as emulator:` runs a command as the function's runtime."""

    def __init__(self, binary: Path, command: list[str], environ: dict[str, str], timeout: int = 20) -> None:
        self._binary = binary
        self._command = command
        self._environ = {"PATH": os.environ["PATH"], **environ, "AWS_LAMBDA_FUNCTION_TIMEOUT": str(timeout)}

    def invoke(self, event: Any) -> tuple[int, bytes]:
        """The status and the whole answer of one invocation."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        try:
            body = event if isinstance(event, bytes) else json.dumps(event).encode()
            connection.request("POST", "/2015-03-31/functions/function/invocations", body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def __enter__(self) -> "Emulator":
        self._port, api = _free_port(), _free_port()
        addresses = ["--runtime-interface-emulator-address", f"127.0.0.1:{self._port}"]
        addresses += ["--runtime-api-address", f"127.0.0.1:{api}"]
        command = [str(self._binary), "--log-level", "error", *addresses, *self._command]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, env=self._environ, stdout=quiet, stderr=quiet)
        limit = time.monotonic() + _PATIENCE
        while time.monotonic() < limit:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.01)
        raise AssertionError("the emulator never listened")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
