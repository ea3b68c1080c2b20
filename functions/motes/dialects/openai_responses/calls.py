"""The output items that are calls of tools, and among them those the client answers.

A call is told as soon as its name is known, its arguments piece by piece. Must never tell arguments twice,
and never lose those that only the whole call holds. Source: OpenAI API reference, "Responses", items of type
`function_call` and `custom_tool_call` (read 2026-11-29).
"""

from motes.dialects.openai_responses.answer import Answer
from motes.dialects.openai_responses.fields import Json, json_text, text
from motes.dialects.openai_responses.items import Item
from motes.dialects.openai_responses.said import Said
from motes.transmitter import Emitter


class Called(Item):
    """A call of any tool: the client's, or one the vendor runs."""

    def piece(self, event: Json, out: Emitter) -> None:
        """More of what the tool is called with."""

    def complete(self, event: Json, out: Emitter) -> None:
        """All that the tool is called with."""

    def progress(self, step: str, event: Json, out: Emitter) -> None:
        """A step of a tool the vendor runs."""


class CallItem(Called):
    """A call of the client's tool: a function, or a free-form tool with `input` instead of arguments.

    It is told as soon as its name is known, its arguments piece by piece.
    """

    def __init__(self, answer: Answer, member: str = "arguments") -> None:
        super().__init__(answer)
        self._member = member
        self._name = ""
        self._said = Said()
        self._early = ""
        self._address: str | None = None

    def add(self, raw: Json, out: Emitter) -> None:
        """See `Item`. Arguments that are there from the start count only if no others come."""
        self._learn(raw, out)
        self._early = self._early or json_text(raw, self._member)

    def piece(self, event: Json, out: Emitter) -> None:
        """See `Called`."""
        piece = self._said.add(json_text(event, "delta"))
        if piece and self._address is not None:
            out.tool_call_arguments(piece, self._address)

    def complete(self, event: Json, out: Emitter) -> None:
        """See `Called`."""
        self._learn(event, out)
        self._reach(json_text(event, self._member), out)

    def finish(self, raw: Json, out: Emitter) -> None:
        """See `Item`."""
        self._learn(raw, out)
        self._reach(json_text(raw, self._member), out)

    def close(self, out: Emitter) -> None:
        """See `Item`."""
        if not self._said:
            self._reach(self._early, out)
        if self._address is None:
            out.warn("unnamed_call", "a tool call came without a name")
            self._open(out)

    def _learn(self, raw: Json, out: Emitter) -> None:
        self.call_id = self.call_id or text(raw, "call_id")
        self._name = self._name or text(raw, "name")
        if self._name and self._address is None:
            self._open(out)

    def _open(self, out: Emitter) -> None:
        self._address = out.tool_call(self.call_id or self.id or None, self._name, self._said.text or None)

    def _reach(self, whole: str, out: Emitter) -> None:
        rest = self._said.rest(whole)
        if rest is None:
            out.warn("arguments_differ", "the whole arguments of a call are not what its pieces said")
        elif rest and self._address is not None:
            out.tool_call_arguments(rest, self._address)
