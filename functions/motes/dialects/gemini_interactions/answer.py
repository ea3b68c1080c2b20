"""What the steps of one run share: how text and its sources are said, and the operations at work.

Must never leave an operation at work behind a run that is over, and never tell a source twice for one place.
"""

from dataclasses import replace
from typing import Final

from motes import particles as p
from motes.dialects.gemini_interactions.citations import NO_SOURCES, Places, source_of
from motes.dialects.gemini_interactions.fields import NOTHING, Json, text
from motes.transmitter import Emitter

_MAX_LABEL: Final = 80
_MAX_DETAIL: Final = 240
_MOST: Final = 20


class Answer:
    """One answer of one upstream."""

    def __init__(self) -> None:
        self.thoughts = 0
        """Blocks of reasoning so far."""
        self.step_error: Json = NOTHING
        """Why a step failed, where one did."""
        self.is_agents = False
        """Whether an agent answers, who has tools of its own."""
        self.answered: set[str] = set()
        """Calls whose results the vendor tells itself, by id."""
        self.asked: dict[str, tuple[str, str]] = {}
        """Calls of an agent that have no result yet: name and arguments by id."""
        self._parent: str | None = None
        self._spoken = 0
        self._numbers: dict[tuple[str, str], int] = {}
        self._cited: set[tuple[str, str, int | None, int | None]] = set()
        self._at_work: dict[str, p.Operation] = {}

    @property
    def spoken(self) -> int:
        """Characters of answer text so far."""
        return self._spoken

    def say(self, words: str, out: Emitter) -> None:
        """More answer text."""
        self._spoken += len(words)
        out.text(words)

    def cite(self, note: Json, places: Places, out: Emitter) -> None:
        """One source, with its number; the same source has the same number everywhere."""
        found = source_of(note, places)
        if found is None:
            if text(note, "type") not in NO_SOURCES:
                out.warn("unknown_annotation", "an annotation that names no source was skipped")
            return
        source = (found.url, found.document or "")
        key = (*source, found.start, found.end)
        if key not in self._cited:
            self._cited.add(key)
            number = self._numbers.setdefault(source, len(self._numbers) + 1)
            out.add(replace(found, number=number))

    def begin_run(self, id: str, kind: p.OperationKind, words: str, out: Emitter) -> None:
        """The run as a whole is an operation, and what it does is part of it."""
        if id and self._parent is None:
            self.work(p.Operation(id, words, kind), out)
            self._parent = id

    def work(self, operation: p.Operation, out: Emitter) -> None:
        """An operation begins, goes on or ends; no more of it is told than an excerpt."""
        told = replace(
            operation,
            text=_short(operation.text, _MAX_LABEL),
            parent_id=self._parent,
            inputs=_excerpts(operation.inputs),
            outputs=_excerpts(operation.outputs),
        )
        if told == self._at_work.get(told.id):
            return
        if told.state is None:
            self._at_work[told.id] = told
        else:
            self._at_work.pop(told.id, None)
        out.add(told)

    def working(self, id: str) -> p.Operation | None:
        """An operation that is at work."""
        return self._at_work.get(id)

    def end_work(self, state: p.OperationState, out: Emitter) -> None:
        """The run is over, and so is whatever it was at; the run itself last."""
        for operation in [*self._at_work.values()][::-1]:
            out.add(replace(operation, state=state))
        self._at_work.clear()


def _excerpts(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_short(word, _MAX_DETAIL) for word in words[:_MOST])


def _short(words: str, limit: int) -> str:
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
