"""A process at a terminal of its own: a real pty that it controls, so that Ctrl-C is a key and not a call."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

CTRL_C, CTRL_D = "\x03", "\x04"
_PATIENCE = 20.0
_CSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\x1b\][^\x07]*\x07")


class AtTerminal:
    """`with AtTerminal(command, env, cwd) as screen:` runs it; what it wrote is in `seen`."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, size: tuple[int, int] = (24, 80)
    ) -> None:
        self._command, self._cwd, self._size = command, cwd, size
        self._env = {"TERM": "xterm-256color", **env}
        self.seen = ""

    def __enter__(self) -> "AtTerminal":
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *self._size, 0, 0))

        def own_the_terminal() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            self._command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._env,
            cwd=self._cwd,
            start_new_session=True,
            preexec_fn=own_the_terminal,  # noqa: PLW1509 (it takes no lock)
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """What was written, without what moves or colours."""
        return _CSI.sub("", self.seen)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def until(self, pattern: str, after: int = 0) -> int:
        """Read until the text has that, `after` that place of it; gives the place after it."""
        limit = time.monotonic() + _PATIENCE
        while (found := re.compile(pattern).search(self.text, after)) is None:
            if not self._read(limit):
                raise AssertionError(f"{pattern!r} did not come: {self.text[after:]!r}")
        return found.end()

    def until_asked(self, prompt: str, after: int = 0) -> int:
        """`until`, and until the process waits for keys. A Ctrl-C between the two is lost in Python's readline,
        which looks for signals before it begins to wait; nobody but a test is that fast.
        """
        place = self.until(prompt, after)
        limit = time.monotonic() + _PATIENCE
        while self._state() != "S" and time.monotonic() < limit:
            time.sleep(0.01)
        return place

    def _state(self) -> str:
        """`S` where it sleeps (proc(5), /proc/pid/stat)."""
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def end(self) -> int:
        """Read to the end; gives the exit status."""
        limit = time.monotonic() + _PATIENCE
        while self._read(limit):
            pass
        return self.process.wait(_PATIENCE)

    def _read(self, limit: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(limit - time.monotonic(), 0))
        try:
            data = os.read(self._master, 65536) if ready else b""
        except OSError:
            # Linux tells the end of a terminal so.
            data = b""
        self.seen += data.decode("utf-8", "replace")
        return bool(data)
