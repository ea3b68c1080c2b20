"""Which `anthropic-beta` names a request needs, told by what stands in its body.

Must never name a beta that nothing in the body needs: an unknown one is refused. Source: the pages of the
features themselves (platform.claude.com/docs, read 2026-11-29).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_CODE: Final = "code-execution-2025-08-25"
_TOOLS: Final[Mapping[str, str]] = {
    "code_execution_20250522": "code-execution-2025-05-22",
    "code_execution_20250825": _CODE,
    "code_execution_20260120": _CODE,
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
_ADVANCED: Final = "advanced-tool-use-2025-11-20"
_ADVANCED_FIELDS: Final = ("allowed_callers", "input_examples", "defer_loading")
_MEMBERS: Final = frozenset({"mcp_servers", "speed", "container", "context_management", "tools"})
_COMPACT: Final = re.compile(r"compact_(\d{4})(\d{2})(\d{2})$")


def betas_of(body: Mapping[str, Any]) -> str | None:
    """The header's value, or None where none is needed."""
    names = _of_files(body)
    if not _MEMBERS.isdisjoint(body):
        names = [*_of_members(body), *_of_tools(body.get("tools") or []), *names]
    return ",".join(dict.fromkeys(names)) or None


def _of_members(body: Mapping[str, Any]) -> Iterator[str]:
    if body.get("mcp_servers"):
        yield "mcp-client-2025-11-20"
    if body.get("speed") == "fast":
        yield "fast-mode-2026-02-01"
    container = body.get("container")
    if isinstance(container, Mapping) and container.get("skills"):
        yield from (_CODE, "skills-2025-10-02")
    management = body.get("context_management")
    if isinstance(management, Mapping):
        yield "context-management-2025-06-27"
        edits = management.get("edits")
        for edit in edits if isinstance(edits, list) else []:
            dated = _COMPACT.match(str(edit.get("type"))) if isinstance(edit, Mapping) else None
            if dated:
                yield "compact-" + "-".join(dated.groups())


def _of_tools(tools: list[dict[str, Any]]) -> Iterator[str]:
    for tool in tools:
        kind = str(tool.get("type", ""))
        if kind in _TOOLS:
            yield _TOOLS[kind]
        if kind.startswith("tool_search_tool_") or any(tool.get(name) for name in _ADVANCED_FIELDS):
            yield _ADVANCED


def _of_files(body: Mapping[str, Any]) -> list[str]:
    for message in body.get("messages") or []:
        for block in message["content"]:
            inner = block.get("content")
            if _is_file(block) or (isinstance(inner, list) and any(map(_is_file, inner))):
                return ["files-api-2025-04-14"]
    return []


def _is_file(block: Mapping[str, Any]) -> bool:
    source = block.get("source")
    return isinstance(source, dict) and source.get("type") == "file"
