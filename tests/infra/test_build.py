"""Laws of what `sam build` makes: for the platform that is shipped to, and for the one the tests run on."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

from infra.artefact import (
    LOCKS,
    bytecode_of,
    files,
    installed,
    locked,
    of_wheels,
    size,
    sources,
    wheel_tags,
)
from infra.sam import HOST_PYTHON, Sam
from infra.templates import ROOT, TEMPLATE, read

MEGABYTE = 1_000_000
LIMIT = 25 * MEGABYTE
# A bytecode file begins with a magic number and flags; of these, bit 0 says that it goes with a hash of its
# source, and bit 1 that the hash is to be checked (PEP 552).
UNCHECKED_HASH = 0b01

functions = pytest.mark.parametrize("function", sorted(LOCKS))


def shipped_python() -> str:
    return str(read(TEMPLATE)["Parameters"]["PythonVersion"]["Default"]).removeprefix("python")


def has_bytecode(artefact: Path) -> bool:
    return any(artefact.rglob("*.pyc"))


@functions
def test_every_wheel_is_for_the_platform_that_is_shipped_to(shipped: Path, function: str) -> None:
    tags = list(wheel_tags(shipped / function))
    assert tags
    ours = f"cp{shipped_python().replace('.', '')}"
    for wheel, tag in tags:
        python, abi, platform = tag.split("-")
        assert platform == "any" or "aarch64" in platform, (wheel, tag)
        assert python in ("py3", "py2.py3", "py2", ours) or abi == "abi3", (wheel, tag)


@functions
def test_every_library_is_for_the_platform_that_is_shipped_to(shipped: Path, function: str) -> None:
    libraries = list((shipped / function).rglob("*.so*"))
    assert libraries
    for library in libraries:
        # The machine in an ELF header; 0xB7 is AArch64.
        assert library.read_bytes()[18:20] == b"\xb7\x00", library


@functions
def test_nothing_is_installed_that_is_not_locked_with_a_hash(shipped: Path, function: str) -> None:
    pins = locked(LOCKS[function])
    assert installed(shipped / function).items() <= pins.items()
    blocks = re.split(r"\n(?=[a-z])", LOCKS[function].read_text())
    assert all("--hash=sha256:" in block for block in blocks if "==" in block)


@functions
def test_an_artefact_is_wheels_and_this_package_and_nothing_else(shipped: Path, function: str) -> None:
    artefact = shipped / function
    rest = {name for name in files(artefact) - of_wheels(artefact) if not name.startswith("motes/")}
    rest = {name for name in rest if not re.fullmatch(r"certificates/[0-9a-f]{8}\.\d", name)}
    assert rest == ({"bootstrap"} if function == "StreamFunction" else set())
    assert not (artefact / "bin").exists()


@functions
def test_the_whole_package_is_in_every_artefact(shipped: Path, function: str) -> None:
    here = ROOT / "functions" / "motes"
    wanted = {
        str(path.relative_to(here)) for path in here.rglob("*") if path.is_file() and path.suffix != ".pyc"
    }
    there = {name.removeprefix("motes/") for name in files(shipped / function) if name.startswith("motes/")}
    assert there == wanted


def test_the_wrapper_can_be_executed(shipped: Path) -> None:
    assert os.access(shipped / "StreamFunction" / "bootstrap", os.X_OK)


@functions
def test_the_streaming_function_carries_every_certificate_in_a_file_of_its_own(
    shipped: Path, function: str
) -> None:
    bundle = (shipped / function / "certifi" / "cacert.pem").read_text()
    wanted = bundle.count("BEGIN CERTIFICATE") if function == "StreamFunction" else 0
    assert len(list((shipped / function).glob("certificates/*"))) == wanted


@pytest.mark.parametrize("function", ["StreamFunction", "CleanupFunction"])
def test_the_artefact_is_small(shipped: Path, function: str) -> None:
    assert size(shipped / function) < LIMIT


@functions
def test_the_sdk_is_left_to_the_runtime(shipped: Path, function: str) -> None:
    assert not {"boto3", "botocore", "uvicorn"} & set(installed(shipped / function))


def test_only_the_operators_api_carries_fastapi(shipped: Path) -> None:
    carriers = [function for function in LOCKS if "fastapi" in installed(shipped / function)]
    assert carriers == ["ManageFunction"]


@functions
def test_bytecode_is_shipped_for_every_source_and_is_not_checked_against_times(
    shipped: Path, function: str
) -> None:
    artefact, minor = shipped / function, shipped_python()
    if not has_bytecode(artefact):
        pytest.skip(f"no Python {minor} at hand to write bytecode with")
    heads = {bytecode_of(source, minor).read_bytes()[:8] for source in sources(artefact)}
    assert len(heads) == 1
    assert int.from_bytes(heads.pop()[4:], "little") == UNCHECKED_HASH


@functions
def test_bytecode_is_that_of_its_source_and_names_the_place_on_the_platform(
    native: Path, function: str
) -> None:
    for source in sources(native / function):
        bytecode = bytecode_of(source, HOST_PYTHON).read_bytes()
        assert bytecode[:4] == importlib.util.MAGIC_NUMBER
        assert bytecode[8:16] == importlib.util.source_hash(source.read_bytes()), source
    one = bytecode_of(native / function / "motes" / "errors.py", HOST_PYTHON).read_bytes()
    assert b"/var/task/motes/errors.py" in one


def test_the_sdk_is_vendored_where_it_is_asked_for(sam: Sam, tmp_path: Path) -> None:
    sam.run("build", "CleanupFunction", "--build-dir", str(tmp_path), MOTES_VENDOR_SDK="1")
    there = installed(tmp_path / "CleanupFunction")
    assert {"boto3", "botocore"} <= set(there)
    pins = {
        name: v
        for lock in (ROOT / "functions").glob("requirements-lambda*.txt")
        for name, v in locked(lock).items()
    }
    assert there.items() <= pins.items()


def test_all_locks_agree_with_what_the_tests_run_on() -> None:
    tested = locked(ROOT / "requirements-dev.txt")
    for lock in (ROOT / "functions").glob("requirements-lambda*.txt"):
        assert locked(lock).items() <= tested.items(), lock.name


def test_no_lock_names_an_index() -> None:
    for lock in [*ROOT.glob("requirements*.txt"), *(ROOT / "functions").glob("requirements*.txt")]:
        assert "://" not in lock.read_text(), lock.name
        assert "index-url" not in lock.read_text().replace("--no-emit-index-url", ""), lock.name
