"""The one output object: rich where a terminal is, plain where not, UTF-8 always, a remark once."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from motes.cli import main
from motes.cli.terminal import Terminal


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_styles_and_a_file_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen, file = Screen(), io.StringIO()
    for out in (screen, file):
        Terminal(out, io.StringIO()).line("It says [bold]so[/bold] 海", "bold")
    assert "\x1b[1m" in screen.getvalue()
    assert "[bold]so[/bold] 海" in screen.getvalue()
    assert file.getvalue() == "It says [bold]so[/bold] 海\n"


def test_a_remark_is_made_once_and_beside_the_result() -> None:
    out, err = io.StringIO(), io.StringIO()
    terminal = Terminal(out, err)
    for text in ("odd", "odd", "odder"):
        terminal.word(text)
    terminal.error("bad")
    assert out.getvalue() == ""
    assert err.getvalue() == "motes: odd\nmotes: odder\nmotes: error: bad\n"


def test_results_and_pieces_keep_their_order_and_are_utf_8() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    terminal = Terminal(out, io.StringIO())
    terminal.piece("Grüß ")
    terminal.data(b"Gott ")
    terminal.line("海")
    assert raw.getvalue() == "Grüß Gott 海\n".encode()


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: os.PathLike[str]) -> None:
    code = "import sys; from motes.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "replay", *["nowhere"] * 5000],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(20) == 1
    assert "Traceback" not in err


COMMANDS = (["demo"], ["chat", "hi"], ["check"], ["keys", "list"], ["replay", "nowhere"], ["explain"])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("sink", ["full", "closed"])
def test_output_that_cannot_be_written_gets_no_traceback(
    tmp_path: Path, command: list[str], sink: str
) -> None:
    code = "import sys; from motes.cli import main; sys.exit(main())"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            stdout=full if sink == "full" else None,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            preexec_fn=(lambda: os.close(1)) if sink == "closed" else None,
            cwd=tmp_path,
            env=os.environ | {"MOTES_HOME": str(tmp_path), "MOTES_API_KEY": "mine"},
            timeout=30,
            check=False,
        )
    err = done.stderr.decode()
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert ("cannot write to standard output: No space left on device" in err) is (sink == "full")


def test_no_command_shows_the_help_and_exits_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "replay" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("package", "command", "extra"),
    [("uvicorn", "serve", "gateway"), ("starlette", "demo", "gateway"), ("botocore", "keys list", "aws")],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    tmp_path: Path, package: str, command: str, extra: str
) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from motes.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MOTES_HOME": str(tmp_path)}
        | ({"MOTES_TABLE": "motes"} if extra == "aws" else {}),
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert f"this needs {package}, which is not installed: pip install 'motes[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
