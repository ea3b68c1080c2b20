"""Ten ways of real client programs to read a stream, each against motes before a vendor of many accidents.

    MOTES_SHARED=… uv run python -m tests.client_lab [python] [node]

Installs the clients (`requirements.txt`, `package.json` beside this file) into a folder that goes with the run,
starts the vendor of accidents and `motes serve`, lets every client ask every variant, and prints the table. 1
where a cell is wrong. The vendor and the client programs lie in the handed material and are read there.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.client_lab.verdict import faults

HERE: Final = Path(__file__).parent
VENDOR_PORT: Final = 18911
# `llm` sends no other to a server that is not OpenAI's.
KEY: Final = "DUMMY_KEY"
SECONDS: Final = 30.0


class Way(NamedTuple):
    """One way to read a stream: how it is called, which program it is, and where its results lie."""

    name: str
    program: str
    choice: str

    @property
    def results(self) -> str:
        """The name of the file it writes."""
        return f"out_{'node_' if self.program == 'node' else ''}{self.choice}.json"


WAYS: Final = (
    Way("openai-python", "python", "openai"),
    Way("openai-python .stream()", "python", "openai_helper"),
    Way("langchain-python", "python", "langchain"),
    Way("llm", "python", "llm"),
    Way("litellm", "python", "litellm"),
    Way("openai-node", "node", "openai"),
    Way("openai-node .stream()", "node", "openai_helper"),
    Way("ai, compatible", "node", "vercel"),
    Way("ai, openai", "node", "vercel_openai"),
    Way("langchain-js", "node", "langchain"),
)


def main() -> int:
    """Run the lab. Gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.client_lab", description="Real clients against motes."
    )
    parser.add_argument("programs", nargs="*", help="python, node (default: all at hand)")
    programs = parser.parse_args().programs or ["python", *(["node"] if shutil.which("npm") else [])]
    for program in programs:
        if program not in _INSTALL:
            parser.error(f"no such program: {program}")
    shared = os.environ.get("MOTES_SHARED")
    if not shared:
        sys.stdout.write(
            "MOTES_SHARED is not set: the vendor of accidents lies there, and nothing was tried\n"
        )
        return 0
    lab = Path(shared) / "client-lab"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for program in programs:
            _INSTALL[program](place, lab)
        with vendor(place, lab), gateway(place, lab) as url:
            told = {way: ask(way, place, url) for way in WAYS if way.program in programs}
    return report(told)


def _install_python(place: Path, lab: Path) -> None:
    python = place / "clients" / "bin" / "python"
    _run(["uv", "venv", "--quiet", str(place / "clients")])
    _run(["uv", "pip", "install", "--quiet", "--python", str(python), "-r", str(HERE / "requirements.txt")])
    shutil.copy(lab / "pyc.py", place)
    shutil.copy(lab / "wall.py", place)


def _install_node(place: Path, lab: Path) -> None:
    room = place / "n"
    room.mkdir()
    shutil.copy(HERE / "package.json", room)
    _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"], cwd=room)
    shutil.copy(lab / "nc.mjs", room)
    names = subprocess.check_output([sys.executable, str(lab / "wall.py"), "list"], text=True)
    (place / "variants.txt").write_text(names)


_INSTALL: Final = {"python": _install_python, "node": _install_node}


@contextmanager
def vendor(place: Path, lab: Path) -> Iterator[None]:
    """The vendor of accidents, which has a port of its own."""
    with _process([sys.executable, str(lab / "wall.py")], place, VENDOR_PORT, dict(os.environ)):
        yield


@contextmanager
def gateway(place: Path, lab: Path) -> Iterator[str]:
    """`motes serve` with a row for each variant. Gives its base URL."""
    rows = subprocess.check_output([sys.executable, str(lab / "rows.py")], text=True)
    (place / "motes.toml").write_text(rows)
    port = _free_port()
    environ = dict(os.environ) | {
        "MOTES_HOME": str(place / "home"),
        "MOTES_CONFIG": str(place / "motes.toml"),
        "MOTES_API_KEY": KEY,
    }
    command = [str(Path(sys.executable).with_name("motes")), "serve", "--port", str(port)]
    with _process(command, place, port, environ):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def _process(command: list[str], place: Path, port: int, environ: Mapping[str, str]) -> Iterator[None]:
    with (place / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=place, env=environ, stdout=log, stderr=log)
        try:
            _await(port, process)
            yield
        finally:
            process.terminate()
            process.wait(SECONDS)


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens at port {port}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ask(way: Way, place: Path, url: str) -> dict[str, dict[str, Any]]:
    """What a client tells of every variant."""
    environ = dict(os.environ) | {
        "LAB_BASE": url,
        "LAB_MODEL": "lab-{v}/m",
        "LAB_KEY": KEY,
        # Nothing but the lab is asked, and nothing of it is kept.
        "HOME": str(place),
        "OPENAI_API_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    room = place / "n" if way.program == "node" else place
    command = ["node", "nc.mjs"] if way.program == "node" else [str(place / "clients/bin/python"), "pyc.py"]
    _run([*command, way.choice], cwd=room, environ=environ)
    told: dict[str, dict[str, Any]] = json.loads((place / way.results).read_text())
    return told


def report(told: Mapping[Way, Mapping[str, Mapping[str, Any]]]) -> int:
    """Print the table. 1 where a cell is wrong."""
    wrong = 0
    sys.stdout.write("| client | right | wrong |\n|---|---|---|\n")
    for way, variants in told.items():
        found = {name: faults(name, said) for name, said in variants.items()}
        bad = {name: "; ".join(said) for name, said in found.items() if said}
        wrong += len(bad)
        words = " · ".join(f"{name}: {said}" for name, said in bad.items()) or "-"
        sys.stdout.write(f"| {way.name} | {len(variants) - len(bad)} of {len(variants)} | {words} |\n")
    cells = sum(len(variants) for variants in told.values())
    sys.stdout.write(f"\n{cells - wrong} of {cells} cells right\n")
    return 1 if wrong else 0


def _run(command: list[str], cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
