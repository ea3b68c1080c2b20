"""Chat requests in the clothes of another endpoint: `input` for `messages`, tools without their wrapper.

Some clients post the body of OpenAI's Responses API to /chat/completions. Pure. Must never change a request
that has `messages`, and leaves what it does not understand to the validation that names the place.

Source: OpenAI API reference, "Create a model response", input items (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

_PARTS: Final = {"input_text": "text", "output_text": "text", "text": "text"}


def as_chat(data: Any) -> Any:
    """The body as a chat request."""
    if not isinstance(data, Mapping) or "input" not in data or data.get("messages"):
        return data
    body = {name: value for name, value in data.items() if name not in ("input", "instructions", "messages")}
    messages = _messages(data["input"])
    if isinstance(messages, list) and data.get("instructions"):
        messages = [{"role": "system", "content": data["instructions"]}, *messages]
    body["messages"] = messages
    if isinstance(data.get("tools"), list):
        body["tools"] = [_tool(tool) for tool in data["tools"]]
    if "max_output_tokens" in body:
        body.setdefault("max_completion_tokens", body.pop("max_output_tokens"))
    return body


def _messages(items: Any) -> Any:
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    return [_message(item) for item in items] if isinstance(items, list) else items


def _message(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    if item.get("type") == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if item.get("type") == "function_call_output":
        output = item.get("output")
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": _content(output)}
    return {**item, "content": _content(item.get("content"))}


def _content(content: Any) -> Any:
    return [_part(part) for part in content] if isinstance(content, list) else content


def _part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind == "input_image":
        return {
            "type": "image_url",
            "image_url": {"url": part.get("image_url"), "detail": part.get("detail")},
        }
    if isinstance(kind, str) and kind in _PARTS:
        return {**part, "type": _PARTS[kind]}
    return part


def _tool(tool: Any) -> Any:
    if isinstance(tool, Mapping) and tool.get("type") == "function" and "function" not in tool:
        return {"type": "function", "function": {name: v for name, v in tool.items() if name != "type"}}
    return tool
