"""What a vendor's tool was asked and what came out, in the words of an operation.

Reads the items of tools the vendor runs; an unknown shape gives the tool's plain name. Must never show more
than an excerpt of what a tool gave, nor a password that stands in an address.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.openai_responses.fields import Json, inner, json_text, place, rows, strings, text

_LONG: Final = 512
_MOST: Final = 32
_FAILED: Final = frozenset({"failed", "incomplete"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One state of an operation; an empty text is the tool's plain name."""

    text: str
    state: p.OperationState | None = "done"
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


def begun(raw: Json, label: str) -> str:
    """What a tool that starts is doing."""
    name, server = text(raw, "name"), text(raw, "server_label")
    if name:
        return f"Using {_short(name, 80)} of {_short(server, 80)}" if server else f"Using {_short(name, 80)}"
    return label


def of(kind: str, raw: Json, label: str) -> Outcome:
    """How an item of that type came out."""
    found = _READERS.get(kind, _plain)(raw)
    words = found.text or begun(raw, label)
    if text(raw, "status") in _FAILED or raw.get("error"):
        why = _why(raw)
        return Outcome(f"{words}: failed", "error", found.inputs, (why,) if why else found.outputs)
    return replace(found, text=words)


def _why(raw: Json) -> str:
    error = raw.get("error")
    words = (
        error if isinstance(error, str) else text(inner(raw, "error"), "message") or json_text(raw, "error")
    )
    return _short(words)


def _on_web(raw: Json) -> Outcome:
    """A search, a page that was opened, or a look for words in one."""
    action = inner(raw, "action")
    kind = text(action, "type")
    url = address(text(action, "url"))
    if kind == "open_page":
        return Outcome("Opened a page", inputs=_texts(url))
    if kind in ("find", "find_in_page"):
        return Outcome("Searched a page", inputs=_texts(text(action, "pattern"), url))
    queries = strings(action, "queries") or _texts(text(action, "query"))
    sources = [address(found) for row in rows(action, "sources") if (found := text(row, "url"))]
    return Outcome(
        _counted("Found {} source{}", len(sources)) if sources else "Searched the web",
        inputs=_texts(*queries),
        outputs=tuple(sources[:_MOST]),
    )


def _on_files(raw: Json) -> Outcome:
    found = [text(row, "filename", "file_id") for row in rows(raw, "results")]
    words = _counted("Found {} passage{}", len(found)) if found else "Searched files"
    return Outcome(words, inputs=_texts(*strings(raw, "queries")), outputs=_texts(*dict.fromkeys(found)))


def _on_pages(raw: Json) -> Outcome:
    """Perplexity's items: results of a search, or of reading pages."""
    found = [text(row, "url") for name in ("results", "contents") for row in rows(raw, name)]
    return Outcome(
        _counted("Found {} page{}", len(found)),
        inputs=_texts(*strings(raw, "queries")),
        outputs=_texts(*map(address, found)),
    )


def _on_image(raw: Json) -> Outcome:
    return Outcome("Made an image", inputs=_texts(_short(text(raw, "revised_prompt", "prompt"), 100)))


def _on_code(raw: Json) -> Outcome:
    return Outcome("The code ran" if text(raw, "code") else "")


def _on_shell(raw: Json) -> Outcome:
    action = inner(raw, "action")
    commands = strings(action, "commands") or _texts(" ".join(strings(action, "command")))
    return Outcome("Asked for a shell command", inputs=_texts(*commands))


def _on_shell_output(raw: Json) -> Outcome:
    out: list[str] = []
    failed = False
    for row in rows(raw, "output"):
        code = place(inner(row, "outcome"), "exit_code")
        failed = failed or code not in (0, None) or text(inner(row, "outcome"), "type") == "timeout"
        out += [text(row, "stdout"), text(row, "stderr")]
    out.append(text(raw, "output"))
    return Outcome(
        "The command failed" if failed else "The command ran",
        "error" if failed else "done",
        outputs=_texts(*out),
    )


def _on_patch(raw: Json) -> Outcome:
    operation = inner(raw, "operation")
    what = text(operation, "type").replace("_", " ") or "change a file"
    return Outcome(f"Asked to {what}", inputs=_texts(text(operation, "path"), text(operation, "diff")))


def _on_mcp(raw: Json) -> Outcome:
    return Outcome("", inputs=_texts(json_text(raw, "arguments")), outputs=_texts(json_text(raw, "output")))


def _on_tools(raw: Json) -> Outcome:
    names = [text(row, "name") for row in rows(raw, "tools")]
    return Outcome(_counted("Found {} tool{}", len(names)), outputs=_texts(*names))


def _on_approval(raw: Json) -> Outcome:
    words = f"{begun(raw, 'A tool')}: wants approval"
    return Outcome(words, None, inputs=_texts(json_text(raw, "arguments")))


def _on_custom(raw: Json) -> Outcome:
    return Outcome("", inputs=_texts(text(raw, "input")))


def _plain(raw: Json) -> Outcome:
    given = [json_text(raw, name) for name in ("arguments", "action", "code")]
    got = [json_text(raw, name) for name in ("output", "result")]
    return Outcome("", inputs=_texts(*given), outputs=_texts(*got))


_READERS: Final[Mapping[str, Callable[[Json], Outcome]]] = {
    "web_search_call": _on_web,
    "x_search_call": _on_web,
    "file_search_call": _on_files,
    "search_results": _on_pages,
    "fetch_url_results": _on_pages,
    "image_generation_call": _on_image,
    "code_interpreter_call": _on_code,
    "shell_call": _on_shell,
    "local_shell_call": _on_shell,
    "shell_call_output": _on_shell_output,
    "local_shell_call_output": _on_shell_output,
    "apply_patch_call": _on_patch,
    "mcp_list_tools": _on_tools,
    "mcp_call": _on_mcp,
    "mcp_approval_request": _on_approval,
    "tool_search_output": _on_tools,
    "custom_tool_call": _on_custom,
}


def address(url: str) -> str:
    """An address without the name and password that may stand in front of its host."""
    return _short(re.sub(r"(?<=//)[^/@\s]*@", "", url))


def _texts(*words: str) -> tuple[str, ...]:
    """The texts that say something, each at most an excerpt."""
    return tuple([_short(word) for word in words if word][:_MOST])


def _short(words: str, limit: int = _LONG) -> str:
    return words if len(words) <= limit else f"{words[: limit - 1]}…"


def _counted(pattern: str, n: int) -> str:
    return pattern.format(n, "" if n == 1 else "s")
