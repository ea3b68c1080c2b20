"""What lies in a function's artefact."""

import csv
import re
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

from infra.templates import ROOT

LOCKS = {
    "StreamFunction": ROOT / "functions" / "requirements-lambda.txt",
    "CleanupFunction": ROOT / "functions" / "requirements-lambda.txt",
    "ManageFunction": ROOT / "functions" / "requirements-lambda-manage.txt",
}


def locked(lock: Path) -> dict[str, str]:
    """Name and version of everything a lock pins."""
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", lock.read_text(), flags=re.MULTILINE))


def installed(artefact: Path) -> dict[str, str]:
    """Name and version of every distribution in an artefact."""
    found = {}
    for folder in artefact.glob("*.dist-info"):
        told = Parser().parsestr((folder / "METADATA").read_text(errors="replace"), headersonly=True)
        found[re.sub(r"[-_.]+", "-", told["Name"]).lower()] = told["Version"]
    return found


def wheel_tags(artefact: Path) -> Iterator[tuple[str, str]]:
    """(distribution, tag) of every wheel that was unpacked."""
    for wheel in artefact.glob("*.dist-info/WHEEL"):
        for tag in re.findall(r"^Tag: (\S+)", wheel.read_text(), flags=re.MULTILINE):
            yield wheel.parent.name, tag


def files(artefact: Path) -> set[str]:
    """Every file but bytecode, relative to the artefact."""
    found = (path for path in artefact.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(artefact)) for path in found}


def of_wheels(artefact: Path) -> set[str]:
    """Every file that a wheel says it brought, and what the installer added to say so."""
    named = {"INSTALLER", "REQUESTED", "uv_cache.json"}
    found = set()
    for record in artefact.glob("*.dist-info/RECORD"):
        with record.open(newline="") as lines:
            found |= {row[0] for row in csv.reader(lines)}
        found |= {f"{record.parent.name}/{name}" for name in named}
    return found


def size(artefact: Path) -> int:
    """Bytes, unzipped."""
    return sum(path.stat().st_size for path in artefact.rglob("*") if path.is_file())


def sources(artefact: Path) -> list[Path]:
    """Every Python source."""
    return sorted(artefact.rglob("*.py"))


def bytecode_of(source: Path, minor: str) -> Path:
    """Where the bytecode of a source lies."""
    return source.parent / "__pycache__" / f"{source.stem}.cpython-{minor.replace('.', '')}.pyc"
