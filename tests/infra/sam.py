"""The AWS SAM CLI as it is installed here, without a network, an account or telemetry."""

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from infra.templates import ROOT

HOST_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
# The platform that uv calls so fits every glibc from 2.28 on.
HOST_PLATFORM = f"{platform.machine()}-manylinux_2_28"

_NO_ACCOUNT = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_EC2_METADATA_DISABLED": "true",
    "SAM_CLI_TELEMETRY": "0",
}


@dataclass(frozen=True)
class Sam:
    """`sam` at this path; what it keeps of its own it keeps in `state`."""

    path: Path
    state: Path

    @classmethod
    def at(cls, path: Path, state: Path) -> "Sam":
        """It looks for a newer version of itself once a week: it has just done so."""
        (state / "metadata.json").write_text(json.dumps({"lastVersionCheck": time.time()}))
        return cls(path, state)

    def run(self, *arguments: str, **environment: str) -> str:
        """What the command prints. Raises AssertionError where it fails."""
        return _output([str(self.path), *arguments], {"__SAM_CLI_APP_DIR": str(self.state), **environment})

    def python(self, *arguments: str) -> str:
        """What a script prints that the interpreter of `sam` runs."""
        return _output([str(self.path.parent / "python"), *arguments], {})

    def build(self, folder: Path, **environment: str) -> Path:
        """Build all functions into a folder; gives the folder."""
        self.run("build", "--build-dir", str(folder), **environment)
        return folder


def _output(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **_NO_ACCOUNT, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
