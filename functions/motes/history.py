"""One history that every vendor accepts: calls and results paired, in call order, ids unique, and system
text that is text.

Works on the caller's messages before any dialect sees them; to do it again changes nothing. Must never lose
what the caller said without a warning, and must never touch the last message: its calls may still be in
flight. Ids that were changed need no way back: a vendor names only the calls that it makes itself, and the
caller keeps its own history with its own ids, which are changed the same way every time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from motes.chat import (
    AssistantMessage,
    FunctionCall,
    FunctionMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolCallItem,
    ToolMessage,
    UserMessage,
)

OMITTED: Final = "[result omitted]"


def normalise(messages: Sequence[Message]) -> tuple[list[Message], list[str]]:
    """The messages with every call answered directly after it, and what had to be changed.

    A result without a call is dropped; an inner call without a result gets `[result omitted]`. An id that an
    earlier call has becomes one of its own. What is no text in system text, and what follows it there, is the
    user's to say.
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
    return list(_with_own_ids(_with_plain_system(out, warnings))), warnings


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


def _with_plain_system(messages: Sequence[Message], warnings: list[str]) -> Iterator[Message]:
    """System messages with nothing but text; the rest is said by a user behind the run of them."""
    spilt: list[UserMessage] = []
    for message in messages:
        if not isinstance(message, SystemMessage):
            yield from spilt
            spilt = []
            yield message
            continue
        words, rest = _split(message)
        if rest:
            warnings.append(
                "an image or file in a system message, and what follows it, became a user's message"
            )
            spilt.append(UserMessage(role="user", content=rest))
        if words is not None:
            yield words
    yield from spilt


def _split(message: SystemMessage) -> tuple[SystemMessage | None, list[Any]]:
    """The message up to its first part that is no text, or None where there is nothing; and what is left."""
    if not isinstance(message.content, list):
        return message, []
    parts = message.content
    first = next((at for at, part in enumerate(parts) if not isinstance(part, TextPart)), len(parts))
    if first == len(parts):
        return message, []
    words = message.model_copy(update={"content": parts[:first]}) if first else None
    return words, list(parts[first:])


def _with_own_ids(messages: Iterable[Message]) -> Iterator[Message]:
    """Messages whose calls have ids that no earlier call has. Results stand behind their calls, in order."""
    taken: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            made = [_own(call.id, taken) for call in message.tool_calls]
            waiting = list(made)
            yield _renamed(message, made)
        elif isinstance(message, ToolMessage) and waiting:
            id = waiting.pop(0)
            same = id == message.tool_call_id
            yield message if same else message.model_copy(update={"tool_call_id": id})
        else:
            yield message


def _own(call_id: str, taken: set[str]) -> str:
    made, n = call_id, 1
    while made in taken:
        n += 1
        made = f"{call_id}_{n}"
    taken.add(made)
    return made


def _renamed(message: AssistantMessage, ids: list[str]) -> AssistantMessage:
    """The message with these ids for its calls, and for the signatures that belong to them."""
    calls = message.tool_calls or []
    made = {call.id: id for call, id in zip(calls, ids, strict=True) if call.id != id}
    if not made:
        return message
    named = [call.model_copy(update={"id": id}) for call, id in zip(calls, ids, strict=True)]
    details = message.reasoning_details and [_belonging(row, made) for row in message.reasoning_details]
    return message.model_copy(update={"tool_calls": named, "reasoning_details": details})


def _belonging(detail: Mapping[str, Any], made: Mapping[str, str]) -> dict[str, Any]:
    id = detail.get("id")
    return {**detail, "id": made[id]} if isinstance(id, str) and id in made else dict(detail)
