"""The caller's messages as input items: system text apart, calls and results as items of their own.

Every call has its result behind it, ids are unique and short enough, and encrypted reasoning goes back to the
host that made it and to no other. Must never send reasoning with nothing behind it, and never lose a word
without a note. Source: OpenAI guides "Conversation state" and "Reasoning models" (read 2026-11-29).
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from motes import history, jsontext
from motes.chat import (
    AssistantMessage,
    Content,
    Message,
    Part,
    RefusalPart,
    SystemMessage,
    TextPart,
    ToolCallItem,
    ToolMessage,
    UserMessage,
    text_of,
)
from motes.dialects.openai_responses.parts import Parts, Wire, is_text, split
from motes.own_names import OwnNames
from motes.quirks import Quirks

FORMAT: Final = "-responses-v1"
"""What follows a host's origin in the `format` of a reasoning detail that holds its encrypted content."""
PHASE: Final = "reasoning.phase"
_MAX_ID: Final = 64


class Turns:
    """The input under construction."""

    def __init__(self, quirks: Quirks, notes: list[str]) -> None:
        self.instructions: list[str] = []
        self.items: list[Wire] = []
        self._quirks = quirks
        self._notes = notes
        self._parts = Parts(quirks, notes)
        self._format = quirks.reasoning_origin + FORMAT
        self._ids = OwnNames()
        self._open: dict[str, deque[tuple[str, bool]]] = {}

    def add_all(self, messages: Sequence[Message]) -> None:
        """Every message of a caller."""
        normal, changes = history.normalise(messages)
        self._notes += changes
        for message in normal:
            self._add(message)
        if not self.items and self.instructions:
            self._notes.append("system text was sent as a message: there is no other")
            self._say("system", self._parts.of("\n\n".join(self.instructions)))
            self.instructions = []

    def _add(self, message: Message) -> None:
        if getattr(message, "name", None) and not isinstance(message, ToolMessage):
            self._notes.append("names of participants were left out")
        match message:
            case SystemMessage():
                self._on_system(message)
            case UserMessage():
                self._say("user", self._parts.of(message.content))
            case AssistantMessage():
                self._on_assistant(message)
            case ToolMessage():
                self._on_result(message)

    def _say(self, role: str, content: list[Wire], **members: Any) -> None:
        if content:
            self.items.append({"type": "message", "role": role, "content": content, **members})
        else:
            self._notes.append(f"a {role} message without content was left out")

    def _on_system(self, message: SystemMessage) -> None:
        """Text at the head has a member of its own; from the first part that is no text on, it is the
        user's to say.
        """
        said, media = split(message.content)
        words = _joined(said)
        if words and self._quirks.instructions_field and not self.items:
            self.instructions.append(words)
        elif words:
            self._say(message.role if self._quirks.developer_role else "system", self._parts.of(words))
        if media:
            self._notes.append("an image or file in a system message was moved to a user message")
            self._say("user", self._parts.of(list(media)))

    def _on_assistant(self, message: AssistantMessage) -> None:
        said = [part for part in _parts_of(message.content) if is_text(part)]
        media = [part for part in _parts_of(message.content) if not is_text(part)]
        if message.refusal:
            said.append(RefusalPart(type="refusal", refusal=message.refusal))
        calls = [self._call(call) for call in message.tool_calls or []]
        if said or calls:
            self.items += self._reasoning(message)
        for phase, parts in self._by_phase(message, said):
            self._say("assistant", [_spoken(part) for part in parts], **({"phase": phase} if phase else {}))
        self.items += calls
        if message.audio:
            self._notes.append("the assistant's earlier audio was left out")
        if media:
            self._notes.append("images of the assistant were moved to a user message behind it")
            self._say("user", self._parts.of(media))
        elif not said and not calls:
            self._notes.append("an assistant message without content was left out")

    def _reasoning(self, message: AssistantMessage) -> Iterator[Wire]:
        """The reasoning items that this host can read. The others are of no use to it, and refused."""
        details = message.reasoning_details or []
        own = [row for row in details if self._is_own(row)]
        if len(own) < len(details) or (not details and (message.reasoning_content or message.reasoning)):
            self._notes.append("reasoning of earlier turns that is not this vendor's own was left out")
        for row in own:
            id, data = row.get("id"), row.get("data")
            if row.get("type") == "reasoning.encrypted" and isinstance(id, str) and isinstance(data, str):
                yield {"type": "reasoning", "id": id, "summary": [], "encrypted_content": data}

    def _is_own(self, row: Mapping[str, Any]) -> bool:
        return row.get("format") == self._format

    def _by_phase(
        self, message: AssistantMessage, said: Sequence[Part]
    ) -> Iterable[tuple[str, Sequence[Part]]]:
        """The text in runs of one phase; an earlier phase ends where the next one starts."""
        starts = self._phases(message)
        if len(starts) < 2 or any(isinstance(part, RefusalPart) for part in said):
            return [(starts[0][1] if starts else "", said)] if said else []
        words = text_of(list(said))
        ends = [*(start for start, _ in starts[1:]), len(words)]
        runs = [(phase, words[start:end]) for (start, phase), end in zip(starts, ends, strict=True)]
        return [(phase, [TextPart(type="text", text=run)]) for phase, run in runs if run]

    def _phases(self, message: AssistantMessage) -> list[tuple[int, str]]:
        """(where, phase) of every run; the first one begins at the head, whatever it says."""
        if not self._quirks.replay_phase:
            return []
        out: list[tuple[int, str]] = []
        for row in message.reasoning_details or []:
            phase, start = row.get("phase"), row.get("start")
            if self._is_own(row) and row.get("type") == PHASE and isinstance(phase, str):
                known = isinstance(start, int) and not isinstance(start, bool) and bool(out)
                out.append((max(start, out[-1][0]) if known and isinstance(start, int) else 0, phase))
        return out

    def _call(self, call: ToolCallItem) -> Wire:
        made = self._unique(call.id)
        free = call.custom is not None and self._quirks.custom_tools
        self._open.setdefault(call.id, deque()).append((made, free))
        if free:
            return {"type": "custom_tool_call", "call_id": made, "name": call.name, "input": call.arguments}
        given = jsontext.dumps({"input": call.arguments}) if call.custom is not None else call.arguments
        return {
            "type": "function_call",
            "call_id": made,
            "name": call.name,
            "arguments": given if given.strip() else "{}",
        }

    def _on_result(self, message: ToolMessage) -> None:
        waiting = self._open.get(message.tool_call_id)
        made, free = waiting.popleft() if waiting else (_short(message.tool_call_id), False)
        mark = "[ERROR] " if message.is_error else ""
        output: Any = mark + _joined(message.content)
        if any(not is_text(part) for part in _parts_of(message.content)):
            output = [*(self._parts.of(mark) if mark else ()), *self._parts.of(message.content)]
        kind = "custom_tool_call_output" if free else "function_call_output"
        self.items.append({"type": kind, "call_id": made, "output": output})

    def _unique(self, call_id: str) -> str:
        """An id that no earlier call has; callers count anew in every turn."""
        base = _short(call_id)
        return self._ids.take(base, lambda n: _short(f"{base}_{n}"))


def _parts_of(content: Content) -> list[Part]:
    if isinstance(content, str):
        return [TextPart(type="text", text=content)] if content else []
    return list(content or ())


def _joined(content: Content) -> str:
    """The text of a content, refusals included, its parts a line each."""
    parts = _parts_of(content)
    return "\n".join(p.text if isinstance(p, TextPart) else p.refusal for p in parts if is_text(p))  # type: ignore[union-attr]


def _spoken(part: Part) -> Wire:
    if isinstance(part, RefusalPart):
        return {"type": "refusal", "refusal": part.refusal}
    return {"type": "output_text", "text": part.text if isinstance(part, TextPart) else ""}


def _short(call_id: str) -> str:
    """The id, or one made of it where it is longer than the vendor takes."""
    if 0 < len(call_id) <= _MAX_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:24]}"
