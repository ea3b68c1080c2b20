"""A Python with nothing around it, so that only what an artefact carries can be imported."""

import stat
import sys
from pathlib import Path


def bare_python(folder: Path, *options: str) -> Path:
    """A script that runs this Python without its site-packages."""
    script = folder / "python3"
    script.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" -S {" ".join(options)} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def boot(artefact: Path, python: Path) -> list[str]:
    """As the managed runtime does it: the wrapper, the interpreter, and the client it would have started."""
    return [str(artefact / "bootstrap"), str(python), "/var/runtime/bootstrap.py"]
