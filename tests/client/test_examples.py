"""The examples in the client's docstrings, and in the README, are run as they stand."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from client.conftest import KEY
from motes import client

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(.*?)```", re.S)
MODULES = sorted(module.name for module in pkgutil.iter_modules(client.__path__, "motes.client."))
WITH_EXAMPLES = [
    "motes.client",
    "motes.client.blocking",
    "motes.client.client",
    "motes.client.direct",
    "motes.client.scatter",
    "motes.client.stream",
]


def examples() -> dict[str, str]:
    """The program of every docstring that has one, by its module; and the README's."""
    found = {}
    for name in ["motes.client", *MODULES]:
        blocks = BLOCK.findall(importlib.import_module(name).__doc__ or "")
        if blocks:
            found[name] = "\n".join(blocks)
    section = (ROOT / "README.md").read_text().split("### From Python")[1].split("\n##")[0]
    readme = "\n".join(BLOCK.findall(section))
    return found | {"README": readme.replace('"http://127.0.0.1:8000/v1", "mk-…"', "")}


def test_what_people_use_has_an_example() -> None:
    assert set(WITH_EXAMPLES) <= set(examples())


@pytest.mark.parametrize("name", sorted(examples()))
async def test_an_example_runs(
    name: str, gateway: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MOTES_BASE_URL", gateway)
    monkeypatch.setenv("MOTES_API_KEY", KEY)
    monkeypatch.setenv("MOTES_HOME", str(tmp_path))
    code = compile(examples()[name], name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, {"__name__": name})  # noqa: S307 (our own docstrings)
    if inspect.isawaitable(result):
        await result
