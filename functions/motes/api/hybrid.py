"""Chat requests in the clothes of another endpoint: `input` for `messages`, tools without their wrapper.

Some clients post the body of OpenAI's Responses API to /chat/completions. Pure. Must never change a request
that has `messages`, and leaves what it does not understand to the validation that names the place.

Source: OpenAI API reference, "Create a model response", input items (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

_PARTS: Final = {"input_text": "text", "output_text": "text", "summary_text": "text", "text": "text"}
_OF_THE_ITEM: Final = frozenset({"type", "id", "status", "phase"})
_REPLACED: Final = frozenset({"input", "instructions", "messages", "text"})
_FORMAT: Final = "openai-responses-v1"


def as_chat(data: Any) -> Any:
    """The body as a chat request."""
    if not isinstance(data, dict) or "input" not in data or data.get("messages"):
        return data
    body = {name: value for name, value in data.items() if name not in _REPLACED}
    messages = _messages(data["input"])
    if isinstance(messages, list) and data.get("instructions"):
        messages = [{"role": "system", "content": data["instructions"]}, *messages]
    body["messages"] = messages
    if isinstance(data.get("tools"), list):
        body["tools"] = [_tool(tool) for tool in data["tools"]]
    if "max_output_tokens" in body:
        body.setdefault("max_completion_tokens", body.pop("max_output_tokens"))
    return _described(data.get("text")) | body


def _described(text: Any) -> dict[str, Any]:
    """What the answer is to look like: `text.format` has the schema without its wrapper."""
    if not isinstance(text, Mapping):
        return {}
    out = {name: text[name] for name in ("verbosity",) if text.get(name) is not None}
    form = text.get("format")
    if isinstance(form, Mapping):
        schema = {name: value for name, value in form.items() if name != "type"}
        kind = form.get("type")
        out["response_format"] = {"type": kind, "json_schema": schema} if kind == "json_schema" else form
    return out


def _messages(items: Any) -> Any:
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    if not isinstance(items, list):
        return items
    turns = _Turns()
    for item in items:
        turns.add(item)
    return turns.messages


class _Turns:
    """Items one by one: what a model said, thought and called in one go is one turn."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._thoughts: list[dict[str, Any]] = []

    def add(self, item: Any) -> None:
        """One item."""
        kind = item.get("type") if isinstance(item, Mapping) else None
        if kind == "reasoning":
            self._thoughts += _thought(item)
        elif kind in ("function_call", "custom_tool_call"):
            self._call(_call(item, kind))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            content = _content(item.get("output"))
            self.messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": content})
        elif isinstance(item, Mapping):
            said = {name: value for name, value in item.items() if name not in _OF_THE_ITEM or not kind}
            self._say(said | {"content": _content(item.get("content"))})
        else:
            self.messages.append(item)

    def _say(self, message: dict[str, Any]) -> None:
        if message.get("role") == "assistant":
            message |= self._taken()
        self.messages.append(message)

    def _call(self, call: dict[str, Any]) -> None:
        last = self.messages[-1] if self.messages else None
        if self._thoughts or not isinstance(last, dict) or last.get("role") != "assistant":
            last = {"role": "assistant", "content": None, **self._taken()}
            self.messages.append(last)
        last["tool_calls"] = [*last.get("tool_calls", ()), call]

    def _taken(self) -> dict[str, Any]:
        thoughts, self._thoughts = self._thoughts, []
        return {"reasoning_details": thoughts} if thoughts else {}


def _thought(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A thought that goes back to its maker; a summary without the encrypted rest is of no use there."""
    data = item.get("encrypted_content")
    if not isinstance(data, str):
        return []
    return [{"type": "reasoning.encrypted", "data": data, "id": item.get("id"), "format": _FORMAT}]


def _call(item: Mapping[str, Any], kind: str) -> dict[str, Any]:
    if kind == "custom_tool_call":
        inner = {"name": item.get("name"), "input": item.get("input")}
        return {"id": item.get("call_id"), "type": "custom", "custom": inner}
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _content(content: Any) -> Any:
    return [_part(part) for part in content] if isinstance(content, list) else content


def _part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind == "input_image":
        image = {"url": part.get("image_url"), "detail": part.get("detail")}
        return {"type": "image_url", "image_url": image}
    if kind == "input_file":
        file = {name: part[name] for name in ("file_id", "file_data", "filename") if part.get(name)}
        return {"type": "file", "file": file}
    if kind in ("output_text", "text") and isinstance(part, Mapping):
        return {"type": "text", "text": part.get("text")}
    if isinstance(kind, str) and kind in _PARTS:
        return {**part, "type": _PARTS[kind]}
    return part


def _tool(tool: Any) -> Any:
    if not isinstance(tool, Mapping) or tool.get("type") not in ("function", "custom"):
        return tool
    kind = tool["type"]
    if kind in tool:
        return tool
    return {"type": kind, kind: {name: value for name, value in tool.items() if name != "type"}}
