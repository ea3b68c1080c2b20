"""The tools of a request and the choice among them, in the flat form of this protocol.

Must never send a choice without tools, nor lose a tool without a note. Source: google-genai 3.6.1, `Tool` and
`ToolChoice` (read 2026-11-29).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from motes.chat import ChatRequest, FunctionDefinition, Tool
from motes.dialects.function_tools import parameters_of
from motes.dialects.gemini_interactions.agents import Kind
from motes.dialects.gemini_interactions.fields import Json, inner, rows, text
from motes.errors import InvalidRequest

Wire = dict[str, Any]

# By the name a caller may know a tool under, with capitals and underscores taken away.
_HOSTED: Final[Mapping[str, str]] = {
    "googlesearch": "google_search",
    "websearch": "google_search",
    "websearchpreview": "google_search",
    "googlemaps": "google_maps",
    "urlcontext": "url_context",
    "codeexecution": "code_execution",
    "codeinterpreter": "code_execution",
    "filesearch": "file_search",
    "computeruse": "computer_use",
    "mcpserver": "mcp_server",
    "retrieval": "retrieval",
    "toolsearch": "tool_search",
}
# Options that other vendors' tools of these names have; Google's have none of them.
_FOREIGN: Final = frozenset({"web_search", "web_search_preview", "code_interpreter"})
_WORDS: Final[Mapping[str, str]] = {
    "auto": "auto",
    "none": "none",
    "required": "any",
    "any": "any",
    "validated": "validated",
}
_FREE_TEXT: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def tools_of(request: ChatRequest, kind: Kind, notes: list[str]) -> list[Wire]:
    """Every tool of a request, each name once."""
    found: dict[str, Wire] = {}
    for entry in _entries(request, kind, notes):
        name = text(entry, "name") or entry["type"]
        if name in found:
            notes.append(f"tools: a second one named {name[:40]} was dropped")
        else:
            found[name] = entry
    return list(found.values())


def choice_of(request: ChatRequest, tools: list[Wire], notes: list[str]) -> str | Wire | None:
    """The choice among them. Raises InvalidRequest for one that cannot be meant."""
    asked = request.tool_choice if request.tool_choice is not None else request.function_call
    choice = None if asked is None else _word(asked) if isinstance(asked, str) else _named(asked)
    if any(tool["type"] == "function" for tool in tools):
        return choice
    if choice not in (None, "auto", "none"):
        notes.append("tool_choice: dropped, there is no function to choose")
    return None


def _entries(request: ChatRequest, kind: Kind, notes: list[str]) -> Iterator[Wire]:
    functions = [*_functions(request, notes)]
    if kind.functions:
        yield from functions
    elif functions:
        notes.append("tools: functions were dropped, this agent or model takes none")
    for tool in request.tools or []:
        if tool.function is None and tool.custom is None:
            yield from _hosted(tool, notes)
    if request.web_search_options is not None:
        if request.web_search_options:
            notes.append("web_search_options: this vendor's search takes no options of this kind; dropped")
        if not any(_hosted_name(tool.type) == "google_search" for tool in request.tools or []):
            yield {"type": "google_search"}


def _functions(request: ChatRequest, notes: list[str]) -> Iterator[Wire]:
    for tool in request.tools or []:
        if tool.cache_control is not None:
            notes.append("cache_control: dropped, this vendor caches by itself")
        if tool.function is not None:
            yield _function(tool.function, notes)
        elif tool.custom is not None:
            notes.append("tools: a custom tool was sent as a function with one text argument, `input`")
            name, about = text(tool.custom, "name") or "custom", text(tool.custom, "description")
            yield _function(FunctionDefinition(name=name, description=about, parameters=_FREE_TEXT), notes)
    for function in request.functions or []:
        yield _function(function, notes)


def _function(function: FunctionDefinition, notes: list[str]) -> Wire:
    if function.strict:
        notes.append("tools: this vendor has no strict functions; `strict` was dropped")
    about = {"description": function.description} if function.description else {}
    schema = {name: value for name, value in parameters_of(function).items() if name != "$schema"}
    return {"type": "function", "name": function.name, **about, "parameters": schema}


def _hosted(tool: Tool, notes: list[str]) -> Iterator[Wire]:
    """Google's own tools, known by their names here, by those of others, and by those of generateContent."""
    options = dict(tool.model_extra or {})
    for word in (tool.type, *options):
        name = _hosted_name(word)
        if name is not None:
            given = options.get(word) if word in options else {} if word in _FOREIGN else options
            yield {"type": name, **(given if isinstance(given, dict) else {})}
            return
    notes.append(f"tools: a tool of type {tool.type[:40]!r} is not known to this vendor; dropped")


def _hosted_name(word: str) -> str | None:
    return _HOSTED.get(word.replace("_", "").lower())


def _word(word: str) -> str:
    if word not in _WORDS:
        raise InvalidRequest(
            "tool_choice: use none, auto, required, or an object that names a function",
            param="tool_choice",
            code="invalid_value",
        )
    return _WORDS[word]


def _named(choice: Json) -> str | Wire:
    """One function, or some of them."""
    if text(choice, "type") == "allowed_tools" or inner(choice, "allowed_tools"):
        allowed = inner(choice, "allowed_tools") or choice
        names = [name for tool in rows(allowed, "tools") if (name := _name(tool))]
        # The mode that may answer in words or call, and keeps to the listed functions.
        mode = "any" if text(allowed, "mode") == "required" else "validated"
        return {"allowed_tools": {"mode": mode, "tools": names}} if names else "auto"
    name = _name(choice)
    return {"allowed_tools": {"mode": "any", "tools": [name]}} if name else _word(text(choice, "type"))


def _name(choice: Json) -> str:
    """The name in `{"function": {"name"}}`, `{"custom": {"name"}}` or `{"name"}`."""
    return text(inner(choice, "function") or inner(choice, "custom") or choice, "name")
