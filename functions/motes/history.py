"""One history that every vendor accepts: calls and results paired, in call order, ids unique.

Works on the caller's messages before any dialect sees them. Must never lose what the caller said without a
warning, and must never touch the last message: its calls may still be in flight.
"""

from collections.abc import Sequence
from typing import Final

from motes.chat import (
    AssistantMessage,
    FunctionCall,
    FunctionMessage,
    Message,
    ToolCallItem,
    ToolMessage,
)

OMITTED: Final = "[result omitted]"


def normalise(messages: Sequence[Message]) -> tuple[list[Message], list[str]]:
    """The messages with every call answered directly after it, and what had to be changed.

    A result without a call is dropped; an inner call without a result gets `[result omitted]`.
    """
    modern = _modernised(messages)
    out: list[Message] = []
    warnings: list[str] = []
    taken: set[int] = set()
    for index, message in enumerate(modern):
        if index in taken:
            continue
        if isinstance(message, ToolMessage):
            warnings.append(f"messages.{index}: a tool result without its call was dropped")
            continue
        out.append(message)
        if isinstance(message, AssistantMessage) and message.tool_calls:
            out += _results(modern, index, taken, warnings)
    return out, warnings


def _results(messages: Sequence[Message], index: int, taken: set[int], warnings: list[str]) -> list[Message]:
    """The results of one turn's calls, in call order; each is taken from where it stands."""
    turn = messages[index]
    assert isinstance(turn, AssistantMessage)  # noqa: S101 (the caller checked; this is for the type)
    found: list[Message] = []
    is_last = index == len(messages) - 1
    for call in turn.tool_calls or []:
        place = _find(messages, index, call.id, taken)
        if place is not None:
            taken.add(place)
            found.append(messages[place])
        elif not is_last:
            warnings.append(f"messages.{index}: a call without result got a placeholder")
            found.append(ToolMessage(role="tool", tool_call_id=call.id, content=OMITTED))
    return found


def _find(messages: Sequence[Message], index: int, call_id: str, taken: set[int]) -> int | None:
    for place in range(index + 1, len(messages)):
        message = messages[place]
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id and place not in taken:
            return place
        if isinstance(message, AssistantMessage) and any(c.id == call_id for c in message.tool_calls or []):
            return None
    return None


def _modernised(messages: Sequence[Message]) -> list[Message]:
    """The deprecated `function_call` and role `function` in today's form; every call has an id."""
    out: list[Message] = []
    open_legacy: str | None = None
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            message, open_legacy = _with_ids(message, index)  # noqa: PLW2901 (the modern form stands for it)
        elif isinstance(message, FunctionMessage):
            call_id = open_legacy or f"call_unknown_{index}"
            message = ToolMessage(role="tool", tool_call_id=call_id, content=message.content)  # noqa: PLW2901
        out.append(message)
    return out


def _with_ids(message: AssistantMessage, index: int) -> tuple[AssistantMessage, str | None]:
    calls = list(message.tool_calls or [])
    legacy = message.function_call
    if legacy is not None and not calls:
        calls = [_item(f"call_legacy_{index}", legacy)]
    named = [
        call if call.id else call.model_copy(update={"id": f"call_{index}_{n}"})
        for n, call in enumerate(calls)
    ]
    changed = message.model_copy(update={"tool_calls": named or None, "function_call": None})
    return changed, named[0].id if legacy is not None and named else None


def _item(call_id: str, call: FunctionCall) -> ToolCallItem:
    return ToolCallItem(id=call_id, type="function", function=call)
