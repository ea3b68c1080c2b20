"""Tools, from OpenAI's words to those of Converse.

Must never leave out a tool that the history speaks of: Converse refuses a call whose tool is not declared.
Source: Amazon Bedrock API reference, "Tool" and "ToolSpecification"; Amazon Nova user guide, "Web
grounding" (read 2026-11-29).
"""

from collections.abc import Iterable
from typing import Any, Final

from motes.chat import ChatRequest, FunctionDefinition, Tool
from motes.dialects.bedrock_converse.families import Family
from motes.dialects.bedrock_converse.parts import cache_point
from motes.dialects.claude_schema import closed, rooted

GROUNDING: Final = {"systemTool": {"name": "nova_grounding"}}
_OWN: Final = ("toolSpec", "systemTool", "cachePoint")


def tools_of(
    request: ChatRequest, family: Family, called: Iterable[str], notes: list[str]
) -> list[dict[str, Any]]:
    """The tools, in order, and behind them a bare one for each that the history calls and nobody declared."""
    tools = [made for tool in request.tools or [] for made in _tool(tool, family, notes)]
    tools += [_function(function, family, notes) for function in request.functions or []]
    allowed = _allowed(request.tool_choice)
    if allowed is not None:
        tools = [tool for tool in tools if _name(tool) in allowed or "toolSpec" not in tool]
    if request.web_search_options is not None:
        if family.grounding:
            tools.append(dict(GROUNDING))
        else:
            notes.append("web search was left out: this model has none here")
    known = {_name(tool) for tool in tools}
    missing = [name for name in dict.fromkeys(called) if name not in known]
    if missing:
        notes.append("tools that the history calls were declared, as this vendor wants")
    return tools + [{"toolSpec": {"name": name, "inputSchema": {"json": rooted(None)}}} for name in missing]


def _tool(tool: Tool, family: Family, notes: list[str]) -> list[dict[str, Any]]:
    if tool.function is not None:
        made = _function(tool.function, family, notes)
    elif tool.custom is not None:
        made = _free_form(tool.custom, notes)
    else:
        made = {name: value for name, value in (tool.model_extra or {}).items() if name in _OWN}
        if not made:
            notes.append(f"a tool of type {tool.type[:40]!r} was left out: this vendor has none of it")
            return []
    return [made, cache_point(tool.cache_control)] if tool.cache_control and family.cache else [made]


def _function(function: FunctionDefinition, family: Family, notes: list[str]) -> dict[str, Any]:
    strict = bool(function.strict and family.schemas)
    if function.strict and not strict:
        notes.append("strict was left out: this model cannot be held to a schema here")
    schema = rooted(function.parameters)
    made: dict[str, Any] = {"name": function.name}
    if function.description:
        made["description"] = function.description
    made["inputSchema"] = {"json": closed(schema, notes) if strict else schema}
    return {"toolSpec": made | ({"strict": True} if strict else {})}


def _free_form(custom: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """A tool that takes free text takes it here as the one argument `input`."""
    notes.append("a custom tool was sent as a function with one text argument, `input`")
    made: dict[str, Any] = {"name": str(custom.get("name") or "custom")}
    if isinstance(custom.get("description"), str) and custom["description"]:
        made["description"] = custom["description"]
    text = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return {"toolSpec": {**made, "inputSchema": {"json": text}}}


def _allowed(wanted: str | dict[str, Any] | None) -> set[str] | None:
    """The names of OpenAI's `allowed_tools`, where the choice is one."""
    if not isinstance(wanted, dict) or wanted.get("type") != "allowed_tools":
        return None
    listed = _object(wanted.get("allowed_tools")).get("tools")
    items = [_object(item) for item in listed] if isinstance(listed, list) else []
    names = [(_object(item.get("function")) or item).get("name") for item in items]
    return {name for name in names if isinstance(name, str)}


def _name(tool: dict[str, Any]) -> str | None:
    name = _object(tool.get("toolSpec") or tool.get("systemTool")).get("name")
    return name if isinstance(name, str) else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
