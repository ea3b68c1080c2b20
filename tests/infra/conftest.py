import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from infra.sam import HOST_PLATFORM, HOST_PYTHON, Sam
from infra.templates import OBSERVABILITY, STORAGE, TEMPLATE, read

TRANSLATE = Path(__file__).parent / "translate.py"


@pytest.fixture(scope="session")
def sam(tmp_path_factory: pytest.TempPathFactory) -> Sam:
    found = shutil.which("sam")
    if found is None:
        pytest.skip("needs the AWS SAM CLI: `uv tool install aws-sam-cli`, and `sam` on the PATH")
    return Sam.at(Path(found).resolve(), tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="session")
def transformed(sam: Sam) -> dict[str, Any]:
    """The template as CloudFormation sees it."""
    return json.loads(sam.python(str(TRANSLATE), str(TEMPLATE)))


@pytest.fixture(scope="session")
def storage() -> dict[str, Any]:
    return read(STORAGE)


@pytest.fixture(scope="session")
def observability() -> dict[str, Any]:
    return read(OBSERVABILITY)


@pytest.fixture(scope="session")
def shipped(sam: Sam, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artefacts that are deployed, a folder a function."""
    return sam.build(tmp_path_factory.mktemp("shipped"))


@pytest.fixture(scope="session")
def native(sam: Sam, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artefacts for this machine and this Python: the same builder, another target."""
    folder = tmp_path_factory.mktemp("native")
    return sam.build(folder, MOTES_PLATFORM=HOST_PLATFORM, MOTES_PYTHON=HOST_PYTHON)
