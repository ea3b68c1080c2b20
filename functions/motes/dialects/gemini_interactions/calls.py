"""Steps that call a tool, and steps that tell what it gave: the client's tools, and those Google runs.

A model's `function_call` is for the client, and told as soon as its name is known. An agent calls functions
of its own in the same words, so its calls are only handed over when the run stops to wait for them. Must
never hand the client a call that the vendor answers itself. Source: google-genai 3.6.1, the types of steps
(read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes import jsontext
from motes import particles as p
from motes.dialects.gemini_interactions.answer import Answer
from motes.dialects.gemini_interactions.fields import NOTHING, Json, inner, json_text, strings, text
from motes.dialects.gemini_interactions.spoken import Step
from motes.transmitter import Emitter

CALL: Final = "_call"
RESULT: Final = "_result"
FUNCTION: Final = "function"
CODE: Final = "code_execution"

# Kind of operation, what a tool at work is doing, and the verb for when it is done.
TOOLS: Final[Mapping[str, tuple[p.OperationKind, str, str]]] = {
    FUNCTION: ("code-exec", "Using a tool", "Used"),
    CODE: ("code-exec", "Running code", "Ran"),
    "google_search": ("search-web", "Searching the web", "Searched"),
    "url_context": ("search-web", "Reading web pages", "Read"),
    "file_search": ("search-web", "Searching files", "Searched"),
    "google_maps": ("search-web", "Looking at maps", "Looked"),
    "retrieval": ("search-web", "Searching documents", "Searched"),
    "tool_search": ("search-web", "Looking for tools", "Looked"),
    "mcp_server_tool": ("code-exec", "Using a tool of a server", "Used"),
    "processing": ("code-exec", "Looking closer at a medium", "Looked"),
}
_AUTHOR: Final = "gemini_auto_inline"
_NAMES: Final = ("url", "uri", "file_name", "title", "name")


class ClientCall(Step):
    """A call the client answers."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._id = self._name = self._early = ""
        self._address: str | None = None
        self._pieces: list[str] = []
        self._told = False

    def begin(self, raw: Json, out: Emitter) -> None:
        """See `Step`. Arguments that are there from the start count only if no pieces come."""
        self._id = self._id or text(raw, "id", "call_id")
        self._name = self._name or text(raw, "name")
        arguments = raw.get("arguments")
        if arguments not in (None, "", {}):
            self._early = json_text(arguments)
        if self._name and self._address is None:
            self._address = out.tool_call(self._id or None, self._name)
            self._tell("".join(self._pieces), out)

    def piece(self, delta: Json, out: Emitter) -> None:
        """See `Step`."""
        if text(delta, "type") == FUNCTION + CALL:
            self.begin(delta, out)
            return
        words = json_text(delta.get("arguments", delta.get("partial_arguments")))
        if words:
            self._pieces.append(words)
            self._tell(words, out)

    def end(self, out: Emitter) -> None:
        """See `Step`."""
        if self._address is None:
            out.warn("unnamed_call", "a tool call came without a name")
            self._address = out.tool_call(self._id or None, "")
            self._tell("".join(self._pieces), out)
        if not self._told:
            self._tell(self._early, out)

    def _tell(self, words: str, out: Emitter) -> None:
        if words and self._address is not None:
            self._told = True
            out.tool_call_arguments(words, self._address)


class ToolStep(Step):
    """A step of a tool the vendor runs: the call of it, or its result."""

    def __init__(self, answer: Answer, tool: str, id: str) -> None:
        super().__init__(answer)
        self.tool = tool
        self.id = id
        self.kind, self.at_work, self.done = TOOLS.get(tool, _unnamed(tool))
        self.raw: dict[str, object] = {}
        self._arguments: list[str] = []

    def begin(self, raw: Json, out: Emitter) -> None:  # noqa: ARG002 (for the steps that tell)
        """See `Step`."""
        self.raw.update(raw)

    def piece(self, delta: Json, out: Emitter) -> None:  # noqa: ARG002 (as above)
        """See `Step`. The members of a piece complete those that are there."""
        if text(delta, "type") == "arguments_delta":
            self._arguments.append(json_text(delta.get("arguments")))
            return
        for name, value in delta.items():
            known = self.raw.get(name)
            if name == "result" and isinstance(known, str) and isinstance(value, str):
                self.raw[name] = known + value
            elif value not in (None, ""):
                self.raw[name] = value

    @property
    def arguments(self) -> Json:
        """What the tool is called with."""
        told = "".join(self._arguments) or self.raw.get("arguments")
        found = jsontext.as_object(told) if isinstance(told, str) else told
        return found if isinstance(found, dict) else NOTHING

    @property
    def words(self) -> str:
        """What is being done, and with which tool, where it has a name."""
        name, server = text(self.raw, "name"), text(self.raw, "server_name")
        if not name:
            return self.at_work
        return f"Using {name} of {server}" if server else f"Using {name}"


class HostedCall(ToolStep):
    """A tool the vendor runs is at work."""

    def begin(self, raw: Json, out: Emitter) -> None:
        """See `Step`."""
        super().begin(raw, out)
        self.answer.work(p.Operation(self.id, self.words, self.kind), out)

    def end(self, out: Emitter) -> None:
        """See `Step`. Now it is known what it was called with."""
        given = self.arguments
        inputs = () if self.tool == CODE else tuple(strings(given))
        if inputs and self.answer.working(self.id):
            self.answer.work(p.Operation(self.id, self.words, self.kind, inputs=inputs), out)
        if self.tool == CODE and text(given, "code"):
            out.add(p.CodeCall(self.id, text(given, "language").lower(), text(given, "code"), _AUTHOR))
        if self.tool == FUNCTION and self.id not in self.answer.answered:
            self.answer.asked[self.id] = (text(self.raw, "name"), self._argument_text())

    def _argument_text(self) -> str:
        return json_text(dict(self.arguments))


class HostedResult(ToolStep):
    """A tool the vendor runs is done."""

    def end(self, out: Emitter) -> None:
        """See `Step`."""
        self.answer.answered.add(self.id)
        self.answer.asked.pop(self.id, None)
        failed = self.raw.get("is_error") is True
        begun = self.answer.working(self.id)
        words = begun.text if begun and not text(self.raw, "name") else self.words
        words = f"{self.done} {words.partition(' ')[2]}"
        told = p.Operation(
            self.id,
            f"{words}: failed" if failed else words,
            self.kind,
            "error" if failed else "done",
            inputs=begun.inputs if begun else (),
            outputs=() if self.tool == CODE else tuple(_outputs(self.raw.get("result"))),
        )
        self.answer.work(told, out)
        if self.tool == CODE:
            result = json_text(self.raw.get("result"))
            out.add(p.CodeResult(self.id, failed, result, _AUTHOR, environment="upstream"))


def hand_over(answer: Answer, out: Emitter) -> bool:
    """Tell the calls of an agent that wait for the client; whether there are any."""
    waiting, answer.asked = answer.asked, {}
    for id, (name, arguments) in waiting.items():
        out.tool_call(id, name, arguments)
    return bool(waiting)


def _unnamed(tool: str) -> tuple[p.OperationKind, str, str]:
    words = tool.replace("_", " ") or "a tool"
    return "code-exec", f"Using {words}", "Used"


def _outputs(result: object) -> list[str]:
    """What a tool found, by name or address; else what it said."""
    items = result if isinstance(result, list) else [result]
    out = []
    for item in items:
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, dict):
            named = text(item, *_NAMES, "text") or text(inner(item, "content"), "text")
            places = item.get("places")
            out += [named] if named else _outputs(places) if isinstance(places, list) else []
    return [word for word in out if word]
