"""The caller's messages as Ollama wants them: one text a message, images beside it as bare base64.

Results name the tool they come from, arguments are objects, reasoning goes back in its own member. Must never
send an address where data belong. Raises InvalidRequest for what Ollama cannot be told: an image or file by
its address, sound, a document that is no text. Source: Ollama API reference, "Generate a chat message"; "Tool
calling", "Vision", "Thinking" (docs.ollama.com, read 2026-11-29).
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
_TEXTS: Final = ("application/json", "application/xml", "application/yaml", "application/x-yaml")


def messages_of(messages: Sequence[Message], notes: list[str]) -> list[Wire]:
    """Every message of a caller, in order."""
    normal, changes = history.normalise(messages)
    notes += changes
    writer = _Writer(notes)
    return [writer.message(message) for message in normal]


def instruct(messages: list[Wire], instruction: str) -> None:
    """Add an instruction to the system text, which is made if there is none."""
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] += f"\n\n{instruction}"
    else:
        messages.insert(0, {"role": "system", "content": instruction})


class _Writer:
    """Writes the messages of one conversation; knows the tools that were called in it."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self._names: dict[str, str] = {}

    def message(self, message: Message) -> Wire:
        """One message."""
        if getattr(message, "name", None) and not isinstance(message, ToolMessage):
            self._notes.append("messages: names of participants were dropped")
        words, images = self._content(message.content)
        out: Wire = {"role": message.role, "content": words}
        match message:
            case SystemMessage():
                out["role"] = "system"
            case AssistantMessage():
                return self._answer(out, message, images)
            case ToolMessage():
                self._result(out, message)
            case UserMessage():
                pass
        return out | ({"images": images} if images else {})

    def _answer(self, out: Wire, message: AssistantMessage, images: list[str]) -> Wire:
        out["content"] = out["content"] or message.refusal or ""
        if images or message.audio:
            self._notes.append("messages: images and sound of earlier answers were dropped")
        if thinking := message.reasoning_content or message.reasoning:
            out["thinking"] = thinking
        if message.tool_calls:
            out["tool_calls"] = [self._call(call) for call in message.tool_calls]
        return out

    def _call(self, call: ToolCallItem) -> Wire:
        arguments = jsontext.as_object(call.arguments) if call.arguments.strip() else {}
        if call.custom is not None:
            arguments = {"input": call.custom.input}
        if arguments is None:
            self._notes.append(f"arguments of a call of {call.name[:60]!r} are no JSON object: sent as {{}}")
        self._names[call.id] = call.name
        return {"id": call.id, "function": {"name": call.name, "arguments": arguments or {}}}

    def _result(self, out: Wire, message: ToolMessage) -> None:
        if message.is_error:
            out["content"] = FAILED + out["content"]
        name = self._names.get(message.tool_call_id) or message.name
        out |= {"tool_name": name} if name else {}
        out["tool_call_id"] = message.tool_call_id

    def _content(self, content: Content) -> tuple[str, list[str]]:
        """The text of a content, part by part, and its images."""
        if content is None or isinstance(content, str):
            return content or "", []
        words: list[str] = []
        images: list[str] = []
        for part in content:
            if getattr(part, "cache_control", None):
                self._notes.append("cache_control: dropped, this vendor caches by itself")
            said, image = _part(part)
            words += [said] if said else []
            images += [image] if image else []
        return "\n".join(words), images


def _part(part: Part) -> tuple[str, str]:
    """A part as text, or as an image's base64."""
    match part:
        case TextPart():
            return part.text, ""
        case RefusalPart():
            return part.refusal, ""
        case ImagePart():
            return "", _image(part.image_url.url)
        case FilePart():
            return _file(part)
        case AudioPart():
            raise _refused("this vendor takes no sound")


def _image(url: str) -> str:
    if not is_data_url(url):
        raise _refused(
            "this vendor takes no image by its address: send it as a data URL (data:image/png;base64,…)",
            "image_address_unsupported",
        )
    return parted(url, "messages")[1]


def _file(part: FilePart) -> tuple[str, str]:
    """A text between fences under its name; an image that comes as a file is an image."""
    given, name = part.file.file_data or "", part.file.filename or "file"
    if not is_data_url(given):
        raise _refused("this vendor keeps no files: send `file_data` as a data URL")
    mime, data = parted(given, "messages")
    if mime.startswith("image/"):
        return "", data
    if not (mime.startswith("text/") or mime in _TEXTS):
        raise _refused(f"this vendor takes text files and images, not {mime[:60]}")
    return f"```{' '.join(name.split())}\n{text_of(data, 'messages')}\n```", ""


def _refused(message: str, code: str = "unsupported") -> InvalidRequest:
    return InvalidRequest(message, param="messages", code=code)
