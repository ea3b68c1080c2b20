"""How a chat's answers are shown: for a pipe as text or as JSON lines. For a screen, see `live`.

Must never put a word beside the answer on standard output: what is not the answer goes to standard error.
"""

from collections.abc import Sequence
from typing import Protocol

from motes import jsontext
from motes import particles as p
from motes.cli.pane import Pane
from motes.cli.terminal import Terminal, harmless
from motes.codec import to_wire
from motes.egress.message_json import message_json


class View(Protocol):
    """Shows one turn: `begin`, then `feed` and `tick` as it goes, then `end`, whatever happened."""

    def begin(self, panes: Sequence[Pane]) -> None:
        """A turn begins."""
        ...

    def feed(self, index: int, particle: p.Particle) -> None:
        """One more particle of the pane with that index, which has it already."""
        ...

    def tick(self, now: float) -> None:
        """Time has passed."""
        ...

    def end(self, files: Sequence[Sequence[str]]) -> None:
        """The turn is over; `files` tells what was saved, by pane."""
        ...


class TextView:
    """The answer as text: piece by piece of one model, one after the other of several."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._panes: Sequence[Pane] = ()
        self._shown = harmless if terminal.is_screen else str

    def begin(self, panes: Sequence[Pane]) -> None:
        """See `View`."""
        self._panes = panes

    def feed(self, index: int, particle: p.Particle) -> None:  # noqa: ARG002 (there is one, or none is shown yet)
        """See `View`."""
        if len(self._panes) > 1:
            return
        if isinstance(particle, p.Text | p.Refusal):
            self._terminal.piece(self._shown(particle.text))
        elif isinstance(particle, p.RetryReset):
            self._terminal.word(f"again: {harmless(particle.reason)}")

    def tick(self, now: float) -> None:
        """See `View`."""

    def end(self, files: Sequence[Sequence[str]]) -> None:
        """See `View`."""
        for pane, saved in zip(self._panes, files, strict=True):
            if len(self._panes) > 1:
                self._terminal.line(f"== {pane.name}")
                self._terminal.piece(self._shown(pane.message.text or pane.message.refusal))
            self._terminal.line()
            for style, text in pane.parts():
                if style:
                    self._terminal.word(text)
            for line in saved:
                self._terminal.word(line)
            for remark in (pane.remark, pane.numbers()):
                if remark:
                    self._terminal.word(f"{pane.name}: {remark}")


class ParticleView:
    """Every particle as one JSON line, at once; of several models, each beside the model's name."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._panes: Sequence[Pane] = ()

    def begin(self, panes: Sequence[Pane]) -> None:
        """See `View`."""
        self._panes = panes

    def feed(self, index: int, particle: p.Particle) -> None:
        """See `View`."""
        wire = to_wire(particle)
        several = len(self._panes) > 1
        row = {"model": self._panes[index].name, "particle": wire} if several else wire
        self._terminal.data(jsontext.dump_bytes(row) + b"\n")
        self._terminal.flush()

    def tick(self, now: float) -> None:
        """See `View`."""

    def end(self, files: Sequence[Sequence[str]]) -> None:
        """See `View`."""


class MessageView:
    """Every message as one JSON line, when all are there."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._panes: Sequence[Pane] = ()

    def begin(self, panes: Sequence[Pane]) -> None:
        """See `View`."""
        self._panes = panes

    def feed(self, index: int, particle: p.Particle) -> None:
        """See `View`."""

    def tick(self, now: float) -> None:
        """See `View`."""

    def end(self, files: Sequence[Sequence[str]]) -> None:
        """See `View`."""
        for pane, saved in zip(self._panes, files, strict=True):
            told = message_json(pane.message, visible=pane.has_begun)
            row = {"asked": pane.name, "outcome": pane.message.outcome, **told, "files": list(saved)}
            self._terminal.data(jsontext.dump_bytes(row) + b"\n")
        self._terminal.flush()
