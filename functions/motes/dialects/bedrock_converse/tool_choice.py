"""The choice among tools, and `toolConfig` as a whole.

Converse knows auto, any and one tool, and most models behind it not even these. What Claude alone knows (no
call at all, one call at a time) is said in its own words, which may not stand beside Converse's. Must never
send a choice that a model refuses. Source: Amazon Bedrock API reference, "ToolChoice"; "Tool use"
(platform.claude.com/docs; both read 2026-11-29).
"""

from typing import Any, Final

from motes.chat import ChatRequest
from motes.dataclass import dataclass
from motes.dialects.bedrock_converse.families import Family

_MODES: Final = {"auto": "auto", "required": "any", "any": "any", "none": "none"}

Choice = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the caller wants of the tools. `called`: the history has calls. `reasons`: the model will reason,
    or is one that may not be forced in any case.
    """

    tools: list[dict[str, Any]]
    choice: Choice | None
    one_by_one: bool
    called: bool
    reasons: bool


def choice_of(request: ChatRequest, notes: list[str]) -> dict[str, Any] | None:
    """The choice asked for: `type` is auto, any, tool (with a name) or none. None where nobody asked."""
    wanted = request.tool_choice if request.tool_choice is not None else request.function_call
    if wanted is None:
        return None
    options = wanted if isinstance(wanted, dict) else {}
    kind = options.get("type") if options else wanted
    if kind == "allowed_tools":
        kind = _object(options.get("allowed_tools")).get("mode")
    named = _object(options.get("function")) or _object(options.get("custom")) or options
    if isinstance(named.get("name"), str):
        return {"type": "tool", "name": named["name"]}
    if isinstance(kind, str) and kind in _MODES:
        return {"type": _MODES[kind]}
    notes.append("tool_choice was left out: it names neither a mode nor a tool")
    return None


def tool_config(asked: Asked, family: Family, notes: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`toolConfig`, and the members that say the rest of it to Claude."""
    of_claude = family.control == "claude"
    if all("cachePoint" in tool for tool in asked.tools):
        if _is_forced(asked.choice):
            notes.append("tool_choice was left out: there are no tools")
        return {}, {}
    if asked.one_by_one and not of_claude:
        notes.append("parallel_tool_calls was left out: this model has no word for it here")
    choice = _possible(asked, family, notes)
    config: dict[str, Any] = {"tools": asked.tools}
    if choice is not None and choice["type"] == "none":
        return _without_calling(asked, config, of_claude, notes)
    if asked.one_by_one and of_claude:
        return config, {"tool_choice": {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}}
    return (config | {"toolChoice": _in_converse(choice)} if choice else config), {}


def _possible(asked: Asked, family: Family, notes: list[str]) -> Choice | None:
    """The choice this model can be given: one that reasons, and many others, may not be forced."""
    if not _is_forced(asked.choice) or asked.choice is None:
        return asked.choice
    if asked.reasons or not family.forced:
        why = "a model that reasons" if asked.reasons else "this model"
        notes.append(f"the forced tool choice became auto: {why} may not be forced")
        return {"type": "auto"} if asked.reasons else None
    if asked.choice["type"] not in family.forced:
        notes.append("the forced tool became any tool: this model may not be forced to one")
        return {"type": "any"}
    return asked.choice


def _without_calling(
    asked: Asked, config: dict[str, Any], of_claude: bool, notes: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`none`: no tools, unless the history has some, which must then be declared."""
    if not asked.called:
        return {}, {}
    if of_claude:
        return config, {"tool_choice": {"type": "none"}}
    notes.append("tool_choice none cannot be said to this model: it may call a tool")
    return config, {}


def _is_forced(choice: Choice | None) -> bool:
    return choice is not None and choice["type"] in ("any", "tool")


def _in_converse(choice: Choice) -> Choice:
    return {"tool": {"name": choice["name"]}} if choice["type"] == "tool" else {choice["type"]: {}}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
