"""The short way of an answer's words: in the callback of the read that brings them, to whoever takes them.

Most reads are a few words, and whoever reads the run waits for them. Then nobody is woken for them: each
layer lets them pass, and the last one takes them. Must never carry anything but text, nor let anything
overtake what came before: who cannot take words now says so, and they go the long way, as all else does.
"""

from collections.abc import Callable
from typing import TypeAlias

from motes.executor.run import Batch

Take: TypeAlias = Callable[[Batch], bool]
"""Whether words were taken. Of those that were not, nothing was kept."""


class Lane:
    """One run's. `take` is set by whoever reads the run, for as long as he waits for it."""

    __slots__ = ("take",)

    def __init__(self) -> None:
        self.take: Take = shut


def shut(_: Batch) -> bool:
    """Nobody takes anything now."""
    return False
