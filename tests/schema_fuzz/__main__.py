"""schemathesis over `GET /openapi.json` of a real `motes serve`.

    uv run python -m tests.schema_fuzz [seconds] [seed]

Wanted: no status 5xx, nothing that is not described, no answer that takes longer than a few seconds, and a process
that is no larger and holds no more sockets at the end than after its first requests. 1 where that is not so.
"""

import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

KEY: Final = "motes-schema-fuzz"
VERSION: Final = "4.32.5"
SECONDS: Final = 40
SEED: Final = 1
MAX_GROWTH_KIB: Final = 24 * 1024
START_SECONDS: Final = 30.0
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
)
# Its word for a search that is slow or throws much away, which says nothing of the gateway: a request has many members.
SUPPRESSED: Final = "all"


def main() -> int:
    """Run it. Gives the exit status."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environ = dict(os.environ) | {"MOTES_HOME": str(place), "MOTES_API_KEY": KEY}
        command = [str(Path(sys.executable).with_name("motes")), "serve", "--port", "0"]
        with (place / "out").open("wb") as out, (place / "log").open("wb") as log:
            process = subprocess.Popen(command, cwd=place, env=environ, stdout=out, stderr=log)
        try:
            port = _port(place, process)
            return _judged(process.pid, port, place, seconds, seed)
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def _judged(pid: int, port: int, place: Path, seconds: int, seed: int) -> int:
    for _ in range(20):
        _ask(port)
    before = _state(pid)
    status = subprocess.call(_command(port, seconds, seed), cwd=place)
    _ask(port)
    after = _state(pid)
    sys.stdout.write(f"resident KiB and open files before: {before}, after: {after}\n")
    traces = (place / "log").read_text().count("Traceback")
    if traces:
        sys.stdout.write(f"{traces} tracebacks in the log\n")
    grown = after[0] - before[0] > MAX_GROWTH_KIB or after[1] > before[1] + 2
    return 1 if status or grown or traces else 0


def _command(port: int, seconds: int, seed: int) -> list[str]:
    uv = shutil.which("uv") or "uv"
    run = [uv, "tool", "run", "--quiet", "--from", f"schemathesis=={VERSION}", "schemathesis", "run"]
    return [
        *run,
        f"http://127.0.0.1:{port}/openapi.json",
        "--header",
        f"Authorization: Bearer {KEY}",
        "--checks",
        ",".join(CHECKS),
        "--continue-on-failure",
        "--request-timeout",
        "20",
        "--max-time",
        str(seconds),
        "--seed",
        str(seed),
        "--suppress-health-check",
        SUPPRESSED,
        "--no-color",
    ]


def _port(place: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        found = re.search(rb"http://127\.0\.0\.1:(\d+)", (place / "out").read_bytes())
        if found:
            return int(found.group(1))
        time.sleep(0.05)
    raise SystemExit(f"the gateway did not start:\n{(place / 'log').read_text()}")


def _ask(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = '{"model":"demo/hello","messages":[{"role":"user","content":"Hi"}]}'
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    connection.request("POST", "/v1/chat/completions", body, headers)
    answer = connection.getresponse()
    if answer.status != 200:
        raise SystemExit(f"status {answer.status}: {answer.read()!r}")
    answer.read()
    connection.close()


def _state(pid: int) -> tuple[int, int]:
    """Resident memory in KiB, and how many files and sockets are open."""
    time.sleep(1.0)  # what is being closed is closed by then
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found.group(1)) if found else 0, len(list(Path(f"/proc/{pid}/fd").iterdir()))


if __name__ == "__main__":
    sys.exit(main())
