"""The one place that writes to standard output and standard error.

Rich where a terminal is there and the package too, plain text where not. Must never write anything but
UTF-8, whatever the locale says: the output of `motes replay` is data. What cannot be written raises
`OutputLost`, which only `main` catches.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console


_CONTROLS: Final = {
    code: chr(code).encode("unicode_escape").decode()
    for code in (*range(0x20), *range(0x7F, 0xA0))
    if chr(code) not in "\n\t"
}


def harmless(text: str) -> str:
    """Text that a terminal shows and does not obey: what moves, colours or rings is written as its escape."""
    return text.translate(_CONTROLS)


class OutputLost(Exception):
    """Standard output takes no more: its reader has gone, or its disk is full. The cause says which."""


class Terminal:
    """Where a command speaks: results to standard output, words about them to standard error."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        # Neither is there where the command was started with it closed.
        self._out = out or sys.stdout or _nowhere()
        self._err = err or sys.stderr or _nowhere()
        self._console = _console(self._out)
        self._told: set[str] = set()

    @property
    def console(self) -> "Console | None":
        """What draws, where there is a terminal and rich. Draw within `kept`."""
        return self._console

    @property
    def is_screen(self) -> bool:
        """Whether somebody looks at it, so that what it is sent is obeyed."""
        return self._out.isatty()

    def data(self, data: bytes) -> None:
        """Bytes of a result, as they are. Call `flush` when they must be seen."""
        with kept():
            buffer = getattr(self._out, "buffer", None)
            if buffer is None:
                self._out.write(data.decode())
            else:
                self._out.flush()
                buffer.write(data)

    def flush(self) -> None:
        """Let everything written so far be seen."""
        with kept():
            self._out.flush()

    def piece(self, text: str, style: str = "") -> None:
        """A piece of a line, seen at once. `style` is a rich style, and nothing where output is plain."""
        if self._console is None:
            self.data(text.encode("utf-8", "replace"))
        else:
            with kept():
                self._console.print(text, style=style, end="", markup=False, highlight=False, soft_wrap=True)
        self.flush()

    def line(self, text: str = "", style: str = "") -> None:
        """A whole line of a result."""
        self.piece(f"{text}\n", style)

    def word(self, text: str) -> None:
        """A remark beside the result; the same one is made once."""
        if text not in self._told:
            self._told.add(text)
            self._say(text)

    def error(self, text: str) -> None:
        """Why the command failed."""
        self._say(f"error: {text}")

    def _say(self, text: str) -> None:
        data = f"motes: {text}\n".encode("utf-8", "replace")
        buffer = getattr(self._err, "buffer", None)
        if buffer is None:
            self._err.write(data.decode())
        else:
            self._err.flush()
            buffer.write(data)
        self._err.flush()


@contextmanager
def kept() -> Iterator[None]:
    """Tell a failure to write from every other failure of the system."""
    try:
        yield
    except OSError as error:
        raise OutputLost from error


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _console(out: TextIO) -> "Console | None":
    if not out.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=out)
