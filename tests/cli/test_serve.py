"""`motes serve` as a process of its own: the first start, the second, and what it says if it cannot."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx

PATIENCE = 30


@contextmanager
def served(home, *options, **environ):
    """The process, the lines it greets with, and its base URL."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("MOTES_")}
    process = subprocess.Popen(
        [sys.executable, "-c", "from motes.cli import main; raise SystemExit(main())", "serve", *options],
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


def test_a_key_of_the_environment_is_enough(tmp_path):
    with served(tmp_path, "--port", "0", MOTES_API_KEY="mine") as (_, greeting, url):
        assert not any("mk-" in line for line in greeting)
        assert httpx.get(f"{url}/models", headers={"x-api-key": "mine"}, trust_env=False).status_code == 200
        assert httpx.get(f"{url}/models", trust_env=False).status_code == 401


def test_an_interrupt_ends_it_in_good_order(tmp_path):
    with served(tmp_path, "--port", "0") as (process, _, _):
        pass
    assert process.returncode in (0, 130)


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from motes.cli import main; raise SystemExit(main())",
                "serve",
                "--port",
                port,
            ],
            cwd=tmp_path,
            env=os.environ | {"MOTES_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
