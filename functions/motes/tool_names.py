"""Names of tools that are longer than a vendor takes: short ones on the way out, and the way back.

A short name is the head of the long one and a hash of all of it, so it is the same every time, and history,
choice and definition agree. Must never give two tools one name.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from motes.chat import (
    AssistantMessage,
    ChatRequest,
    FunctionDefinition,
    FunctionMessage,
    Message,
    Tool,
    ToolCallItem,
    ToolMessage,
)

_HASHED: Final = 8


def shortened(request: ChatRequest, limit: int) -> tuple[ChatRequest, dict[str, str], list[str]]:
    """The request with no tool's name longer than `limit`, what each short name stands for, and a word about
    each.
    """
    given = set(_names(request))
    short = {name: _short(name, limit, given) for name in sorted(given) if len(name) > limit}
    if not short:
        return request, {}, []
    told = [
        f"tools.{long[:80]}: sent as {name!r}, this vendor takes {limit} characters; it comes back as it was"
        for long, name in short.items()
    ]
    return _renamed(request, short), {name: long for long, name in short.items()}, told


def _short(name: str, limit: int, taken: set[str]) -> str:
    salt = 0
    while True:
        hashed = hashlib.sha256(f"{name}/{salt}".encode("utf-8", "replace")).hexdigest()[:_HASHED]
        short = f"{name[: max(0, limit - _HASHED - 1)]}_{hashed}"[-limit:]
        if short not in taken:
            taken.add(short)
            return short
        salt += 1


def _names(request: ChatRequest) -> Iterable[str]:
    for tool in request.tools or []:
        yield from _name_of(tool)
    yield from (function.name for function in request.functions or [])
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            yield from (call.name for call in message.tool_calls or [])
            if message.function_call is not None:
                yield message.function_call.name


def _name_of(tool: Tool) -> Iterable[str]:
    if tool.function is not None:
        yield tool.function.name
    elif tool.custom is not None and isinstance(tool.custom.get("name"), str):
        yield tool.custom["name"]


def _renamed(request: ChatRequest, short: Mapping[str, str]) -> ChatRequest:
    changes: dict[str, Any] = {"messages": [_message(message, short) for message in request.messages]}
    if request.tools:
        changes["tools"] = [_tool(tool, short) for tool in request.tools]
    if request.functions:
        changes["functions"] = [_function(function, short) for function in request.functions]
    for member in ("tool_choice", "function_call"):
        chosen = getattr(request, member)
        if isinstance(chosen, dict):
            changes[member] = _chosen(chosen, short)
    return request.model_copy(update=changes)


def _tool(tool: Tool, short: Mapping[str, str]) -> Tool:
    if tool.function is not None:
        return tool.model_copy(update={"function": _function(tool.function, short)})
    if tool.custom is not None:
        return tool.model_copy(update={"custom": _chosen(tool.custom, short)})
    return tool


def _function(function: FunctionDefinition, short: Mapping[str, str]) -> FunctionDefinition:
    return function.model_copy(update={"name": short.get(function.name, function.name)})


def _message(message: Message, short: Mapping[str, str]) -> Message:
    if isinstance(message, ToolMessage | FunctionMessage) and message.name is not None:
        return message.model_copy(update={"name": short.get(message.name, message.name)})
    if not isinstance(message, AssistantMessage):
        return message
    changes: dict[str, Any] = {}
    if message.tool_calls:
        changes["tool_calls"] = [_call(call, short) for call in message.tool_calls]
    if message.function_call is not None and message.function_call.name in short:
        name = short[message.function_call.name]
        changes["function_call"] = message.function_call.model_copy(update={"name": name})
    return message.model_copy(update=changes) if changes else message


def _call(call: ToolCallItem, short: Mapping[str, str]) -> ToolCallItem:
    inner = call.function or call.custom
    if inner is None or inner.name not in short:
        return call
    member = "function" if call.function is not None else "custom"
    return call.model_copy(update={member: inner.model_copy(update={"name": short[inner.name]})})


def _chosen(choice: Mapping[str, Any], short: Mapping[str, str]) -> dict[str, Any]:
    """A choice, or a free-form tool, with the short names wherever a name stands in it."""
    out: dict[str, Any] = {}
    for key, value in choice.items():
        if key == "name" and isinstance(value, str):
            out[key] = short.get(value, value)
        elif key in ("function", "custom", "allowed_tools") and isinstance(value, Mapping):
            out[key] = _chosen(value, short)
        elif key == "tools" and isinstance(value, list):
            out[key] = [_chosen(row, short) if isinstance(row, Mapping) else row for row in value]
        else:
            out[key] = value
    return out
