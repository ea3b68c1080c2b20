"""Tools and the choice among them: the client's functions in one list, Google's own tools beside it.

Must never offer a combination that the model's generation refuses as a whole: Google's own tools give way to
the client's functions there, with a warning.

Source: ai.google.dev/gemini-api/docs/function-calling and /tools, ai.google.dev/api/caching (Tool,
ToolConfig), read 2026-11-29.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from motes.chat import ChatRequest, Tool
from motes.dialects.gemini_generate import models, schema
from motes.dialects.gemini_generate.fields import text
from motes.dialects.gemini_generate.inputs import NO_CACHE_MARKS

# By the name a caller may know a tool under, with capitals and underscores taken away.
_HOSTED: Final[Mapping[str, str]] = {
    "googlesearch": "googleSearch",
    "websearch": "googleSearch",
    "websearchpreview": "googleSearch",
    "googlesearchretrieval": "googleSearchRetrieval",
    "enterprisewebsearch": "enterpriseWebSearch",
    "googlemaps": "googleMaps",
    "urlcontext": "urlContext",
    "codeexecution": "codeExecution",
    "codeinterpreter": "codeExecution",
    "filesearch": "fileSearch",
    "computeruse": "computerUse",
    "mcpservers": "mcpServers",
}
# Options that other vendors' tools of these names have; Google's have none of them.
_FOREIGN: Final = frozenset({"web_search", "web_search_preview", "code_interpreter"})

_MEMBERS: Final = frozenset({"tools", "functions", "tool_choice", "function_call", "web_search_options"})
"""What a request says of tools."""

_FREE_INPUT: Final = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def tool_members(request: ChatRequest, model: str, warnings: list[str]) -> dict[str, Any]:
    """`tools` and `toolConfig` of the request, where there are any."""
    if not request.gives(_MEMBERS):
        return {}
    functions = list(_declarations(request, warnings))
    hosted = _hosted(request, warnings)
    if functions and hosted and not models.circulates_tools(model):
        names = ", ".join(hosted)
        warnings.append(f"tools: {model} takes no functions beside its vendor's own tools; dropped {names}")
        hosted = {}
    tools: list[dict[str, Any]] = [{"functionDeclarations": functions}] if functions else []
    tools += [{name: options} for name, options in hosted.items()]
    config = _tool_config(request, bool(functions), bool(hosted), warnings)
    return {name: value for name, value in (("tools", tools), ("toolConfig", config)) if value}


def _tool_config(
    request: ChatRequest, has_functions: bool, has_hosted: bool, warnings: list[str]
) -> dict[str, Any]:
    calling = _calling(request, warnings)
    if not has_functions:
        if calling and calling["mode"] != "NONE":
            warnings.append("tool_choice: there is no function to choose; dropped")
        return {}
    config: dict[str, Any] = {"functionCallingConfig": calling} if calling else {}
    if has_hosted:
        # The mode that lets the model choose is called otherwise where both kinds of tools are offered.
        if calling.get("mode", "AUTO") == "AUTO":
            config["functionCallingConfig"] = {"mode": "VALIDATED"}
        config["includeServerSideToolInvocations"] = True
    return config


def _declarations(request: ChatRequest, warnings: list[str]) -> Iterator[dict[str, Any]]:
    """Every function once, the deprecated list of them included."""
    seen: set[str] = set()
    for name, description, parameters in _functions(request, warnings):
        if name in seen:
            warnings.append(f"tools: a second function named {name} was dropped")
            continue
        seen.add(name)
        told = {"description": description} if description else {}
        yield {"name": name, **told, **schema.parameters(parameters, name, warnings)}


def _functions(
    request: ChatRequest, warnings: list[str]
) -> Iterator[tuple[str, str | None, Mapping[str, Any] | None]]:
    for tool in request.tools or []:
        if tool.cache_control is not None:
            warnings.append(NO_CACHE_MARKS)
        if tool.function is not None:
            if tool.function.strict:
                warnings.append("tools: this vendor has no strict functions; `strict` was dropped")
            yield tool.function.name, tool.function.description, tool.function.parameters
        elif tool.type == "custom" and tool.custom is not None:
            name = str(tool.custom.get("name") or "custom")
            warnings.append(f"tools: {name} takes free text; it is offered as a function with one `input`")
            yield name, text(tool.custom.get("description")), _FREE_INPUT
    for function in request.functions or []:
        yield function.name, function.description, function.parameters


def _hosted(request: ChatRequest, warnings: list[str]) -> dict[str, Any]:
    """Google's own tools with their options, by Google's name."""
    found: dict[str, Any] = {}
    for tool in request.tools or []:
        if tool.function is not None or tool.type == "custom":
            continue
        named = _hosted_tool(tool)
        if named is None:
            warnings.append(f"tools: a tool of type {tool.type[:40]!r} is not known to this vendor; dropped")
        else:
            found[named[0]] = named[1]
    if request.web_search_options is not None:
        if request.web_search_options:
            warnings.append("web_search_options: this vendor's search takes no options of this kind; dropped")
        found.setdefault("googleSearch", {})
    return found


def _hosted_tool(tool: Tool) -> tuple[str, Any] | None:
    """Name and options of `{"type": "google_search", …}`, or of Google's own form `{"googleSearch": {…}}`."""
    options = dict(tool.model_extra or {})
    for word in (tool.type, *options):
        name = _HOSTED.get(word.replace("_", "").lower())
        if name is None:
            continue
        if word in options:
            return name, options[word]
        return name, {} if word in _FOREIGN else options
    return None


def _calling(request: ChatRequest, warnings: list[str]) -> dict[str, Any]:
    """The functionCallingConfig, empty where the caller leaves the choice open."""
    choice = request.tool_choice if request.tool_choice is not None else request.function_call
    if isinstance(choice, str):
        mode = {"auto": "AUTO", "none": "NONE", "required": "ANY", "any": "ANY"}.get(choice)
        if mode is None:
            warnings.append(f"tool_choice: {choice[:20]!r} is not known; the model chooses")
        return {"mode": mode} if mode else {}
    return _chosen(choice, warnings) if choice else {}


def _chosen(choice: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    allowed = choice.get("allowed_tools")
    if isinstance(allowed, dict):
        listed = allowed.get("tools")
        names = [name for tool in listed or [] if (name := _name(tool))] if isinstance(listed, list) else []
        # VALIDATED is the mode that may answer in words or call, and keeps to the listed functions.
        mode = "ANY" if allowed.get("mode") == "required" else "VALIDATED"
        return {"mode": mode, "allowedFunctionNames": names} if names else {}
    name = _name(choice)
    if name is None:
        warnings.append("tool_choice: it names no function; the model chooses")
        return {}
    return {"mode": "ANY", "allowedFunctionNames": [name]}


def _name(choice: Any) -> str | None:
    """The name in `{"function": {"name"}}`, `{"custom": {"name"}}` or `{"name"}`."""
    if not isinstance(choice, dict):
        return None
    inner = choice.get("function") or choice.get("custom") or choice
    name = inner.get("name") if isinstance(inner, dict) else None
    return name if isinstance(name, str) and name else None
