"""The start of the process: what is loaded, what goes wrong, what happens around a snapshot."""

import json
import os
import random
import re
import subprocess
import sys
from typing import get_args

import pytest

from fakes.serving import ASK, STREAM
from fakes.upstream import HELLO
from hosts.commands import caller, odd
from motes.dialects.base import DialectName

CHAT = "/v1/chat/completions"
# What a cold start must not pay for.
HEAVY = {"boto3", "botocore", "fastapi", "uvicorn", "uvloop", "aws_lambda_powertools", "moto", "openai"}
# The packages a start may load besides the standard library, and how many modules of our own. A package more
# is a decision, to be made here; what only some requests need is imported where they need it.
ALLOWED = {
    "anyio",
    "certifi",
    "h11",
    "httpcore",
    "httptools",
    "httpx",
    "idna",
    "mangum",
    "motes",
    "orjson",
    "pydantic_core",
    "starlette",
    "typing_extensions",
}
MODULES = 170
# What an interpreter loads by itself, whatever it runs.
HOOKS = {"__main__", "sitecustomize", "usercustomize"}
# What httpx and starlette load where it is installed; the artefact has none of it.
OPTIONAL = {
    "brotli",
    "brotlicffi",
    "click",
    "markdown_it",
    "mdurl",
    "multipart",
    "org",
    "pygments",
    "python_multipart",
    "rich",
    "sniffio",
    "socksio",
    "zstandard",
}
HOUSES = re.compile(r"motes\.dialects\.\w+\.|motes\.cli|motes\.demo")


def houses(names):
    """The dialects whose house is among these modules."""
    return {name.split(".")[2].replace("_", "-") for name in names} & set(get_args(DialectName))


def loaded(function):
    """Every module that was imported, as `-X importtime` tells it."""
    return set(re.findall(r"^import time: .*\| +(\S+)$", "\n".join(function.log), flags=re.MULTILINE))


def unasked_packages(names):
    """What is among these modules and nobody decided to load."""
    packages = {name.partition(".")[0] for name in names}
    return packages - sys.stdlib_module_names - HOOKS - OPTIONAL - ALLOWED


def test_nothing_is_loaded_before_the_first_request_that_it_may_not_need(launch):
    function = launch([sys.executable, "-X", "importtime", "-m", "motes.hosts.stream"]).warm()
    names = loaded(function)
    assert {
        "starlette.applications",
        "pydantic_core",
        "httpx",
        "motes.api.app",
        "motes.hosts.server",
    } <= names
    assert not names & HEAVY
    assert not [name for name in names if HOUSES.match(name)]
    assert unasked_packages(names) == set()
    assert len([name for name in names if name.startswith("motes.")]) <= MODULES


def test_only_the_house_that_is_asked_for_is_loaded(launch, upstream):
    upstream.play(*HELLO)
    function = launch(odd("counted")).warm()
    with caller(function) as client:
        before = client.get("/census").json()["houses"]
        client.post(CHAT, json=ASK)
        after = client.get("/census").json()["houses"]
    assert not houses(before)
    assert houses(after) == {"openai-chat"}


def test_a_stream_needs_no_package_that_the_start_may_not_load(launch, upstream):
    upstream.play(*HELLO)
    function = launch([sys.executable, "-X", "importtime", "-m", "motes.hosts.stream"]).warm()
    with caller(function) as client:
        assert "[DONE]" in client.post(CHAT, json=STREAM).text
    function.line("request")
    names = loaded(function)
    assert "motes.dialects.openai_chat" in names
    assert not names & HEAVY
    assert unasked_packages(names) == set()


def test_a_module_that_cannot_be_imported_is_told_to_the_platform(launch, tmp_path):
    (tmp_path / "starlette").mkdir()
    (tmp_path / "starlette" / "__init__.py").write_text("raise ImportError('half an artefact')")
    function = launch(environ={"PYTHONPATH": str(tmp_path)}).warm()
    error = function.environments[-1].init_error
    assert (error.type, json.loads(error.body)["errorMessage"]) == ("Motes.ImportError", "half an artefact")
    assert function.wait_for_exit() == 1
    line = function.line("init_failed")
    assert (line["level"], line["errorType"]) == ("CRITICAL", "ImportError")
    with caller(function) as client:
        assert client.get("/healthz").status_code == 502


def test_a_setting_that_cannot_be_is_told_to_the_platform(launch):
    function = launch(environ={"MOTES_HEARTBEAT_S": "-1"}).warm()
    error = function.environments[-1].init_error
    assert error.type == "Motes.PrepareError"
    assert "MOTES_HEARTBEAT_S" in json.loads(error.body)["errorMessage"]
    assert "GET /invocation/next" not in function.environments[-1].requests


def test_the_app_starts_once_and_before_the_first_invocation(launch):
    function = launch(odd()).warm()
    with caller(function) as client:
        states = [client.get("/echo").json()["state"] for _ in range(3)]
    assert states == [{"startups": 1}] * 3
    assert function.environments[-1].requests[0] == "GET /invocation/next"


def test_the_start_says_what_it_cost(gateway):
    line = gateway.line("ready")
    assert line["workers"] == 1
    assert 50 < line["cpu_ms"] < 20_000
    assert line["peak_kib"] > 10_000


def test_around_a_snapshot_all_is_loaded_before_and_made_anew_after(launch):
    function = launch(odd("loaded_dice"), snapstart=True).warm()
    environment = function.environments[-1]
    assert environment.requests == ["GET /restore/next"]
    function.restore()
    assert environment.requests == ["GET /restore/next", "GET /invocation/next"]
    with caller(function) as client:
        assert client.get("/echo").json()["state"] == {"startups": 1}
        assert client.get("/dice").json() != random.Random(7).random()
    assert sum('"built"' in line for line in function.log) == 2


def test_the_snapshot_has_all_that_a_start_without_one_loads(launch):
    traced = [sys.executable, "-X", "importtime", "-m", "motes.hosts.stream"]
    snapshot, plain = launch(traced, snapstart=True).warm(), launch(traced).warm()
    assert snapshot.environments[-1].requests == ["GET /restore/next"]
    assert loaded(snapshot) == loaded(plain)


def test_a_restore_that_fails_is_told_to_the_platform(launch):
    function = launch(odd("broken_by_the_restore"), snapstart=True).warm()
    function.restore()
    environment = function.environments[-1]
    assert environment.requests == ["GET /restore/next", "POST /restore/error"]
    assert environment.init_error.type == "Motes.OSError"
    assert function.wait_for_exit() == 1


def test_a_platform_that_is_gone_ends_the_process():
    environ = {**os.environ, "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:1"}
    done = subprocess.run(odd(), env=environ, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    told = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert told == ["ready", "runtime_gone", "shut_down"]


@pytest.mark.parametrize("value", ["", "1"])
def test_one_at_a_time_is_the_default(launch, value):
    function = launch(odd(), environ={"AWS_LAMBDA_MAX_CONCURRENCY": value}).warm()
    assert function.line("ready")["workers"] == 1
