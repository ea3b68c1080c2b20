"""One request that has everything, and what each vendor is sent for it: written from the vendors' references.

`tests/explain/<vendor>.json` holds the model that is asked and all that `motes explain` shows; a file with a
dialect in its name is of another of the vendor's surfaces, which the model brings, or a `dialect` asks for.
"""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from motes.cli import main
from motes.dispatch import OWN_HEADERS
from motes.vendors.table import VENDORS

FOLDER = Path(__file__).parents[1] / "explain"
REQUEST = (FOLDER / "request.json").read_bytes()
GOLDEN = sorted(path for path in FOLDER.glob("*.json") if path.stem != "request")


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> Any:
    monkeypatch.setenv("MOTES_HOME", str(tmp_path))
    for name in ("MOTES_CONFIG", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(model: str, body: bytes = REQUEST) -> Any:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(body)))
        main(["explain", "--model", model])
        return json.loads(capfdbinary.readouterr().out)

    return run


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_request_with_everything_becomes_what_the_vendor_takes(explain: Any, path: Path) -> None:
    golden = json.loads(path.read_text())
    model, dialect = golden.pop("model"), golden.pop("dialect", None)
    asked = json.loads(REQUEST) | ({"motes": {"dialect": dialect}} if dialect else {})
    assert model.partition("/")[0] == path.stem.partition(".")[0]
    assert without_what_is_everywhere(explain(model, json.dumps(asked).encode())) == golden


def without_what_is_everywhere(shown: dict[str, Any]) -> dict[str, Any]:
    """What is shown, but for our own name and encoding, and where a row has no address, that it lacks one."""
    if "error" in shown:
        return shown
    for name in ("user-agent", "accept-encoding"):
        assert shown["headers"].pop(name) == OWN_HEADERS[name]
    return shown | {"warnings": [told for told in shown["warnings"] if " has no address: set " not in told]}


def test_every_row_has_its_golden_file() -> None:
    assert {path.stem for path in GOLDEN if "." not in path.stem} == set(VENDORS)
