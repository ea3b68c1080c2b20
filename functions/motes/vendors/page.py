"""The table of vendors as a page: `python -m motes.vendors.page > functions/motes/vendors/README.md`.

Pure but for the last line: rows in, Markdown out. Must never say what the rows do not: every cell is read
from them, and a test compares the page that is kept with the one that is made.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from motes.dialects.registry import resolve
from motes.quirks import NO_QUIRKS, ModelRule, Quirks
from motes.vendors.table import VENDORS
from motes.vendors.vendor import Surface, Vendor

HEAD: Final = """\
# Vendors

Every built-in vendor, made from the rows in this folder by `python -m motes.vendors.page`; a test holds the
two together. The first dialect is the default; `motes.dialect` in a request, and for some models their name,
picks another. An address is moved by `base_url` in `[vendors.<name>]` of `motes.toml`, or by
`<NAME>_BASE_URL`; one in ⟨angle brackets⟩ is the operator's own and has to be set.

**Reasoning** says what an effort becomes and, behind the arrow, where reasoning comes back. **Tools** says
how far a tool can be forced. **Images**: `any` is by address or as data. **Usage**: whether a stream has to
be asked for it. **Stored runs**: the dialects in which a run lives on at the vendor. What each quirk means
stands in [`quirks.py`](../quirks.py); what it is set to stands below, for the default dialect. A vendor is
added by one row and one recording.
"""

COLUMNS: Final = (
    "Vendor",
    "Dialects",
    "Base URL",
    "Key",
    "Reasoning",
    "Tools",
    "Images",
    "Usage",
    "Stored runs",
    "Quirks",
)

_NOTHING: Final = "-"
_CONTROLS: Final[Mapping[str, str]] = {
    "effort": "`reasoning_effort`",
    "effort-or-disabled": "`reasoning_effort`, off: `reasoning.enabled`",
    "openrouter": "`reasoning`",
    "thinking-type": "`thinking.type`",
    "thinking-type-effort": "`thinking.type`, `reasoning_effort`",
    "enable-flag": "`enable_thinking`",
    "enable-flag-effort": "`enable_thinking`, `reasoning_effort`",
    "template-flags": "`chat_template_kwargs`",
    "mistral": "`reasoning_effort`, `prompt_mode`",
}
_OF_DIALECT: Final[Mapping[str, tuple[str, str]]] = {
    "openai-responses": ("`reasoning.effort`", "reasoning items"),
    "anthropic-messages": ("`thinking`, `output_config.effort`", "thinking blocks"),
    "gemini-generate": ("`thinkingConfig`", "parts with `thought`"),
    "gemini-interactions": ("`thinking_level`", "thought steps"),
    "bedrock-converse": ("by family, `additionalModelRequestFields`", "`reasoningContent`"),
    "cohere-chat": ("`thinking`", "content of type thinking"),
    "ollama-chat": ("`think`", "`thinking`"),
}
_TOOLS: Final[Mapping[str, str]] = {
    "full": "any choice",
    "words": "forced by a word",
    "named-without-thinking": "a named one forced, without reasoning",
    "forced-without-thinking": "forced, without reasoning",
    "not-while-thinking": "forced, unless it reasons",
    "no-forced": "none forced",
    "auto-only": "no choice",
}
_USAGE: Final[Mapping[str, str]] = {
    "ask": "asked for",
    "given": "always",
    "forbidden": "always, not asked for",
}
_SHOWN_ELSEWHERE: Final = frozenset({"images", "takes_tools", "tool_choice", "usage_mode", "reasoning_field"})


def page(vendors: Mapping[str, Vendor]) -> str:
    """The whole page."""
    rows = [vendors[id] for id in sorted(vendors)]
    lines = [HEAD, _line(COLUMNS), _line("---" for _ in COLUMNS), *(_line(_cells(row)) for row in rows)]
    lines += ["", "## Quirks", "", *(line for row in rows for line in _details(row))]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Vendor) -> tuple[str, ...]:
    quirks = _quirks(row, row.surfaces[0])
    return (
        row.id,
        ", ".join(surface.dialect for surface in row.surfaces),
        f"`{row.base_url}`" if row.base_url else f"⟨`{row.address}`⟩",
        _key(row),
        _reasoning(row, quirks),
        _tools(row, quirks),
        {"any": "any", "inline": "data only", "none": "none"}[quirks.images],
        _USAGE[quirks.usage_mode] if row.surfaces[0].dialect == "openai-chat" else "always",
        ", ".join(_stored(row)) or _NOTHING,
        ", ".join(f"`{name}`" for name in _differences(quirks)) or _NOTHING,
    )


def _quirks(row: Vendor, surface: Surface) -> Quirks:
    return surface.quirks or row.quirks


def _key(row: Vendor) -> str:
    how = {
        "bearer": "bearer",
        "header": f"header `{row.auth.name}`",
        "query": f"query `{row.auth.name}`",
        "sigv4": "bearer or SigV4",
        "none": "none",
    }[row.auth.kind]
    return f"`{row.key_name}`, {how}" + ("" if row.key_required else ", optional")


def _reasoning(row: Vendor, quirks: Quirks) -> str:
    if row.surfaces[0].dialect != "openai-chat":
        control, field = _OF_DIALECT.get(row.surfaces[0].dialect, (_NOTHING, ""))
        return f"{control} → {field}"
    own = [rule.reasoning_control for rule in quirks.model_rules if rule.reasoning_control]
    controls = dict.fromkeys(word for word in (quirks.reasoning_control, *own) if word != "none")
    asked = "; or ".join(_CONTROLS[word] for word in controls) or _NOTHING
    return f"{asked} → {quirks.reasoning_field}" if quirks.reasoning_field else asked


def _tools(row: Vendor, quirks: Quirks) -> str:
    if not quirks.takes_tools:
        return "refused"
    if row.surfaces[0].dialect not in ("openai-chat", "openai-responses"):
        return _TOOLS["full"]
    return _TOOLS[quirks.tool_choice] + (", strict" if quirks.strict_tools else "")


def _stored(row: Vendor) -> Iterable[str]:
    return (s.dialect for s in row.surfaces if s.stored_runs and resolve(s.dialect).stored_runs)


def _differences(quirks: Quirks) -> dict[str, Any]:
    """The quirks that are not the defaults, by name."""
    found = {field.name: getattr(quirks, field.name) for field in fields(Quirks)}
    return {
        name: value
        for name, value in found.items()
        if value != getattr(NO_QUIRKS, name) and name not in _SHOWN_ELSEWHERE
    }


def _details(row: Vendor) -> list[str]:
    """A section of one vendor: what each of its quirks is set to."""
    told = _differences(_quirks(row, row.surfaces[0]))
    if not told:
        return []
    return [f"### {row.id}", "", *(f"- `{name}`: {_told(value)}" for name, value in told.items()), ""]


def _told(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], ModelRule):
        return ", ".join(dict.fromkeys(f"`{rule.prefix}`" for rule in value))
    if isinstance(value, Mapping):
        return ", ".join(f"`{key}` → {_plain(item)}" for key, item in value.items())
    if isinstance(value, frozenset):
        return ", ".join(f"`{item}`" for item in sorted(value))
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value)
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return " to ".join(f"{item:g}" for item in value)
    words: Mapping[Any, str] = {True: "yes", False: "no", None: "nothing", "": "an empty text"}
    return words[value] if isinstance(value, bool | None) or value == "" else f"`{value}`"


def main(write: Callable[[str], object] = sys.stdout.write) -> None:
    """Print the page."""
    write(page(VENDORS))


if __name__ == "__main__":
    main()
