"""Tools the vendor runs itself, in words: what was asked of them and what came out.

Turns the blocks of web search, web fetch, code execution, tool search and MCP into the texts of an operation
particle. Must never take a vendor's tool for the client's, and never show more than an excerpt.
Source: "Server tools", "Web search tool", "Web fetch tool", "Code execution tool", "Tool search tool" and
"MCP connector" (platform.claude.com/docs, read 2026-11-29).
"""

from collections.abc import Callable, Mapping
from typing import Final

from motes import jsontext
from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.anthropic_messages.events import Json, obj, objects, text

LONG: Final = 512
EDIT: Final = 256
EXCERPT: Final = 280
_MOST_TEXTS: Final = 32

_ACTIVE: Final[Mapping[str, str]] = {
    "web_search": "Searching the web",
    "web_fetch": "Reading a web page",
    "code_execution": "Running code",
    "bash_code_execution": "Running a shell command",
    "text_editor_code_execution": "Editing a file",
    "tool_search_tool_regex": "Looking for tools",
    "tool_search_tool_bm25": "Looking for tools",
}
_SEARCHES: Final = ("web_search", "web_fetch")
_PLAIN_INPUTS: Final = ("query", "url", "code", "pattern")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a server tool came out; `files` are ids of files that now lie at the vendor."""

    text: str
    state: p.OperationState = "done"
    outputs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def kind_of(tool: str) -> p.OperationKind:
    """The kind of operation a tool (or its result block) stands for; anything unknown runs something."""
    return "search-web" if tool.startswith(_SEARCHES) else "code-exec"


def announced(tool: str, server: str) -> str:
    """What a tool that starts is doing."""
    if server:
        return f"Using {tool or 'a tool'} of {server}"
    return _ACTIVE.get(tool) or f"Using {tool or 'a tool'}"


def shown_inputs(arguments: Json) -> tuple[str, ...]:
    """The arguments of a call as short texts."""
    texts = []
    for name, value in list(arguments.items())[:_MOST_TEXTS]:
        words = value if isinstance(value, str) else jsontext.dumps(value)
        short = shortened(words, EDIT if name in ("old_str", "new_str") else LONG)
        texts.append(short if name in _PLAIN_INPUTS else f"{name}: {short}")
    return tuple(texts)


def outcome_of(block: Json) -> Outcome:
    """What a result block says; every shape of it is read, also one that does not exist yet."""
    content = obj(block.get("content"))
    kind = text(content.get("type"))
    if kind.endswith("_error"):
        return _failure(content)
    reader = _READERS.get(text(block.get("type")))
    return reader(block) if reader else _plain(block)


def shortened(words: str, limit: int) -> str:
    """The text, or its beginning and end with the number of characters left out between them."""
    if len(words) <= limit:
        return words
    half = limit // 2
    return f"{words[:half]} […{len(words) - 2 * half}…] {words[-half:]}"


def _failure(content: Json) -> Outcome:
    code = text(content.get("error_code")) or "unknown error"
    message = text(content.get("error_message"))
    return Outcome(
        f"Failed: {shortened(code, EXCERPT)}", "error", (shortened(message, LONG),) if message else ()
    )


def _on_search(block: Json) -> Outcome:
    found = objects(block.get("content"))
    urls = tuple(url for item in found[:_MOST_TEXTS] if (url := text(item.get("url"))))
    return Outcome(f"Found {len(found)} web page{'' if len(found) == 1 else 's'}", outputs=urls)


def _on_fetch(block: Json) -> Outcome:
    content = obj(block.get("content"))
    document = obj(content.get("content"))
    source = obj(document.get("source"))
    body = text(source.get("data")) if text(source.get("type")) == "text" else ""
    parts = (text(content.get("url")), text(document.get("title")), shortened(body, EXCERPT))
    return Outcome("Read a web page", outputs=tuple(part for part in parts if part))


def _on_execution(block: Json) -> Outcome:
    """Python or shell. Output may be encrypted; then only its size is told."""
    content = obj(block.get("content"))
    code = content.get("return_code")
    known = isinstance(code, int)
    failed = known and code != 0
    hidden, shown = text(content.get("encrypted_stdout")), text(content.get("stdout"))
    outputs = [f"exit code {code}" if known else ""]
    outputs.append(f"encrypted output of {len(hidden)} characters" if hidden else shortened(shown, LONG))
    errors = text(content.get("stderr"))
    outputs.append(f"stderr: {shortened(errors, LONG)}" if errors else "")
    files = tuple(name for item in objects(content.get("content")) if (name := text(item.get("file_id"))))
    return Outcome(
        "The code failed" if failed else "The code ran",
        "error" if failed else "done",
        tuple(line for line in outputs if line),
        files,
    )


def _on_edit(block: Json) -> Outcome:
    content = obj(block.get("content"))
    kind = text(content.get("type"))
    if kind.endswith("_create_result"):
        return Outcome("Changed a file" if content.get("is_file_update") is True else "Made a file")
    if kind.endswith("_view_result"):
        seen = shortened(text(content.get("content")), LONG)
        return Outcome("Looked at a file", outputs=(seen,) if seen else ())
    lines = content.get("lines")
    changed = "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
    return Outcome("Edited a file", outputs=(shortened(changed, EDIT),) if changed else ())


def _on_tool_search(block: Json) -> Outcome:
    found = objects(obj(block.get("content")).get("tool_references"))
    names = tuple(name for item in found[:_MOST_TEXTS] if (name := text(item.get("tool_name"))))
    return Outcome(f"Found {len(names)} tool{'' if len(names) == 1 else 's'}", outputs=names)


def _plain(block: Json) -> Outcome:
    """An MCP result, or one of a tool that is not known here: its texts."""
    content = block.get("content")
    texts = [content] if isinstance(content, str) else [text(item.get("text")) for item in objects(content)]
    failed = block.get("is_error") is True
    outputs = tuple(shortened(words, LONG) for words in texts[:_MOST_TEXTS] if words)
    return Outcome(
        "The tool failed" if failed else "The tool answered", "error" if failed else "done", outputs
    )


_READERS: Final[Mapping[str, Callable[[Json], Outcome]]] = {
    "web_search_tool_result": _on_search,
    "web_fetch_tool_result": _on_fetch,
    "code_execution_tool_result": _on_execution,
    "bash_code_execution_tool_result": _on_execution,
    "text_editor_code_execution_tool_result": _on_edit,
    "tool_search_tool_result": _on_tool_search,
}
