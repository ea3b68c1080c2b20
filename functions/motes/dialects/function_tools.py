"""The tools of a request as plain functions, and the choice among them: for protocols that know no others.

A choice of one tool, or of some, is said by sending only these. Must never lose a tool, or a wish about one,
without a note. Source: OpenAI API reference, "Create chat completion", `tools` and `tool_choice` (read
2026-11-29).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from motes.chat import ChatRequest, FunctionDefinition, Tool
from motes.dataclass import dataclass
from motes.errors import InvalidRequest

Choice = Literal["auto", "required", "none"]

_WORDS: Final[Mapping[str, Choice]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}
_FREE_TEXT: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTools:
    """The functions that may be called, and whether one must be, or none may."""

    functions: tuple[FunctionDefinition, ...] = ()
    choice: Choice = "auto"


def asked_tools(request: ChatRequest, notes: list[str]) -> AskedTools:
    """The tools of a request. Raises InvalidRequest for a choice that cannot be meant."""
    made = [_function(tool, notes) for tool in request.tools or []]
    functions = (*filter(None, made), *(request.functions or []))
    asked = _chosen(AskedTools(functions=functions), request, notes)
    if not asked.functions:
        if asked.choice == "required":
            notes.append("tool_choice: dropped, there are no tools")
        return AskedTools()
    return asked


def parameters_of(function: FunctionDefinition) -> dict[str, Any]:
    """The schema of a function's arguments, an object in any case."""
    schema = function.parameters or {"properties": {}}
    return schema if "type" in schema or "$ref" in schema else {"type": "object", **schema}


def _function(tool: Tool, notes: list[str]) -> FunctionDefinition | None:
    if tool.function is not None:
        return tool.function
    if tool.custom is None:
        notes.append(f"tools: one of type {tool.type[:40]!r} was dropped, this vendor has none of it")
        return None
    notes.append("tools: a custom tool was sent as a function with one text argument, `input`")
    name, description = tool.custom.get("name"), tool.custom.get("description")
    return FunctionDefinition(
        name=name if isinstance(name, str) and name else "custom",
        description=description if isinstance(description, str) else None,
        parameters=_FREE_TEXT,
    )


def _chosen(asked: AskedTools, request: ChatRequest, notes: list[str]) -> AskedTools:
    """The tools under the caller's choice, in whatever form it came."""
    choice = request.tool_choice if request.tool_choice is not None else request.function_call
    if choice is None:
        return asked
    if isinstance(choice, str):
        return replace(asked, choice=_word(choice))
    if choice.get("type") == "allowed_tools":
        allowed = _object(choice.get("allowed_tools")) or choice
        return _only(asked, _names(allowed.get("tools")), _word(allowed.get("mode") or "auto"), notes)
    name = _name(choice)
    return (
        _only(asked, [name], "required", notes) if name else replace(asked, choice=_word(choice.get("type")))
    )


def _only(asked: AskedTools, names: list[str], choice: Choice, notes: list[str]) -> AskedTools:
    kept = tuple(function for function in asked.functions if function.name in names)
    if not kept:
        return replace(asked, choice=choice)
    if len(kept) < len(asked.functions):
        notes.append("tool_choice: only the tools it names were sent")
    return AskedTools(functions=kept, choice=choice)


def _word(word: Any) -> Choice:
    if not isinstance(word, str) or word not in _WORDS:
        raise InvalidRequest(
            "tool_choice: use none, auto, required, or an object that names a function",
            param="tool_choice",
            code="invalid_value",
        )
    return _WORDS[word]


def _names(tools: Any) -> list[str]:
    items = [_object(item) for item in tools] if isinstance(tools, list) else []
    return [name for item in items if (name := _name(item))]


def _name(named: Mapping[str, Any]) -> str:
    """The name in OpenAI's object for a tool, which has it inside, or beside its type."""
    inner = _object(named.get("function")) or _object(named.get("custom")) or named
    name = inner.get("name")
    return name if isinstance(name, str) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
