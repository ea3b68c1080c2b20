"""The house keeps its own rules: sizes, words, completeness of tables, what a cold start may import."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from motes.dialects.base import Dialect, DialectName
from motes.dialects.registry import resolve

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "functions" / "motes"
FILES = sorted(SOURCE.rglob("*.py"))
DIALECTS = get_args(DialectName)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in FILES:
        yield path, ast.parse(path.read_text())


def functions() -> Iterator[tuple[str, int]]:
    """(where, lines without the docstring) of every function."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", _lines(node)


def _lines(node: Function) -> int:
    total = (node.end_lineno or 0) - node.lineno + 1
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        total -= (first.end_lineno or 0) - first.lineno + 1
    return total


def test_no_function_is_longer_than_sixty_lines_and_most_are_short() -> None:
    sizes = sorted(size for _, size in functions())
    assert [where for where, size in functions() if size > 60] == []
    assert sizes[len(sizes) // 2] <= 10
    assert sizes[len(sizes) * 9 // 10] <= 30


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    def lines(path: Path) -> int:
        return len(path.read_text().splitlines())

    assert [str(p) for p in FILES if lines(p) > 400] == []


def test_every_module_opens_with_what_it_is() -> None:
    assert [str(path) for path, tree in trees() if not ast.get_docstring(tree)] == []


def test_no_module_is_a_drawer_without_a_name() -> None:
    drawers = re.compile(r"(^|_)(utils?|helpers?|common|misc|managers?)(_|$)")
    assert [str(p) for p in FILES if any(drawers.search(part) for part in (p.stem, p.parent.name))] == []


def test_exceptions_are_caught_wholesale_at_the_two_boundaries_only() -> None:
    boundaries = (
        "api/boundary.py",
        "api/streaming.py",
        "cleaning.py",
        "cli/replay.py",
        "executor/execute.py",
        "executor/transforming.py",
        "hosts/server.py",
        "hosts/stream.py",
    )
    found = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                name = ast.unparse(node.type) if node.type else ""
                if name in ("", "Exception", "BaseException") and not str(path).endswith(boundaries):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_no_middleware_but_our_own_stands_between_a_chunk_and_its_reader() -> None:
    """Starlette's `BaseHTTPMiddleware` passes every chunk of every stream through a queue and a task."""
    found = [
        str(path)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and "starlette.middleware" in ast.unparse(node)
    ]
    assert found == []


def test_nothing_is_left_for_later() -> None:
    later = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert [str(p) for p in FILES if later.search(p.read_text())] == []


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_has_a_house_of_one_floor_plan(name: str) -> None:
    dialect = resolve(name)  # type: ignore[arg-type]
    assert isinstance(dialect, Dialect)
    assert dialect.name == name
    house = SOURCE / "dialects" / name.replace("-", "_")
    assert {"__init__.py", "events.py", "request.py", "parser.py"} <= {p.name for p in house.iterdir()}


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_has_recordings(name: str) -> None:
    assert len(list((ROOT / "tests" / "wire" / name).glob("*/response.bin"))) >= 10


def test_every_folder_under_dialects_is_a_dialect() -> None:
    houses = {
        p.name.replace("_", "-")
        for p in (SOURCE / "dialects").iterdir()
        if p.is_dir() and p.name != "__pycache__"
    }
    assert houses == set(DIALECTS)


def imported_by(statement: str) -> set[str]:
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); {statement}; print('\\n'.join(sys.modules))"
    )
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


@pytest.mark.parametrize("name", DIALECTS)
def test_only_the_house_that_is_used_is_imported(name: str) -> None:
    modules = imported_by(f"from motes.dialects.registry import resolve; resolve({name!r})")
    loaded = {other for other in DIALECTS if f"motes.dialects.{other.replace('-', '_')}" in modules}
    assert loaded == {name}


def test_the_pure_wing_loads_no_network_and_no_server() -> None:
    modules = imported_by("import motes.dispatch, motes.pump, motes.reassembly, motes.egress.openai_chat")
    assert not modules & {"httpx", "starlette", "uvicorn", "boto3", "fastapi", "asyncio"}


def test_each_vendor_has_one_row_and_says_where_its_key_lies() -> None:
    from motes.vendors.table import ALIASES, VENDORS

    for vendor_id, vendor in VENDORS.items():
        assert vendor.id == vendor_id
        assert vendor.surfaces
        assert vendor.key_name or not vendor.key_required
        assert vendor.base_url.startswith("https://") or not vendor.key_required or not vendor.base_url
    assert set(ALIASES.values()) <= set(VENDORS)
    assert not set(ALIASES) & set(VENDORS)
