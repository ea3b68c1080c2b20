"""What the client asks of those who use it: few packages, and types that mypy can check."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Of the gateway, of direct mode, of requests that are checked: nobody needs them to read a stream.
NOT_LOADED = {
    "boto3",
    "botocore",
    "fastapi",
    "h11",
    "starlette",
    "uvicorn",
    "motes.api",
    "motes.chat",
    "motes.client.direct",
    "motes.client.openai_stream",
    "motes.dispatch",
    "motes.executor",
    "motes.hosts",
    "motes.runs",
    "motes.settings",
    "motes.store",
    "motes.vendors",
}
# Direct mode has the vendors and the executor, and nothing of a server.
NOT_OF_DIRECT = {
    "boto3",
    "fastapi",
    "starlette",
    "uvicorn",
    "motes.api",
    "motes.hosts",
    "motes.runs",
    "motes.store",
}


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sys.modules, sep='\\n')"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_importing_the_client_loads_nothing_of_a_gateway() -> None:
    assert not loaded_by("from motes.client import AsyncClient, Client") & NOT_LOADED


def test_direct_mode_loads_nothing_of_a_server() -> None:
    assert not loaded_by("from motes.client import AsyncClient; AsyncClient(direct=True)") & NOT_OF_DIRECT


@pytest.mark.parametrize("name", ["AsyncClient", "Client", "Stream", "Scatter", "Message"])
def test_what_people_use_explains_itself(name: str) -> None:
    from motes import client

    thing = getattr(client, name)
    public = [member for key, member in vars(thing).items() if not key.startswith("_") and callable(member)]
    assert thing.__doc__
    assert all(member.__doc__ for member in public)


def test_a_users_program_passes_mypy_strictly() -> None:
    program = ROOT / "tests" / "client" / "user_program.py"
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        str(program),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
