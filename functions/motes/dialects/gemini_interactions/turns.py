"""The caller's messages as steps: what the user said, what the model thought, said and called, and results.

A thought goes back with its signature, if this protocol made it. Must never send a thought without one, and
never lose a word without a note. Source: ai.google.dev/gemini-api/docs/interactions, "Stateless conversation"
(read 2026-11-29).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from motes import history, jsontext
from motes.chat import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallItem,
    ToolMessage,
    UserMessage,
    text_of,
)
from motes.dialects.gemini_interactions.agents import Kind
from motes.dialects.gemini_interactions.parts import Wire, contents
from motes.errors import InvalidRequest

SIGNATURE_FORMAT: Final = "google-interactions-v1"
_USER: Final = "user_input"
_MODEL: Final = "model_output"
_FOR_AGENTS: Final = frozenset({"text", "image"})


class Turns:
    """The input under construction."""

    def __init__(self, kind: Kind, notes: list[str]) -> None:
        self.instruction: list[str] = []
        self.steps: list[Wire] = []
        self._kind = kind
        self._notes = notes
        self._names: dict[str, str] = {}

    def add_all(self, messages: Sequence[Message]) -> None:
        """Every message of a caller. Raises InvalidRequest where nothing is left to answer."""
        normal, changes = history.normalise(messages)
        self._notes += changes
        for message in normal:
            self._add(message)
        self._place_system()
        if not self.steps:
            raise InvalidRequest("messages: there is nothing in them to send", param="messages")
        if self.steps[-1]["type"] == _MODEL:
            raise InvalidRequest(
                "messages: the last turn must be the user's, or the result of a call; this vendor does not "
                "go on with an answer that is begun",
                param="messages",
                code="invalid_value",
            )

    @property
    def input(self) -> list[Wire]:
        """The steps; the one turn of a user as its bare content."""
        if len(self.steps) == 1 and self.steps[0]["type"] == _USER:
            return list(self.steps[0]["content"])
        return self.steps

    def _add(self, message: Message) -> None:
        if getattr(message, "name", None) and not isinstance(message, ToolMessage):
            self._notes.append("names of participants were left out")
        match message:
            case SystemMessage():
                words = text_of(message.content)
                self.instruction += [words] if words else []
            case UserMessage():
                self._say(_USER, contents(message.content, self._notes))
            case AssistantMessage():
                self._on_assistant(message)
            case ToolMessage():
                self._on_result(message)

    def _say(self, type: str, content: list[Wire]) -> None:
        """Add to the step of that type; what one side says in a row is one step."""
        if not content:
            return
        if self.steps and self.steps[-1]["type"] == type:
            self.steps[-1]["content"] += content
        else:
            self.steps.append({"type": type, "content": content})

    def _on_assistant(self, message: AssistantMessage) -> None:
        said = contents(message.content, self._notes)
        if message.refusal:
            said.append({"type": "text", "text": message.refusal})
        if message.audio:
            self._notes.append("messages: sound of an earlier answer cannot be named by id; dropped")
        if self._kind.agent:
            said = self._for_agent(message, said)
        else:
            self.steps += _thoughts(message)
        self._say(_MODEL, said)
        if self._kind.functions:
            self.steps += [self._call(call) for call in message.tool_calls or []]

    def _for_agent(self, message: AssistantMessage, said: list[Wire]) -> list[Wire]:
        kept = [part for part in said if part["type"] in _FOR_AGENTS]
        if len(kept) < len(said) or (message.tool_calls and not self._kind.functions):
            self._notes.append("messages: of earlier answers an agent is only told text and images")
        return kept

    def _call(self, call: ToolCallItem) -> Wire:
        self._names[call.id] = call.name
        return {
            "type": "function_call",
            "id": call.id,
            "name": call.name,
            "arguments": self._arguments(call),
        }

    def _arguments(self, call: ToolCallItem) -> dict[str, Any]:
        if call.custom is not None:
            return {"input": call.arguments}
        if not call.arguments.strip():
            return {}
        found = jsontext.as_object(call.arguments)
        if found is None:
            self._notes.append(
                f"messages: the arguments of call {call.name} are no JSON object; sent as text"
            )
        return {"output": call.arguments} if found is None else found

    def _on_result(self, message: ToolMessage) -> None:
        if not self._kind.functions:
            return
        parts = contents(message.content, self._notes)
        plain = all(part["type"] == "text" for part in parts)
        result: Wire = {
            "type": "function_result",
            "call_id": message.tool_call_id,
            "name": self._names.get(message.tool_call_id) or message.name or "unknown_function",
            "result": "".join(part["text"] for part in parts) if plain else parts,
        }
        self.steps.append(result | ({"is_error": True} if message.is_error else {}))

    def _place_system(self) -> None:
        """System text where this kind of run takes it."""
        if not self.instruction or (self._kind.system == "field" and self.steps):
            return
        words, self.instruction = "\n\n".join(self.instruction), []
        if self._kind.system == "none" and self.steps:
            self._notes.append("system messages: dropped, this model takes none")
            return
        self._notes.append("system messages: they open the user's first turn")
        content = {"type": "text", "text": words}
        first = next((step for step in self.steps if step["type"] == _USER), None)
        if first is None:
            self.steps.insert(0, {"type": _USER, "content": [content]})
        else:
            first["content"].insert(0, content)


def _thoughts(message: AssistantMessage) -> list[Wire]:
    """The signed thoughts of an earlier answer that this protocol made."""
    details = [d for d in message.reasoning_details or [] if d.get("format") == SIGNATURE_FORMAT]
    return [thought for detail in details if (thought := _thought(detail))]


def _thought(detail: Mapping[str, Any]) -> Wire | None:
    signature, words = detail.get("signature"), detail.get("text")
    if not isinstance(signature, str) or not signature:
        return None
    summary = [{"type": "text", "text": words}] if isinstance(words, str) and words else []
    return {"type": "thought", "signature": signature} | ({"summary": summary} if summary else {})
