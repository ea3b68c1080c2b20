"""Answers on a screen while they come, side by side where there are several; whole once they are there.

Draws with rich, at its own pace. Must never cost anything for a particle: what came is looked at when it is
drawn, and of a long answer only its end.
"""

from collections.abc import Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from motes import particles as p
from motes.cli.pane import Pane
from motes.cli.terminal import kept

_NARROW: Final = 28
# The prompt's line, the state's, and one to spare.
_OTHER_LINES: Final = 4


class LiveView:
    """See `View`."""

    def __init__(self, console: Console, *, unfold: bool) -> None:
        self._console = console
        self._unfold = unfold
        self._panes: Sequence[Pane] = ()
        self._live: Live | None = None

    def begin(self, panes: Sequence[Pane]) -> None:
        """See `View`."""
        self._panes = panes
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        with kept():
            self._live.start()

    def feed(self, index: int, particle: p.Particle) -> None:
        """See `View`."""

    def tick(self, now: float) -> None:
        """See `View`."""
        if self._live is not None:
            lines = max(self._console.size.height - _OTHER_LINES, 3)
            cells = [self._cell(pane, now, lines) for pane in self._panes]
            with kept():
                self._live.update(self._together(cells), refresh=True)

    def end(self, files: Sequence[Sequence[str]]) -> None:
        """See `View`."""
        with kept():
            if self._live is not None:
                self._live.stop()
            cells = [self._whole(pane, saved) for pane, saved in zip(self._panes, files, strict=True)]
            self._console.print(self._together(cells))

    @property
    def _is_wide(self) -> bool:
        return len(self._panes) > 1 and self._console.size.width // len(self._panes) >= _NARROW

    def _together(self, cells: Sequence[RenderableType]) -> RenderableType:
        if not self._is_wide:
            return Group(*cells)
        table = Table.grid(expand=True, padding=(0, 2, 0, 0))
        for _ in cells:
            table.add_column(ratio=1, overflow="fold")
        table.add_row(*cells)
        return table

    def _cell(self, pane: Pane, now: float, lines: int) -> RenderableType:
        """The end of what came, and how it goes."""
        share = lines if self._is_wide else lines // len(self._panes)
        return Group(*self._name(pane), self._tail(pane, max(share - 2, 1)), Text(pane.state(now), "dim"))

    def _whole(self, pane: Pane, saved: Sequence[str]) -> RenderableType:
        lines = [Text(line, "green") for line in saved]
        if pane.remark:
            lines.append(Text(pane.remark, "bold red"))
        return Group(*self._name(pane), self._body(pane), *lines, Text(pane.numbers(), "dim"), Text(""))

    def _name(self, pane: Pane) -> list[Text]:
        return [Text(pane.name, "bold underline")] if len(self._panes) > 1 else []

    def _tail(self, pane: Pane, lines: int) -> Text:
        width = max(self._console.size.width // (len(self._panes) if self._is_wide else 1) - 2, 10)
        body = self._body(pane, width * lines)
        wrapped = body.wrap(self._console, width, overflow="fold")
        return Text("\n").join(wrapped[-lines:]) if len(wrapped) > lines else body

    def _body(self, pane: Pane, chars: int | None = None) -> Text:
        """The parts, each on a line of its own; of each no more than its last `chars` characters."""
        body, after = Text(overflow="fold"), ""
        for style, text in pane.parts(unfold=self._unfold):
            shown = text if chars is None else text[-chars:]
            if body and (style or after):
                body.append("\n")
            body.append(shown, style or None)
            after = style
        return body
