"""The transcript of a chat: Markdown, added to the end of a file, turn by turn.

Must never hold a turn back: what was said is on the disk before the next question is asked.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from motes.cli.pane import Pane


class Transcript:
    """One file. Raises OSError where it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._write("")

    def asked(self, question: str, now: datetime) -> None:
        """What the user said."""
        self._write(f"## you, {now.isoformat(sep=' ', timespec='seconds')}\n\n{question}\n\n")

    def answered(self, pane: Pane, files: Iterable[str], numbers: str) -> None:
        """What a model said, and how it ended."""
        lines = [f"## {pane.name}", ""]
        for style, text in pane.parts(unfold=True):
            quoted = "\n".join(f"> {line}" for line in text.splitlines())
            lines += [text if not style else quoted, ""]
        lines += [f"> {line}" for line in files]
        lines += [f"*{pane.remark}*", ""] if pane.remark else []
        lines += [f"*{numbers}*", ""] if numbers else []
        self._write("\n".join(lines) + "\n")

    def _write(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)
