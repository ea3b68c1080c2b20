"""The tools of a request and which of them may be chosen, in chat-completions form.

Must never send a choice without tools, nor one that this vendor refuses. Source: OpenAI API reference,
"Create chat completion", `tools` and `tool_choice` (read 2026-11-29).
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from motes.chat import ChatRequest, FunctionDefinition, Tool
from motes.dataclass import dataclass
from motes.dialects.openai_chat.fields import inner, rows, text
from motes.dialects.strict_schema import strictly
from motes.errors import InvalidRequest
from motes.quirks import Quirks, ToolChoice

Warn = Callable[[str], None]

_WORDS: Final[Mapping[str, str]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}
# Where a forced tool and reasoning rule each other out.
_WITHOUT_THINKING: Final = ("forced-without-thinking", "named-without-thinking")
_NOT_BOTH: Final = (*_WITHOUT_THINKING, "not-while-thinking")

_MEMBERS: Final = frozenset({"tools", "functions", "tool_choice", "function_call", "parallel_tool_calls"})
"""What a request says of tools."""


@dataclass(slots=True)
class Tools:
    """What to send: the tools, the choice among them, and whether it forces one."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    choice: str | dict[str, Any] | None = None
    parallel: bool | None = None
    rules_reasoning_out: bool = False

    @property
    def is_forced(self) -> bool:
        """Whether some tool must be called."""
        return self.choice == "required" or isinstance(self.choice, dict)

    def give_way(self, can: ToolChoice, reasons: bool, warn: Warn) -> None:
        """Force nothing where this vendor does not, since the model is going to reason."""
        if reasons and self.is_forced and can in _NOT_BOTH:
            warn("tool_choice: left to the model, this vendor forces no tool while a model reasons")
            self.choice = "auto"


def tools_of(request: ChatRequest, quirks: Quirks, warn: Warn) -> Tools:
    """The tools of a request, as far as they do not hang on reasoning (`give_way`). Raises InvalidRequest for
    a choice that cannot be meant.
    """
    if not request.gives(_MEMBERS):
        return Tools()
    definitions = [*(request.tools or []), *(Tool(function=f) for f in request.functions or [])]
    writer = _Writer(quirks, warn)
    out = Tools([entry for tool in definitions if (entry := writer.entry(tool))])
    out.choice = _choice_of(request)
    out.parallel = request.parallel_tool_calls
    if not out.entries:
        given = ["tool_choice"] if out.choice not in (None, "none", "auto") else []
        given += ["parallel_tool_calls"] if out.parallel is not None else []
        if given:
            warn(f"{', '.join(given)}: dropped, there are no tools")
        return Tools()
    _limit(out, quirks.tool_choice, warn)
    return out


class _Writer:
    """Tools as this vendor takes them."""

    def __init__(self, quirks: Quirks, warn: Warn) -> None:
        self._strict = quirks.strict_tools
        self._custom = quirks.custom_tools
        self._marks = quirks.cache_control
        self._warn = warn

    def entry(self, tool: Tool) -> dict[str, Any] | None:
        """One tool, or None where the vendor has nothing like it. A vendor's own tool goes as it is."""
        if tool.function is not None:
            function = {"type": "function", "function": self._function(tool.function)}
            return function | self._mark(tool)
        if tool.custom is not None and not self._custom:
            self._warn("tools: free-form (custom) tools were dropped, this vendor has none")
            return None
        return tool.model_dump(exclude_unset=True)

    def _mark(self, tool: Tool) -> dict[str, Any]:
        if tool.cache_control is None:
            return {}
        if self._marks:
            return {"cache_control": tool.cache_control}
        self._warn("cache_control: dropped, this vendor caches by itself or not at all")
        return {}

    def _function(self, function: FunctionDefinition) -> dict[str, Any]:
        place = f"tools.{function.name}"
        out: dict[str, Any] = {"name": function.name}
        if function.description is not None:
            out["description"] = function.description
        parameters = function.parameters or {"type": "object", "properties": {}}
        if "type" not in parameters and "$ref" not in parameters:
            parameters = {"type": "object", **parameters}
        out["parameters"] = parameters
        if function.strict is not None and self._strict:
            out["strict"] = function.strict
            if function.strict:
                out["parameters"] = strictly(parameters, place, self._warn)
        elif function.strict:
            self._warn(f"{place}.strict: dropped, this vendor does not know it")
        for name, value in (function.model_extra or {}).items():
            if value is not None:
                self._warn(f"{place}.{name[:40]}: dropped, it is no part of the protocol")
        return out


def _choice_of(request: ChatRequest) -> str | dict[str, Any] | None:
    """The choice in today's form, whatever form it came in."""
    choice = request.tool_choice if request.tool_choice is not None else request.function_call
    if choice is None:
        return None
    if isinstance(choice, str):
        return _word(choice)
    kind = text(choice, "type")
    if kind in ("custom", "allowed_tools"):
        return choice
    name = text(inner(choice, "function"), "name") or text(choice, "name")
    return {"type": "function", "function": {"name": name}} if name else _word(kind)


def _word(word: str) -> str:
    if word not in _WORDS:
        raise InvalidRequest(
            "tool_choice: use none, auto, required, or an object that names a function",
            param="tool_choice",
            code="invalid_value",
        )
    return _WORDS[word]


def _limit(out: Tools, can: ToolChoice, warn: Warn) -> None:
    """Leave of the choice what this vendor takes, whether the model reasons or not."""
    if isinstance(out.choice, dict) and out.choice.get("type") == "allowed_tools":
        _allow(out, out.choice, warn)
    if can == "words" and isinstance(out.choice, dict):
        _alone(out, out.choice, warn)
    elif can == "named-without-thinking" and out.choice == "required":
        _named(out, warn)
    elif can in ("no-forced", "auto-only") and out.is_forced:
        warn("tool_choice: this vendor cannot be forced to call a tool; it was left the choice")
        out.choice = "auto" if can == "no-forced" else None
    elif can == "auto-only":
        if out.choice == "none":
            warn("tools: left out, since none may be called and this vendor cannot be told so")
            out.entries, out.parallel = [], None
        out.choice = None
    out.rules_reasoning_out = can in _WITHOUT_THINKING and out.is_forced


def _alone(out: Tools, choice: Mapping[str, Any], warn: Warn) -> None:
    """The named tool as the only one there is, which must be called: a name cannot be said here."""
    name = _tool_name(choice)
    kept = [entry for entry in out.entries if _tool_name(entry) == name]
    out.choice = "required" if kept else "auto"
    warn("tool_choice: only the named tool was sent, since this vendor takes no name in the choice")
    out.entries = kept or out.entries


def _named(out: Tools, warn: Warn) -> None:
    """The one tool by its name; among several none can be forced here."""
    name = _tool_name(out.entries[0]) if len(out.entries) == 1 else ""
    if name:
        out.choice = {"type": "function", "function": {"name": name}}
    else:
        warn("tool_choice: this vendor can be forced to call one named tool only; it was left the choice")
        out.choice = "auto"


def _tool_name(row: Mapping[str, Any]) -> str:
    return text(inner(row, "function"), "name") or text(row, "name")


def _allow(out: Tools, choice: Mapping[str, Any], warn: Warn) -> None:
    """A choice among some of the tools: the others are not sent, which every vendor understands."""
    allowed = inner(choice, "allowed_tools") or choice
    names = {_tool_name(row) for row in rows(allowed, "tools")}
    kept = [entry for entry in out.entries if _tool_name(entry) in names]
    out.choice = _WORDS.get(text(allowed, "mode"), "auto")
    if kept:
        warn("tool_choice: only the allowed tools were sent")
        out.entries = kept
