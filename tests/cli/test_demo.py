"""`motes demo` as a user runs it: a process of its own, real sockets, and a vendor that can be killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from motes import particles as p
from motes.cli.show import Show
from motes.cli.terminal import Terminal

# A shell's background job ignores interrupts, and so do its children; a person at a terminal has them.
INTERRUPTIBLE = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{INTERRUPTIBLE}; from motes.cli import main; sys.exit(main())", "demo"]
DIALECTS = ("openai-chat", "anthropic-messages", "gemini-generate")


def environ(home: Path) -> dict[str, str]:
    """A user with a proxy, a broken configuration and an empty home."""
    config = home / "motes.toml"
    config.write_text("this is no toml")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MOTES_CONFIG": str(config),
        "HTTP_PROXY": "http://127.0.0.1:9",
        "PYTHONUNBUFFERED": "1",
    }


def started(home: Path, *args: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, *args],
        env=environ(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Any]:
    processes: list[subprocess.Popen[bytes]] = []

    def start(*args: str) -> "subprocess.Popen[bytes]":
        processes.append(started(tmp_path, *args))
        return processes[-1]

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def read_until(stream: IO[bytes], pattern: str) -> re.Match[str]:
    came = b""
    while data := os.read(stream.fileno(), 4096):
        came += data
        if found := re.search(pattern, came.decode("utf-8", "replace")):
            return found
    raise AssertionError(f"{pattern!r} did not come: {came!r}")


def gone(pid: int) -> bool:
    """Whether a process has ended, within five seconds."""
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_one_answer_streams_in_each_dialect_and_leaves_nothing_behind(demo: Any, tmp_path: Path) -> None:
    began = time.monotonic()
    process = demo("Wer da, 海?")
    out, err = process.communicate(timeout=30)
    text = out.decode()
    assert (process.returncode, err) == (0, b"")
    assert time.monotonic() - began < 20
    sections = re.split(r"^(\S+)  \(demo", text, flags=re.M)[1:]
    assert tuple(sections[::2]) == DIALECTS
    for answer in sections[1::2]:
        for shown in ("thinks", "says  You asked: “Wer da, 海?”", "calls  get_time {", "cites  Mote", "❤"):
            assert shown in answer
    assert "motes serve" in text.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["motes.toml"]
    assert gone(int(re.search(r"process (\d+)", text)[1]))  # type: ignore[index]


def test_a_vendor_killed_before_it_is_asked_is_an_error_with_exit_1(demo: Any) -> None:
    process = demo()
    os.kill(int(read_until(process.stdout, r"process (\d+)\)")[1]), signal.SIGKILL)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "the demo vendor has died" in err.decode()
    assert "Traceback" not in err.decode()


def test_a_vendor_killed_in_the_middle_of_an_answer_is_an_error_with_exit_1(demo: Any) -> None:
    process = demo()
    pid = int(read_until(process.stdout, r"process (\d+)\)(.|\n)*thinks")[1])
    os.kill(pid, signal.SIGKILL)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "stream_truncated" in err.decode()
    assert "motes serve" not in out.decode()


def test_an_interrupt_ends_everything(demo: Any) -> None:
    process = demo()
    pid = int(read_until(process.stdout, r"process (\d+)\)(.|\n)*thinks")[1])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert gone(pid)


def shown(*particles: p.Particle, capfd: Any) -> tuple[Show, str]:
    show = Show(Terminal())
    for particle in particles:
        show.feed(particle)
    return show, capfd.readouterr().out


def test_only_what_came_is_shown_and_remembered(capfd: Any) -> None:
    show, out = shown(
        p.Text("Hi [bold]"), p.Text(" there"), p.Heartbeat(), p.End("done-dialect", "ok"), capfd=capfd
    )
    assert show.seen == {"text", "heartbeat"}
    assert show.failure is None
    assert out == "    says  Hi [bold] there\n   waits  ❤ \n"


def test_an_end_without_a_stop_is_a_failure_with_its_reason(capfd: Any) -> None:
    issue = p.Issue("dispatch-read", "the line was cut")
    show, _ = shown(p.Text("Hi"), issue, p.End("issue-dispatch-rpc"), capfd=capfd)
    assert show.failure == "the line was cut (dispatch-read)"
    show, _ = shown(p.End("done-dispatch-closed"), capfd=capfd)
    assert show.failure
