"""The content blocks of tools: calls for the client, calls the service answers itself, and their results.

A call for the client becomes a tool call; one the service answers becomes an operation and never a tool call.
Must never say the number of a block where the number of a call is meant, and never raise for what it holds.
Source: Amazon Bedrock API reference, "ToolUseBlock" and "ToolResultBlock"; Amazon Nova user guide, "Using
tools" (read 2026-11-29).
"""

from motes import jsontext
from motes import particles as p
from motes.dialects.bedrock_converse.blocks import Answer, Block
from motes.dialects.bedrock_converse.events import Json, obj, objects, text
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt


class ToolBlock(Block):
    """A call for the client."""

    def __init__(self, start: Json, answer: Answer) -> None:
        super().__init__(start, answer)
        self._id = ""

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        self._id = out.tool_call(text(self.start.get("toolUseId")) or None, text(self.start.get("name")))

    def grow(self, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        if piece := as_arguments(obj(delta.get("toolUse")).get("input")):
            out.tool_call_arguments(piece, self._id)


class ServerToolBlock(Block):
    """A call of a tool the service runs: an operation that is active until its result comes."""

    def __init__(self, start: Json, answer: Answer) -> None:
        super().__init__(start, answer)
        self._pieces: list[str] = []

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        self._tell(out)

    def collect(self, delta: Json) -> bool:
        """See `Block`."""
        self._pieces.append(as_arguments(obj(delta.get("toolUse")).get("input")))
        return "toolUse" in delta

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        if any(self._pieces):
            self._tell(out)

    def _tell(self, out: Emitter) -> None:
        name = text(self.start.get("name"))
        arguments = jsontext.as_object("".join(self._pieces)) or {}
        doing, kind = _announced(name)
        operation = p.Operation(
            text(self.start.get("toolUseId")) or f"operation-{len(self.answer.operations)}",
            doing,
            kind,
            inputs=tuple(excerpt(_words(value)) for value in arguments.values()),
        )
        self.answer.operations[operation.id] = operation
        out.add(operation)


class ResultBlock(Block):
    """What a tool of the service gave."""

    def __init__(self, start: Json, answer: Answer) -> None:
        super().__init__(start, answer)
        self._parts: list[Json] = []

    def collect(self, delta: Json) -> bool:
        """See `Block`."""
        self._parts += objects(delta.get("toolResult"))
        return "toolResult" in delta

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        id = text(self.start.get("toolUseId")) or f"operation-{len(self.answer.operations)}"
        known = self.answer.operations.get(id) or p.Operation(id, *_announced(""))
        words = [_words(part.get("text", part.get("json"))) for part in self._parts]
        state: p.OperationState = "error" if self.start.get("status") == "error" else "done"
        outputs = tuple(excerpt(word) for word in words if word)
        out.add(p.Operation(id, known.text, known.kind, state, inputs=known.inputs, outputs=outputs))


def as_arguments(value: object) -> str:
    """The JSON text of a call's input; an empty one of any type is no text at all."""
    if isinstance(value, str):
        return value
    return jsontext.dumps(value) if value else ""


def _announced(name: str) -> tuple[str, p.OperationKind]:
    if "grounding" in name or "search" in name:
        return "Searching the web", "search-web"
    return ("Running code" if "code" in name else f"Using {name or 'a tool'}"), "code-exec"


def _words(value: object) -> str:
    return value if isinstance(value, str) else jsontext.dumps(value) if value else ""
