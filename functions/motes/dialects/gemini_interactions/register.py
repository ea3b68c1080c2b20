"""Which step an event means, and every step of one answer.

A step is found by its index, else it is the latest one, else it is begun here. Must never tell the steps of a
final list again that the stream has told. Source: google-genai 3.6.1, `StepStart`, `StepDelta`, `StepStop`
(read 2026-11-29).
"""

from collections.abc import Sequence
from typing import Final

from motes.dialects.gemini_interactions.answer import Answer
from motes.dialects.gemini_interactions.calls import (
    CALL,
    FUNCTION,
    RESULT,
    TOOLS,
    ClientCall,
    HostedCall,
    HostedResult,
    ToolStep,
)
from motes.dialects.gemini_interactions.fields import Json, count, inner, text
from motes.dialects.gemini_interactions.media import KINDS
from motes.dialects.gemini_interactions.spoken import Output, Step, Thought
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

_OUTPUT: Final = "model_output"
_THOUGHT: Final = "thought"
_SILENT: Final = frozenset({"user_input"})
# What a piece tells of the step it belongs to, where nobody announced that.
_KIND_OF_PIECE: Final = {
    "thought_summary": _THOUGHT,
    "thought_signature": _THOUGHT,
    "arguments_delta": FUNCTION + CALL,
}


class Steps:
    """The steps of one answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._all: list[Step] = []
        self._by_index: dict[int, Step] = {}
        self._latest_call: dict[str, str] = {}

    @property
    def are_over(self) -> bool:
        """Whether there are steps, and every one that began is over."""
        return bool(self._all) and not any(step.open for step in self._all)

    @property
    def has_client_calls(self) -> bool:
        """Whether the client was told a call."""
        return any(isinstance(step, ClientCall) for step in self._all)

    def begin(self, event: Json, out: Emitter) -> None:
        """A step is announced; under an index that is taken, the one before it is over."""
        raw = inner(event, "step") or _as_step(inner(event, "content"))
        self._begun(text(raw, "type"), raw, event, out).begin(raw, out)

    def piece(self, event: Json, out: Emitter) -> None:
        """A piece of a step."""
        delta = inner(event, "delta")
        if not delta:
            return
        index = count(event, "index")
        step = self._by_index.get(index) if index is not None else self._latest
        if step is None or not step.open:
            out.warn("implicit_step", "a piece without its step.start began a step")
            step = self._begun(_kind_of_piece(delta), {}, event, out)
            step.begin({"type": _kind_of_piece(delta)}, out)
        step.piece(delta, out)

    def end(self, event: Json, out: Emitter) -> None:
        """A step is over."""
        index = count(event, "index")
        step = self._by_index.get(index) if index is not None else self._latest
        if step is not None:
            step.close(out)

    def settle(self, steps: Sequence[Json], out: Emitter) -> None:
        """The final list of steps, told where the stream told none; then every step is over."""
        if not self._all:
            self._tell([_as_step(row) for row in steps], out)
        self.close(out)

    def close(self, out: Emitter) -> None:
        """Nothing more will come."""
        for step in self._all:
            step.close(out)

    def _tell(self, steps: Sequence[Json], out: Emitter) -> None:
        results = (row for row in steps if text(row, "type") == FUNCTION + RESULT)
        self._answer.answered.update(text(row, "call_id") for row in results)
        for row in steps:
            step = self._begun(text(row, "type"), row, {}, out)
            step.begin(row, out)
            step.close(out)

    @property
    def _latest(self) -> Step | None:
        return self._all[-1] if self._all else None

    def _begun(self, kind: str, raw: Json, event: Json, out: Emitter) -> Step:
        index = count(event, "index")
        before = self._by_index.get(index) if index is not None else None
        if before is not None:
            before.close(out)
        step = self._made(kind, raw, out)
        self._all.append(step)
        if index is not None:
            self._by_index[index] = step
        return step

    def _made(self, kind: str, raw: Json, out: Emitter) -> Step:
        answer = self._answer
        if kind == _OUTPUT:
            return Output(answer)
        if kind == _THOUGHT:
            return Thought(answer)
        if kind.endswith((CALL, RESULT)):
            return self._made_tool(kind, raw, out)
        if kind not in _SILENT:
            out.warn("unknown_step", f"a step of type {excerpt(kind, 40)!r} was skipped")
        return Step(answer)

    def _made_tool(self, kind: str, raw: Json, out: Emitter) -> Step:
        tool, _, form = kind.rpartition("_")
        if tool not in TOOLS:
            out.warn("unknown_step", f"a step of type {excerpt(kind, 40)!r} is not known")
        if form == "call":
            id = text(raw, "id", "call_id")
            if tool == FUNCTION and not self._answer.is_agents and id not in self._answer.answered:
                return ClientCall(self._answer)
            id = id or f"{tool}-{len(self._all) + 1}"
            self._latest_call[tool] = id
            return HostedCall(self._answer, tool, id)
        return self._result(tool, text(raw, "call_id"))

    def _result(self, tool: str, call_id: str) -> ToolStep:
        """A result; one whose call nobody knows is taken for that of the latest call of its tool."""
        latest = self._latest_call.get(tool)
        if latest is not None and self._answer.working(call_id) is None:
            call_id = latest if self._answer.working(latest) else call_id
        return HostedResult(self._answer, tool, call_id or f"{tool}-{len(self._all) + 1}")


def _kind_of_piece(delta: Json) -> str:
    kind = text(delta, "type")
    known = _KIND_OF_PIECE.get(kind)
    return known or (kind if kind.endswith((CALL, RESULT)) else _OUTPUT)


def _as_step(raw: Json) -> Json:
    """A step; content that stands in the place of one, as before May 2026, as the output it is."""
    kind = text(raw, "type")
    if kind == "text" or kind in KINDS:
        return {"type": _OUTPUT, "content": [raw]}
    return raw
