"""What Google runs itself: code, and tools such as search.

A result belongs to the call with its id, or to the latest call where Google gives none. Must never hand a
hosted tool to the client as a call to answer.

Source: ai.google.dev/api/caching (Part: executableCode, codeExecutionResult, toolCall, toolResponse), read
2026-11-29.
"""

from typing import Final

from motes import particles as p
from motes.dialects.gemini_generate.events import CodeExecutionResult, ExecutableCode, HostedCall
from motes.dialects.gemini_generate.fields import an_object, member, text
from motes.transmitter import Emitter

_AUTHOR: Final = "gemini_auto_inline"

_TOOLS: Final[dict[str, tuple[p.OperationKind, str]]] = {
    "GOOGLE_SEARCH_WEB": ("search-web", "Searching the web"),
    "GOOGLE_SEARCH_IMAGE": ("search-web", "Searching for images"),
    "URL_CONTEXT": ("search-web", "Reading web pages"),
    "GOOGLE_MAPS": ("search-web", "Looking at maps"),
    "FILE_SEARCH": ("search-web", "Searching files"),
    "CODE_EXECUTION": ("code-exec", "Running code"),
}
_MAX_INPUTS: Final = 20
_MAX_INPUT_CHARS: Final = 500


class Hosted:
    """Pairs calls and results of one answer; ids that Google leaves out are made here, in order."""

    def __init__(self) -> None:
        self._codes = 0
        self._tools = 0
        self._latest_code: str | None = None
        self._latest_tool: str | None = None

    def code(self, code: ExecutableCode, out: Emitter) -> None:
        """Code is about to run."""
        id = text(member(code, "id")) or self._next_code()
        self._latest_code = id
        language = text(member(code, "language")).lower()
        if language == "language_unspecified":
            language = ""
        out.add(p.CodeCall(id, language, text(member(code, "code")), _AUTHOR))

    def result(self, result: CodeExecutionResult, out: Emitter) -> None:
        """Code has run."""
        id = text(member(result, "id")) or self._latest_code or self._next_code()
        self._latest_code = None
        outcome = text(member(result, "outcome"))
        out.add(
            p.CodeResult(id, _error(outcome), text(member(result, "output")), _AUTHOR, environment="upstream")
        )

    def call(self, call: HostedCall, out: Emitter) -> None:
        """A tool is at work."""
        self._tools += 1
        id = text(member(call, "id")) or f"tool-{self._tools}"
        self._latest_tool = id
        kind, label = _tool(call)
        out.add(p.Operation(id, label, kind, inputs=_inputs(call)))

    def response(self, call: HostedCall, out: Emitter) -> None:
        """A tool is done."""
        id = text(member(call, "id")) or self._latest_tool or f"tool-{self._tools + 1}"
        kind, label = _tool(call)
        failed = "error" in an_object(member(call, "response"))
        out.add(p.Operation(id, label, kind, "error" if failed else "done"))

    def _next_code(self) -> str:
        self._codes += 1
        return f"code-{self._codes}"


def _error(outcome: str) -> bool | str:
    if outcome in ("OUTCOME_OK", "OK"):
        return False
    return "the code ran out of time" if outcome.endswith("DEADLINE_EXCEEDED") else True


def _tool(call: HostedCall) -> tuple[p.OperationKind, str]:
    """What kind of work a tool does, and how to call it; a newer tool by its own name."""
    name = text(member(call, "toolType"))
    words = name.replace("_", " ").lower() or "a tool"
    return _TOOLS.get(name, ("search-web", f"Using {words}"))


def _inputs(call: HostedCall) -> tuple[str, ...]:
    """The strings a tool was called with: search queries, addresses."""
    found: list[str] = []
    for value in an_object(member(call, "args")).values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                found.append(item[:_MAX_INPUT_CHARS])
    return tuple(found[:_MAX_INPUTS])
