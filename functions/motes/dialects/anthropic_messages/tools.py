"""Tools and the choice among them, from OpenAI's words to those of the Messages API.

A tool of a type that is the vendor's own goes as it is. Must never send a choice without tools, which is
refused. Source: "Tool use", "Web search tool" (platform.claude.com/docs, read 2026-11-29).
"""

from typing import Any, Final

from motes.chat import ChatRequest, FunctionDefinition, Tool
from motes.dialects.claude_schema import closed, rooted

WEB_SEARCH: Final = {"type": "web_search_20250305", "name": "web_search"}
_TOOLS: Final = frozenset({"tools", "functions", "web_search_options"})
_MODES: Final = {"auto": "auto", "required": "any", "any": "any", "none": "none"}


def tools_of(request: ChatRequest, notes: list[str]) -> list[dict[str, Any]]:
    """The tools, in order; deprecated `functions` are tools too, and so is OpenAI's web search option."""
    if not request.gives(_TOOLS):
        return []
    tools = [_tool(tool, notes) for tool in request.tools or []]
    tools += [_function(function, notes) for function in request.functions or []]
    allowed = _allowed(request.tool_choice)
    if allowed is not None:
        tools = [tool for tool in tools if tool.get("name") in allowed]
    if request.web_search_options is not None:
        tools.append(_web_search(request.web_search_options))
    return tools


def choice_of(request: ChatRequest, tools: list[dict[str, Any]], notes: list[str]) -> dict[str, Any] | None:
    """The choice, or None for the vendor's default; one at a time where parallel calls are not wanted."""
    wanted = request.tool_choice if request.tool_choice is not None else request.function_call
    choice = _choice(wanted, notes)
    if not tools:
        if choice is not None and choice["type"] in ("any", "tool"):
            notes.append("tool_choice was left out: there are no tools")
        return None
    if request.parallel_tool_calls is False and (choice is None or choice["type"] != "none"):
        return {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
    return choice


def _choice(wanted: str | dict[str, Any] | None, notes: list[str]) -> dict[str, Any] | None:
    if wanted is None:
        return None
    kind = wanted if isinstance(wanted, str) else wanted.get("type")
    options = wanted if isinstance(wanted, dict) else {}
    if kind == "allowed_tools":
        kind = _object(options.get("allowed_tools")).get("mode")
    named = _object(options.get("function")) or _object(options.get("custom")) or options
    if isinstance(named.get("name"), str):
        return {"type": "tool", "name": named["name"]}
    if isinstance(kind, str) and kind in _MODES:
        return {"type": _MODES[kind]}
    notes.append("tool_choice was left out: it names neither a mode nor a tool")
    return None


def _allowed(wanted: str | dict[str, Any] | None) -> set[str] | None:
    """The names of OpenAI's `allowed_tools`, where the choice is one."""
    if not isinstance(wanted, dict) or wanted.get("type") != "allowed_tools":
        return None
    listed = _object(wanted.get("allowed_tools")).get("tools")
    items = [_object(item) for item in listed] if isinstance(listed, list) else []
    names = [(_object(item.get("function")) or item).get("name") for item in items]
    return {name for name in names if isinstance(name, str)}


def _tool(tool: Tool, notes: list[str]) -> dict[str, Any]:
    if tool.function is not None:
        made = _function(tool.function, notes)
    elif tool.custom is not None:
        made = _free_form(tool.custom, notes)
    else:
        return tool.model_dump(exclude_unset=True)
    if tool.cache_control:
        made["cache_control"] = tool.cache_control
    return made


def _function(function: FunctionDefinition, notes: list[str]) -> dict[str, Any]:
    schema = rooted(function.parameters)
    made: dict[str, Any] = {"name": function.name}
    if function.description:
        made["description"] = function.description
    made["input_schema"] = closed(schema, notes) if function.strict else schema
    if function.strict:
        made["strict"] = True
    return made


def _free_form(custom: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """A tool that takes free text takes it here as the one argument `input`."""
    notes.append("a custom tool was sent as a function with one text argument, `input`")
    made: dict[str, Any] = {"name": str(custom.get("name") or "custom")}
    if isinstance(custom.get("description"), str):
        made["description"] = custom["description"]
    text = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return {**made, "input_schema": text}


def _web_search(options: dict[str, Any]) -> dict[str, Any]:
    where = _object(_object(options.get("user_location")).get("approximate"))
    known = {k: where[k] for k in ("city", "region", "country", "timezone") if isinstance(where.get(k), str)}
    return {**WEB_SEARCH, **({"user_location": {"type": "approximate", **known}} if known else {})}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
