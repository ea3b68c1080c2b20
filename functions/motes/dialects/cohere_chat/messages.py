"""The caller's messages as Cohere wants them, and the documents among them.

A turn that calls tools says what it has to say as its plan: text beside calls is refused. A result that is a
JSON object is a document, so that its fields can be cited; a text file is one too, apart from the messages.
Must never send a blank turn. Raises InvalidRequest for what Cohere cannot be told: sound, a file that is no
text. Source: Cohere API reference, "Chat", `messages` and `documents`; "Tool use", "Image inputs"
(docs.cohere.com, read 2026-11-29).
"""

from collections.abc import Sequence
from typing import Any, Final

from motes import history, jsontext
from motes.chat import (
    AssistantMessage,
    AudioPart,
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
)
from motes.dialects.data_urls import is_data_url, parted, text_of
from motes.errors import InvalidRequest

Wire = dict[str, Any]

FAILED: Final = "[ERROR] "
NO_TEXT: Final = "[no text]"
_TEXTS: Final = ("application/json", "application/xml", "application/yaml", "application/x-yaml")
_DETAILS: Final = ("auto", "low", "high")


class Conversation:
    """The messages of one request, and the documents that were found in them."""

    def __init__(self, messages: Sequence[Message], notes: list[str]) -> None:
        self.messages: list[Wire] = []
        self.documents: list[Wire] = []
        self._notes = notes
        normal, changes = history.normalise(messages)
        notes += changes
        for message in normal:
            self._add(message)
        if all(message["role"] == "system" for message in self.messages):
            self.messages.append({"role": "user", "content": NO_TEXT})

    def instruct(self, instruction: str) -> None:
        """Add an instruction to the system text, which is made if there is none."""
        first = self.messages[0]
        if first["role"] == "system":
            first["content"] += f"\n\n{instruction}"
        else:
            self.messages.insert(0, {"role": "system", "content": instruction})

    def _add(self, message: Message) -> None:
        if getattr(message, "name", None) and not isinstance(message, ToolMessage):
            self._notes.append("messages: names of participants were dropped")
        match message:
            case SystemMessage():
                self._put("system", _joined(self._content(message.content)))
            case UserMessage():
                parts = self._content(message.content)
                self._put("user", parts if any("text" not in part for part in parts) else _joined(parts))
            case AssistantMessage():
                self._on_answer(message)
            case ToolMessage():
                self.messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": message.tool_call_id,
                        "content": self._result(message),
                    }
                )

    def _put(self, role: str, content: str | list[Wire]) -> None:
        if content:
            self.messages.append({"role": role, "content": content})
        else:
            self._notes.append(f"messages: a blank {role} turn was dropped")

    def _on_answer(self, message: AssistantMessage) -> None:
        parts = self._content(message.content)
        words = _joined(parts) or message.refusal or ""
        thoughts = message.reasoning_content or message.reasoning or ""
        if message.audio or any("text" not in part for part in parts):
            self._notes.append("messages: images and sound of earlier answers were dropped")
        if not message.tool_calls:
            if thoughts:
                self._notes.append("messages: reasoning of earlier answers without calls was dropped")
            self._put("assistant", words)
            return
        plan = "\n\n".join(filter(None, (thoughts.strip(), words.strip())))
        calls = [self._call(call) for call in message.tool_calls]
        self.messages.append(
            {"role": "assistant", "tool_calls": calls} | ({"tool_plan": plan} if plan else {})
        )

    def _call(self, call: ToolCallItem) -> Wire:
        arguments = call.arguments
        if call.custom is not None:
            arguments = jsontext.dumps({"input": call.custom.input})
        elif jsontext.as_object(arguments) is None:
            if arguments.strip():
                self._notes.append(
                    f"arguments of a call of {call.name[:60]!r} are no JSON object: sent as {{}}"
                )
            arguments = "{}"
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}

    def _result(self, message: ToolMessage) -> str | list[Wire]:
        parts = self._content(message.content)
        words: list[str] = [part["text"] for part in parts if "text" in part]
        if len(words) < len(parts):
            self._notes.append("messages: images in results of tools were dropped, this vendor takes none")
        if message.is_error:
            return FAILED + "\n".join(words)
        pieces = [_piece(text) for text in words]
        if len(pieces) == 1 and "text" in pieces[0]:
            return words[0]
        return pieces or NO_TEXT

    def _content(self, content: Content) -> list[Wire]:
        """The parts of a content that say something; text files become documents."""
        if content is None or isinstance(content, str):
            return _text(content or "")
        found = []
        for part in content:
            if getattr(part, "cache_control", None):
                self._notes.append("cache_control: dropped, this vendor caches by itself")
            found += self._part(part)
        return found

    def _part(self, part: Part) -> list[Wire]:
        match part:
            case TextPart():
                return _text(part.text)
            case RefusalPart():
                return _text(part.refusal)
            case ImagePart():
                detail = part.image_url.detail
                named = {"detail": detail} if detail in _DETAILS else {}
                return [{"type": "image_url", "image_url": {"url": part.image_url.url, **named}}]
            case FilePart():
                return self._file(part)
            case AudioPart():
                raise _refused("this vendor takes no sound")

    def _file(self, part: FilePart) -> list[Wire]:
        """A text goes among the documents; an image that comes as a file is an image."""
        given, name = part.file.file_data or "", part.file.filename or ""
        if not is_data_url(given):
            raise _refused("this vendor keeps no files: send `file_data` as a data URL")
        mime, data = parted(given, "messages")
        if mime.startswith("image/"):
            return [{"type": "image_url", "image_url": {"url": given}}]
        if not (mime.startswith("text/") or mime in _TEXTS):
            raise _refused(f"this vendor takes text files and images, not {mime[:60]}")
        titled = {"title": name} if name else {}
        id = f"file:{len(self.documents)}"
        self.documents.append({"id": id, "data": {**titled, "text": text_of(data, "messages")}})
        return []


def _text(text: str) -> list[Wire]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _joined(parts: list[Wire]) -> str:
    return "\n".join(part["text"] for part in parts if "text" in part)


def _piece(text: str) -> Wire:
    """One piece of a result: a document where it has fields."""
    data = jsontext.as_object(text)
    return (
        {"type": "text", "text": text} if data is None else {"type": "document", "document": {"data": data}}
    )


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="messages", code="unsupported")
