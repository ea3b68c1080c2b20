"""The history of a request as chat-completions messages, as this vendor takes them.

Must never lose a word of the caller without a warning, and never separate a call from its result.
Source: OpenAI API reference, "Create chat completion", `messages`; the vendors' own (read 2026-11-29).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from motes.chat import (
    AssistantMessage,
    AudioPart,
    ChatRequest,
    Content,
    FilePart,
    ImagePart,
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
from motes.dialects.openai_chat import turns
from motes.dialects.openai_chat.draft import Draft
from motes.dialects.openai_chat.fields import text
from motes.history import normalise
from motes.jsontext import dumps
from motes.quirks import Quirks

MARKS: Final = 4
"""The most `cache_control` marks one request may carry (OpenRouter API reference, "Prompt caching")."""

BLANK: Final = " "
"""What a host that must have the reasoning of a call gets where nobody has it."""

Wire = dict[str, Any]

_ANNOTATIONS: Final = "annotations"
_PHASE: Final = "reasoning.phase"
"""A detail of ours, about text; hosts of this protocol do not know it."""


def messages_of(request: ChatRequest, quirks: Quirks, draft: Draft, has_tools: bool) -> list[Wire]:
    """Every message of the request, in order and in the vendor's form."""
    history, changes = normalise(request.messages)
    for change in changes:
        draft.warn(change)
    if not quirks.results_in_call_order:
        history = _as_sent(history, request.messages)
    written = _Writer(quirks, draft, has_tools).write(history)
    written = turns.arranged(written, quirks, draft.warn)
    if list in [type(message.get("content")) for message in written]:
        turns.keep_last_marks(written, MARKS, draft.warn)
    return written


class _Writer:
    """Writes messages one by one; what a role cannot carry follows in a user turn."""

    def __init__(self, quirks: Quirks, draft: Draft, has_tools: bool) -> None:
        self._quirks = quirks
        self._draft = draft
        self._has_tools = has_tools
        self._held: list[Wire] = []

    def write(self, history: Sequence[Message]) -> list[Wire]:
        """The messages, in order."""
        out: list[Wire] = []
        for at, message in enumerate(history):
            if self._held and not isinstance(message, ToolMessage):
                out += self._release()
            out.append(self._message(message, f"messages.{at}."))
        return out + self._release() if self._held else out

    def _message(self, message: Message, place: str) -> Wire:
        match message:
            case SystemMessage():
                role = message.role if self._quirks.developer_role else "system"
                out: Wire = {"role": role, "content": self._spoken(message.content, place)}
            case UserMessage():
                out = {"role": "user", "content": self._content(message.content, place)}
            case AssistantMessage():
                out = self._assistant(message, place)
            case ToolMessage():
                content = self._spoken(message.content, place, plain=True)
                mark = "[ERROR] " if message.is_error else ""
                # A name is left out: the call it answers has it.
                out = {"role": "tool", "tool_call_id": message.tool_call_id, "content": mark + content}
                return out | self._draft.extras(message.model_extra, place)
            case _:
                # `normalise` has turned the deprecated form into the one above.
                out = {"role": "user", "content": self._content(message.content, place)}
        if message.name is not None:
            out["name"] = message.name
        return out | self._draft.extras(self._extra(message), place) if message.model_extra else out

    def _extra(self, message: Message) -> dict[str, Any]:
        """What the message has beyond the protocol; the annotations of an answer are there to be read, and
        whoever sends the answer back need not be told that they were not passed on.
        """
        extra = dict(message.model_extra or {})
        if isinstance(message, AssistantMessage) and not self._draft.passes(_ANNOTATIONS):
            extra.pop(_ANNOTATIONS, None)
        return extra

    def _assistant(self, message: AssistantMessage, place: str) -> Wire:
        content = self._content(message.content, place)
        if message.refusal:
            content = f"{content}\n{message.refusal}" if content and isinstance(content, str) else content
            content = content or message.refusal
        if self._quirks.answers_as_text:
            content = self._as_one_text(content, place)
        if self._quirks.replay_reasoning == "think-tags" and (thought := _thought(message)):
            content = _tagged(thought, content)
        out: Wire = {"role": "assistant", "content": content}
        if message.audio is not None:
            if self._draft.takes("audio"):
                out["audio"] = message.audio
            else:
                self._draft.warn(f"{place}audio: dropped, this vendor does not take it")
        if message.tool_calls:
            out["content"] = content or None
            out["tool_calls"] = [self._call(call, place) for call in message.tool_calls]
        return out | self._thoughts(message)

    def _call(self, call: ToolCallItem, place: str) -> Wire:
        if call.custom is not None and self._quirks.custom_tools:
            out = {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
        else:
            given = dumps({"input": call.arguments}) if call.custom is not None else call.arguments
            function = {"name": call.name, "arguments": given if given.strip() else "{}"}
            out = {"id": call.id, "type": "function", "function": function}
        signed = {"extra_content": call.extra_content} if call.extra_content else {}
        return out | self._draft.extras(signed | (call.model_extra or {}), f"{place}tool_calls.")

    def _thoughts(self, message: AssistantMessage) -> Wire:
        """Earlier reasoning, for the vendors that want it back."""
        thought = _thought(message)
        match self._quirks.replay_reasoning:
            case "details":
                details = message.reasoning_details
                return {"reasoning_details": details} if details else _known(reasoning=thought)
            case "always":
                return _known(reasoning_content=thought)
            case "think-tags":
                return {}
            case "on-calls" if message.tool_calls:
                return {"reasoning_content": thought or BLANK}
            case "with-tools" if message.tool_calls:
                return {"reasoning_content": thought}
            case "with-tools" if self._has_tools:
                return {"reasoning_content": ""}
        if thought:
            self._draft.warn("reasoning of earlier turns: left out, this vendor does not want it back")
        return {}

    # Content.

    def _content(self, content: Content, place: str) -> str | list[Wire]:
        """A text as it is; parts as parts, but one plain text alone as a text."""
        if not isinstance(content, list):
            return content or ""
        parts = [self._part(part, place) for part in content]
        if len(parts) == 1 and parts[0].keys() == {"type", "text"}:
            return str(parts[0]["text"])
        return parts or ""

    def _spoken(self, content: Content, place: str, *, plain: bool = False) -> Any:
        """The text of a role that carries nothing else; other parts follow in a user turn.

        `plain`: as one text, since many hosts take no list in a tool result.
        """
        if not isinstance(content, list):
            return content or ""
        said = [part for part in content if isinstance(part, TextPart | RefusalPart)]
        media = [part for part in content if not isinstance(part, TextPart | RefusalPart)]
        if media:
            self._draft.warn(f"{place}content: what is no text follows in a user message")
            self._held += [self._part(part, place) for part in media]
        return text_of(_as_text(said), "\n") if plain else self._content(list(said), place)

    def _release(self) -> list[Wire]:
        held, self._held = self._held, []
        return [{"role": "user", "content": held}] if held else []

    def _as_one_text(self, content: Any, place: str) -> str:
        if isinstance(content, str):
            return content
        if any(part["type"] != "text" for part in content):
            self._draft.warn(f"{place}content: what is no text was left out, this vendor takes a text here")
        return "\n".join(part["text"] for part in content if part["type"] == "text")

    def _file(self, part: FilePart) -> Wire:
        if self._quirks.files == "file_url" and part.file.file_data is not None:
            return {"type": "file_url", "file_url": {"url": part.file.file_data}}
        return {"type": "file", "file": part.file.model_dump(exclude_none=True)}

    def _part(self, part: Part, place: str) -> Wire:
        match part:
            case TextPart():
                out: Wire = {"type": "text", "text": part.text}
            case ImagePart():
                out = {"type": "image_url", "image_url": part.image_url.model_dump(exclude_none=True)}
            case AudioPart():
                out = {"type": "input_audio", "input_audio": part.input_audio.model_dump(exclude_none=True)}
            case FilePart():
                out = self._file(part)
            case RefusalPart():
                out = {"type": "text", "text": part.refusal}
        if not isinstance(part, AudioPart | RefusalPart) and part.cache_control is not None:
            if self._quirks.cache_control:
                out["cache_control"] = part.cache_control
            else:
                self._draft.warn("cache_control: dropped, this vendor caches by itself or not at all")
        return out | self._draft.extras(part.model_extra, f"{place}content.")


def _thought(message: AssistantMessage) -> str:
    """What the model thought before an earlier answer, as far as it can be read."""
    return message.reasoning_content or message.reasoning or _told(message.reasoning_details or [])


def _tagged(thought: str, content: Any) -> Any:
    tagged = f"<think>{thought}</think>"
    return f"{tagged}{content}" if isinstance(content, str) else [{"type": "text", "text": tagged}, *content]


def _as_sent(history: Sequence[Message], sent: Sequence[Message]) -> list[Message]:
    """The results of each turn in the caller's order; one that was made up comes last."""
    if ToolMessage not in map(type, history):
        return list(history)
    places = {id(message): place for place, message in enumerate(sent)}
    out: list[Message] = []
    for is_result, group in groupby(history, key=lambda message: isinstance(message, ToolMessage)):
        run = list(group)
        out += sorted(run, key=lambda m: places.get(id(m), len(sent))) if is_result else run
    return out


def _as_text(parts: Iterable[TextPart | RefusalPart]) -> Content:
    return [
        part if isinstance(part, TextPart) else TextPart(type="text", text=part.refusal) for part in parts
    ]


def _told(details: Sequence[Mapping[str, Any]]) -> str:
    return "".join(text(row, "text", "summary") for row in details)


def _known(**members: Any) -> Wire:
    return {name: value for name, value in members.items() if value}
