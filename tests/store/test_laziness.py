"""What a cold start may not load: the SDK comes with the first question."""

import os
import subprocess
import sys

import pytest

SDK = ("boto3", "botocore", "urllib3", "aws_lambda_powertools", "genai_prices", "sqlite3")


def loaded(statement, **environ):
    code = f"import os, sys\nfrom pathlib import Path\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environ, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import motes.store.opening, motes.store.dynamo, motes.callers, motes.credentials, motes.aws",
        "from motes.api.app import create_app\n"
        "from motes.api.gateway import open_gateway\n"
        "from motes.settings import load_settings\n"
        "create_app(open_gateway(load_settings(os.environ, Path.cwd()), os.environ))",
        "import motes.hosts.cleanup",
    ],
)
def test_a_process_that_has_not_been_asked_has_not_loaded_the_sdk(tmp_path, statement):
    environ = {"MOTES_HOME": str(tmp_path), "MOTES_TABLE": "motes", "MOTES_KEY_PATH": "/motes"}
    modules = loaded(statement, **environ)
    assert "motes" in modules
    assert not modules & set(SDK)


def test_the_cleanup_loads_next_to_nothing(tmp_path):
    assert not loaded("import motes.hosts.cleanup") & {"httpx", "starlette", "pydantic", "fastapi", "asyncio"}


def test_a_process_with_a_table_loads_no_store_of_files_and_no_work_on_runs(tmp_path):
    opened = (
        "from motes.aws import AWS\n"
        "from motes.settings import load_settings\n"
        "from motes.store.opening import open_stores\n"
        "open_stores(load_settings(os.environ, Path.cwd()), AWS())"
    )
    modules = loaded(opened, MOTES_HOME=str(tmp_path), MOTES_TABLE="motes")
    assert "motes.store.dynamo_runs" in modules
    assert not modules & {"motes.store.sqlite", "motes.store.files", "motes.store.dynamo_run_table"}
    assert "motes.store.sqlite" in loaded(opened, MOTES_HOME=str(tmp_path), MOTES_TABLE="")
