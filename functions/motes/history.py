"""One history that every vendor accepts: calls and results paired, in call order, ids unique, and system
text that is text.

Works on the caller's messages before any dialect sees them; to do it again changes nothing. Must never lose
what the caller said without a warning, and must never touch the last message: its calls may still be in
flight. Ids that were changed need no way back: a vendor names only the calls that it makes itself, and the
caller keeps its own history with its own ids, which are changed the same way every time.
"""

from collections import deque
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
from motes.own_names import OwnNames

OMITTED: Final = "[result omitted]"


def normalise(messages: Sequence[Message]) -> tuple[list[Message], list[str]]:
    """The messages with every call answered directly after it, and what had to be changed.

    A result without a call is dropped; an inner call without a result gets `[result omitted]`. An id that an
    earlier call has becomes one of its own. What is no text in system text, and what follows it there, is the
    user's to say.
    """
    if all(map(_is_plain, messages)):
        return list(messages), []
    modern = _modernised(messages)
    out: list[Message] = []
    warnings: list[str] = []
    places = _Places(modern)
    for index, message in enumerate(modern):
        if index in places.taken:
            continue
        if isinstance(message, ToolMessage):
            warnings.append(f"messages.{index}: a tool result without its call was dropped")
            continue
        out.append(message)
        if isinstance(message, AssistantMessage) and message.tool_calls:
            out += _results(modern, index, places, warnings)
    return list(_with_own_ids(_with_plain_system(out, warnings))), warnings


def _is_plain(message: Message) -> bool:
    """Whether a message is right whatever stands around it: no call, no result, no media of a system."""
    if isinstance(message, UserMessage):
        return True
    if isinstance(message, AssistantMessage):
        return not message.tool_calls and message.function_call is None
    return isinstance(message, SystemMessage) and not isinstance(message.content, list)


class _Places:
    """Where the results and the calls of each id stand. Must be asked for turns in their order."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.taken: set[int] = set()
        self._results: dict[str, deque[int]] = {}
        self._callers: dict[str, deque[int]] = {}
        for place, message in enumerate(messages):
            if isinstance(message, ToolMessage):
                self._results.setdefault(message.tool_call_id, deque()).append(place)
            elif isinstance(message, AssistantMessage):
                for id in {call.id for call in message.tool_calls or []}:
                    self._callers.setdefault(id, deque()).append(place)

    def take(self, index: int, call_id: str) -> int | None:
        """The first result behind a turn that is of its call, before a later turn calls by the same id."""
        results = _behind(self._results.get(call_id), index)
        callers = _behind(self._callers.get(call_id), index)
        if not results or (callers and callers[0] < results[0]):
            return None
        place = results.popleft()
        self.taken.add(place)
        return place


def _behind(places: deque[int] | None, index: int) -> deque[int]:
    """The places behind a turn; those before it are let go, since no later turn wants them."""
    while places and places[0] <= index:
        places.popleft()
    return places if places is not None else deque()


def _results(messages: Sequence[Message], index: int, places: _Places, warnings: list[str]) -> list[Message]:
    """The results of one turn's calls, in call order; each is taken from where it stands."""
    turn = messages[index]
    assert isinstance(turn, AssistantMessage)  # noqa: S101 (the caller checked; this is for the type)
    found: list[Message] = []
    is_last = index == len(messages) - 1
    for call in turn.tool_calls or []:
        place = places.take(index, call.id)
        if place is not None:
            found.append(messages[place])
        elif not is_last:
            warnings.append(f"messages.{index}: a call without result got a placeholder")
            found.append(ToolMessage(role="tool", tool_call_id=call.id, content=OMITTED))
    return found


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
    nameless = [call for call in calls if not call.id]
    if legacy is None and not nameless:
        return message, None
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
    names = OwnNames()
    waiting: deque[str] = deque()
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            made = [_own(call.id, names) for call in message.tool_calls]
            waiting = deque(made)
            yield _renamed(message, made)
        elif isinstance(message, ToolMessage) and waiting:
            id = waiting.popleft()
            same = id == message.tool_call_id
            yield message if same else message.model_copy(update={"tool_call_id": id})
        else:
            yield message


def _own(call_id: str, names: OwnNames) -> str:
    return names.take(call_id, lambda n: f"{call_id}_{n}")


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
