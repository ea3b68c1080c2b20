"""The tools of a request and which of them may be chosen, in the flat form of this protocol.

Must never send a choice without tools, nor one that this vendor refuses, and never leave it open whether a
function's schema is strict: the vendor would decide. Source: OpenAI API reference, "Responses", `tools` and
`tool_choice` (read 2026-11-29).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from motes.chat import ChatRequest, FunctionDefinition, Tool
from motes.dataclass import dataclass
from motes.dialects.openai_responses.effort import Plan
from motes.dialects.openai_responses.fields import Json, inner, rows, text
from motes.dialects.strict_schema import strictly
from motes.errors import InvalidRequest
from motes.quirks import Quirks

Wire = dict[str, Any]

_WORDS: Final[Mapping[str, str]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}
_CLIENTS: Final = ("function", "custom")
_MINIMAL: Final = "minimal"


@dataclass(slots=True)
class Tools:
    """What to send: the tools and the choice among them."""

    entries: list[Wire] = field(default_factory=list)
    choice: str | Wire | None = None
    parallel: bool | None = None

    def has(self, head: str) -> bool:
        """Whether there is a tool of a type that begins so."""
        return any(text(entry, "type").startswith(head) for entry in self.entries)


def tools_of(request: ChatRequest, quirks: Quirks, plan: Plan, notes: list[str]) -> Tools:
    """The tools of a request. Raises InvalidRequest for a choice that cannot be meant."""
    definitions = [*(request.tools or []), *(Tool(function=f) for f in request.functions or [])]
    entries = [entry for tool in definitions if (entry := _entry(tool, quirks, notes))]
    out = Tools(entries, _choice_of(request), request.parallel_tool_calls)
    search = _search(request, out, quirks, plan, notes)
    if search is not None:
        out.entries.append(search)
    if not out.entries:
        if out.choice not in (None, "none", "auto") or out.parallel is not None:
            notes.append("tool_choice, parallel_tool_calls: dropped, there are no tools")
        return Tools()
    _limit(out, quirks.tool_choice, notes)
    return out


def _entry(tool: Tool, quirks: Quirks, notes: list[str]) -> Wire | None:
    """One tool, or None where the vendor has nothing like it. A vendor's own tool goes as it is."""
    if tool.function is not None:
        return _function(tool.function, quirks, notes)
    if tool.custom is not None:
        if quirks.custom_tools:
            return {"type": "custom", **tool.custom}
        notes.append("tools: free-form (custom) tools were dropped, this vendor has none")
        return None
    return tool.model_dump(exclude_unset=True)


def _function(function: FunctionDefinition, quirks: Quirks, notes: list[str]) -> Wire:
    place = f"tools.{function.name}"
    out: Wire = {"type": "function", "name": function.name}
    if function.description is not None:
        out["description"] = function.description
    parameters = function.parameters or {"type": "object", "properties": {}}
    if "type" not in parameters and "$ref" not in parameters:
        parameters = {"type": "object", **parameters}
    strict = bool(function.strict) and quirks.strict_tools
    out["parameters"] = strictly(parameters, place, notes.append) if strict else parameters
    if quirks.strict_tools:
        out["strict"] = strict
    elif function.strict:
        notes.append(f"{place}.strict: dropped, this vendor does not know it")
    for name, value in (function.model_extra or {}).items():
        if value is not None:
            notes.append(f"{place}.{name[:40]}: dropped, it is no part of the protocol")
    return out


def _search(request: ChatRequest, tools: Tools, quirks: Quirks, plan: Plan, notes: list[str]) -> Wire | None:
    """The vendor's web search, where the caller wants one and has not named the tool himself."""
    options = request.web_search_options
    if options is None or tools.has("web_search"):
        return None
    kind = (plan.rule and plan.rule.search_tool) or quirks.search_tool
    why = _why_not(kind, tools, plan)
    if why:
        notes.append(f"web_search_options: dropped, {why}")
        return None
    out: Wire = {"type": kind}
    if "search_context_size" in options:
        out["search_context_size"] = options["search_context_size"]
    where = inner(options, "user_location")
    if where:
        out["user_location"] = {"type": "approximate", **(inner(where, "approximate") or where)}
    return out


def _why_not(kind: str | None, tools: Tools, plan: Plan) -> str | None:
    if kind is None:
        return "this vendor has no search"
    if plan.effort == _MINIMAL:
        return f"there is no search at the effort {_MINIMAL!r}"
    forced = tools.choice == "required" or isinstance(tools.choice, dict)
    if forced and any(entry["type"] in _CLIENTS for entry in tools.entries):
        return "one of the caller's tools must be called"
    return None


def _choice_of(request: ChatRequest) -> str | Wire | None:
    """The choice in this protocol's form, whatever form it came in."""
    choice = request.tool_choice if request.tool_choice is not None else request.function_call
    if choice is None:
        return None
    if isinstance(choice, str):
        return _word(choice)
    kind = text(choice, "type")
    if kind == "allowed_tools":
        return choice
    name = (
        text(inner(choice, "function"), "name")
        or text(inner(choice, "custom"), "name")
        or text(choice, "name")
    )
    if name:
        return {"type": kind if kind in _CLIENTS else "function", "name": name}
    return {"type": kind} if kind and kind not in _WORDS and kind not in _CLIENTS else _word(kind)


def _word(word: str) -> str:
    if word not in _WORDS:
        raise InvalidRequest(
            "tool_choice: use none, auto, required, or an object that names a tool",
            param="tool_choice",
            code="invalid_value",
        )
    return _WORDS[word]


def _limit(out: Tools, can: str, notes: list[str]) -> None:
    """Leave of the choice what this vendor takes."""
    if isinstance(out.choice, dict) and out.choice.get("type") == "allowed_tools":
        _allow(out, out.choice, notes)
    forced = out.choice == "required" or isinstance(out.choice, dict)
    if can in ("no-forced", "auto-only") and forced:
        notes.append("tool_choice: this vendor cannot be forced to call a tool; it was left the choice")
        out.choice = "auto" if can == "no-forced" else None
    elif can == "auto-only":
        if out.choice == "none":
            notes.append("tools: left out, since none may be called and this vendor cannot be told so")
            out.entries, out.parallel = [], None
        out.choice = None


def _allow(out: Tools, choice: Json, notes: list[str]) -> None:
    """A choice among some of the tools: the others are not sent, which every vendor understands."""
    allowed = inner(choice, "allowed_tools") or choice
    named = {_name(row) for row in rows(allowed, "tools")}
    kept = [entry for entry in out.entries if _name(entry) in named]
    out.choice = _WORDS.get(text(allowed, "mode"), "auto")
    if kept:
        notes.append("tool_choice: only the allowed tools were sent")
        out.entries = kept


def _name(tool: Json) -> str:
    """A client's tool by its name, a vendor's own by its type."""
    kind = text(tool, "type")
    own = text(inner(tool, kind), "name") or text(tool, "name") if kind in _CLIENTS else ""
    return own or text(tool, "server_label") or kind
