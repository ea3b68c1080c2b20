"""`motes serve` as a process of its own: the first start, the second, and what it says if it cannot."""

import asyncio
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import get_args

import httpx
import pytest

from fakes.serving import AUTH, KEY, STREAM, vendor_row
from fakes.upstream import HELLO, Upstream
from motes.callers import KeyRing
from motes.cli import main
from motes.dialects.base import DialectName
from motes.store.files import FileKeys

PATIENCE = 30
COMMAND = [sys.executable, "-c", "from motes.cli import main; raise SystemExit(main())", "serve"]

# Writes down what is loaded when it ends.
CENSUS = """
import atexit, os, pathlib, sys
atexit.register(lambda: pathlib.Path(os.environ["CENSUS"]).write_text("\\n".join(sys.modules)))
from motes.cli import main
raise SystemExit(main())
"""
# The packages that a stream from a vendor without TLS may load besides the standard library. A package more is
# a decision, to be made here; what only some requests need is imported where they need it. uvicorn brings click.
PACKAGES = {
    "anyio",
    "click",
    "httptools",
    "httpx",
    "idna",
    "motes",
    "multipart",
    "orjson",
    "pydantic_core",
    "python_multipart",
    "sniffio",
    "starlette",
    "typing_extensions",
    "uvicorn",
    "uvloop",
}
# What an interpreter loads by itself, and what httptools registers beside it.
HOOKS = re.compile(r"__main__|__mp_main__|sitecustomize|usercustomize|_?cython_\w+")


@contextmanager
def served(home, *options, command=COMMAND, **environ):
    """The process, the lines it greets with, and its base URL."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("MOTES_")}
    process = subprocess.Popen(
        [*command, *options],
        cwd=home,
        env=known | {"MOTES_HOME": str(home / "state")} | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        greeting = []
        while not greeting or "curl" not in greeting[-1]:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            greeting.append(line)
        yield process, greeting, re.search(r"http://\S+", greeting[0]).group()
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def test_the_first_start_makes_a_key_and_its_curl_line_streams(tmp_path):
    with served(tmp_path, "--port", "0") as (_, greeting, url):
        words = shlex.split(greeting[-1])
        headers = dict(h.split(": ", 1) for h in (words[i + 1] for i, w in enumerate(words) if w == "-H"))
        body = json.loads(words[words.index("-d") + 1])
        target = words[words.index("-N") + 1]
        with httpx.stream(
            "POST", target, headers=headers, json=body, timeout=20, trust_env=False
        ) as response:
            lines = list(response.iter_lines())
        listed = httpx.get(f"{url}/models", headers=headers, trust_env=False).json()["data"]
    assert response.status_code == 200
    assert lines[-2] == "data: [DONE]"
    assert any(model["id"] == "demo/slow" for model in listed)
    key = headers["Authorization"].removeprefix("Bearer ")
    state = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert key.encode() not in state


def test_the_second_start_makes_no_other_key(tmp_path):
    with served(tmp_path, "--port", "0") as (_, first, _):
        assert any("mk-" in line for line in first)
    with served(tmp_path, "--port", "0") as (_, second, _):
        assert not any("mk-" in line for line in second)
        assert "motes keys new" in "".join(second)


def as_a_shell_has_it(line, **environ):
    """The words of a command line as a shell expands them."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\n' {line.strip().removeprefix('curl ')}"],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_key_of_the_environment_is_enough_and_the_curl_line_takes_it_from_there(tmp_path):
    with served(tmp_path, "--port", "0", MOTES_API_KEY="mine") as (_, greeting, url):
        assert not any("mk-" in line for line in greeting)
        assert "API key          the one in MOTES_API_KEY\n" in greeting
        assert "Authorization: Bearer mine" in as_a_shell_has_it(greeting[-1], MOTES_API_KEY="mine")
        assert "mine" not in "".join(greeting)
        assert httpx.get(f"{url}/models", headers={"x-api-key": "mine"}, trust_env=False).status_code == 200
        assert httpx.get(f"{url}/models", trust_env=False).status_code == 401


def test_a_line_break_behind_the_environments_key_is_no_part_of_it(tmp_path):
    with served(tmp_path, "--port", "0", MOTES_API_KEY="mine\n") as (_, _, url):
        assert httpx.get(f"{url}/models", headers={"x-api-key": "mine"}, trust_env=False).status_code == 200


@pytest.mark.parametrize("model", ["demo/it's", 'demo/a"b', "demo/$HOME"])
def test_whatever_the_default_model_is_called_the_curl_line_is_one_a_shell_can_read(tmp_path, model):
    (tmp_path / "motes.toml").write_text(f"default_model = {json.dumps(model)}\n")
    with served(tmp_path, "--port", "0") as (_, greeting, _):
        words = as_a_shell_has_it(greeting[-1])
    assert json.loads(words[words.index("-d") + 1])["model"] == model


def test_where_every_key_is_disabled_another_one_is_made_and_it_says_why(tmp_path):
    keys = KeyRing(FileKeys(tmp_path / "state" / "keys.json"))
    asyncio.run(keys.new("first"))
    asyncio.run(keys.disable("first"))
    with served(tmp_path, "--port", "0") as (_, greeting, url):
        secret = next(line for line in greeting if "mk-" in line).split()[-1]
        assert "every other key is disabled" in "".join(greeting)
        assert httpx.get(f"{url}/models", headers={"x-api-key": secret}, trust_env=False).status_code == 200
    assert sorted(key.disabled for key in asyncio.run(keys.list())) == [False, True]


def test_an_interrupt_ends_it_in_good_order(tmp_path):
    with served(tmp_path, "--port", "0") as (process, _, _):
        pass
    assert process.returncode in (0, 130)


def refused(tmp_path, *options, **environ):
    """What it says where it does not start."""
    done = subprocess.run(
        [*COMMAND, *options],
        cwd=tmp_path,
        env=os.environ | {"MOTES_HOME": str(tmp_path)} | environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused(tmp_path, "--port", port)
    assert said == f"motes: error: cannot listen on 127.0.0.1:{port}: Address already in use\n"


@pytest.mark.parametrize("port", ["65536", "-1", "1e3", "²", ""])
def test_a_port_that_is_none_is_refused(port, capfd):
    with pytest.raises(SystemExit) as error:
        main(["serve", "--port", port])
    assert error.value.code == 2
    assert "a port is a number from 0 to 65535" in capfd.readouterr().err


@pytest.mark.parametrize("host", ["é" + "x" * 70, "1.2.3.4.5", "x" * 300])
def test_a_host_that_is_none_is_named(tmp_path, host):
    assert f"cannot listen on {host}:8000: " in refused(tmp_path, "--host", host)


def test_a_home_that_is_a_file_is_named(tmp_path):
    home = tmp_path / "file"
    home.touch()
    said = refused(tmp_path, "--port", "0", MOTES_HOME=str(home))
    assert said == f"motes: error: {home}/keys.json: cannot be read: Not a directory\n"


def test_where_nobody_can_read_the_greeting_it_ends_in_good_order(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "--port", "0"],
            cwd=tmp_path,
            env=os.environ | {"MOTES_HOME": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "cannot write to standard output: No space left on device" in done.stderr


def test_a_stream_loads_no_package_that_it_does_not_need_and_no_house_but_its_own(tmp_path):
    census = tmp_path / "census"
    command = [sys.executable, "-c", CENSUS, "serve"]
    words = {"MOTES_API_KEY": KEY, "MOTES_PRICE_LIST": "none", "CENSUS": str(census)}
    with Upstream() as upstream:
        (tmp_path / "motes.toml").write_text(vendor_row(upstream.base_url))
        upstream.play(*HELLO)
        with (
            served(tmp_path, "--port", "0", command=command, **words) as (_, _, url),
            httpx.Client(headers=AUTH, timeout=20, trust_env=False) as caller,
        ):
            assert "[DONE]" in caller.post(f"{url}/chat/completions", json=STREAM).text
    names = set(census.read_text().split("\n"))
    packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert {name for name in packages if not HOOKS.fullmatch(name)} <= PACKAGES
    assert "motes.demo.speaker" not in names
    houses = {name.split(".")[2] for name in names if name.startswith("motes.dialects.")}
    assert houses & {word.replace("-", "_") for word in get_args(DialectName)} == {"openai_chat"}
