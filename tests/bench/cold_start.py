"""What a cold start of the streaming function costs, against loading the three packages it rests on: until it
asks for work, and until the first text of a stream from a vendor without TLS is with the caller.

    uv run python tests/bench/cold_start.py [rounds] [artefact]

Without an artefact (a folder as `sam build` makes it, for this machine) functions/Makefile builds one. All
programs run in the same rounds on the same interpreter, with the artefact as their only packages; processor
time is the process's own clock. A script and not a test: it judges a machine as much as the code.
"""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import httpx

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from bench.gauge import cpu_seconds  # noqa: E402 (needs the path above)
from fakes.aws_lambda import FakeLambda  # noqa: E402
from fakes.serving import AUTH, KEY, STREAM, vendor_row  # noqa: E402
from fakes.upstream import HELLO, Upstream  # noqa: E402

PYTHON = Path(sys.base_exec_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
TELL = """
import json, resource, time
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([time.process_time() * 1000, peak / 1024]))
"""
NAMES = "import starlette, pydantic, httpx\n"
# All three load most of themselves when they are first used, so that the bare names say little.
ALONE = """
import starlette.applications, starlette.requests, starlette.responses, starlette.routing
import pydantic; pydantic.BaseModel
import httpx
"""
READY = f"""{ALONE}
class Smallest(pydantic.BaseModel):
    number: int
httpx.AsyncClient()
"""
PROGRAMS = {"the bare names": NAMES, "their classes": ALONE, "ready for use": READY}
WANTED = 1.35


class Cost(NamedTuple):
    """Milliseconds of processor time, and memory at its highest in MiB."""

    cpu: float
    peak: float


def of_program(artefact: Path, program: str) -> Cost:
    """The cost of a few lines."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(artefact)}
    told = subprocess.run(
        [str(PYTHON), "-S", "-P", "-c", program + TELL], env=environ, capture_output=True, check=True
    )
    return Cost(*json.loads(told.stdout))


def of_start(artefact: Path, home: Path, vendor: Upstream) -> tuple[Cost, Cost]:
    """The cost from the start of the process to its first request for work, as it logs it itself, and to the
    first text of a stream.
    """
    (home / "motes.toml").write_text(vendor_row(vendor.base_url))
    vendor.play(*HELLO)
    environ = {
        "MOTES_HOME": str(home),
        "MOTES_CONFIG": str(home / "motes.toml"),
        "MOTES_API_KEY": KEY,
        "LAMBDA_TASK_ROOT": str(artefact),
        "LAMBDA_RUNTIME_DIR": "/nonexistent",
    }
    with FakeLambda([str(artefact / "bootstrap"), str(home / "python")], environ) as function:
        function.warm()
        ready = function.line("ready")
        with httpx.stream(
            "POST", f"{function.url}/v1/chat/completions", headers=AUTH, json=STREAM, trust_env=False
        ) as response:
            any('"content":"' in text for text in response.iter_text())
            spent = cpu_seconds([function.pid]) * 1000
        return Cost(ready["cpu_ms"], ready["peak_kib"] / 1024), Cost(spent, function.rss() / 2**20)


def built(folder: Path) -> Path:
    """The artefact for this machine."""
    target = f"{platform.machine()}-manylinux_2_28"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    settings = [f"ARTIFACTS_DIR={folder}", f"MOTES_PLATFORM={target}", f"MOTES_PYTHON={version}"]
    command = ["make", "--silent", "build-StreamFunction", *settings, f"MOTES_INTERPRETER={PYTHON}"]
    subprocess.run(command, cwd=ROOT / "functions", check=True, capture_output=True)
    return folder


def interpreter(home: Path) -> None:
    """One that sees no packages but those on its path."""
    wrapper = home / "python"
    wrapper.write_text(f'#!/bin/sh\nexec "{PYTHON}" -S "$@"\n')
    wrapper.chmod(0o755)


def main(rounds: int, artefact: Path | None) -> None:
    home = Path(tempfile.mkdtemp())
    try:
        interpreter(home)
        artefact = artefact or built(home / "artefact")
        costs: dict[str, list[Cost]] = {name: [] for name in [*PROGRAMS, "first /next", "first text"]}
        with Upstream() as vendor:
            for warm in (False, *[True] * rounds):
                told = [of_program(artefact, program) for program in PROGRAMS.values()]
                for name, cost in zip(costs, [*told, *of_start(artefact, home, vendor)], strict=True):
                    costs[name] += [cost] if warm else []
        report(costs)
    finally:
        shutil.rmtree(home)


def report(costs: dict[str, list[Cost]]) -> None:
    """One line a program; ratios are taken within a round, and of the least of each."""
    start = costs["first /next"]
    for name, rows in costs.items():
        cpu, peak = [row.cpu for row in rows], [row.peak for row in rows]
        ratio = statistics.median(own.cpu / other.cpu for own, other in zip(start, rows, strict=True))
        least = min(row.cpu for row in start) / min(cpu)
        sys.stdout.write(
            f"{name:15} {statistics.median(cpu):6.1f} ms of processor (least {min(cpu):6.1f}),"
            f" {statistics.median(peak):5.1f} MiB; the start takes {ratio:.2f} (least {least:.2f}) times that\n"
        )
    sys.stdout.write(f"wanted: {WANTED} times\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 15, Path(given[1]) if len(given) > 1 else None)
