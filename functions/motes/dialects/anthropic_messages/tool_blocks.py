"""The content blocks of tools: calls for the client, calls the vendor answers itself, and their results.

A call for the client becomes a tool call; one the vendor answers becomes an operation and never a tool call.
Must never say the same argument text twice and never raise for what a block holds. Source: "Tool use",
"Server tools" and "Fine-grained tool streaming" (platform.claude.com/docs, read 2026-11-29).
"""

from dataclasses import replace
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.dialects.anthropic_messages import server_tools
from motes.dialects.anthropic_messages.blocks import Answer, Block
from motes.dialects.anthropic_messages.events import Json, obj, text
from motes.transmitter import Emitter

FILE: Final = "vnd.ant.file"


class ToolBlock(Block):
    """A call whose input comes as JSON text, or stands in the block already."""

    def __init__(self, raw: Json, answer: Answer) -> None:
        super().__init__(raw, answer)
        self.pieces: list[str] = []

    def grow(self, kind: str, delta: Json, out: Emitter) -> None:
        """See `Block`."""
        if kind != "input_json_delta":
            super().grow(kind, delta, out)
        elif piece := as_arguments(delta.get("partial_json")):
            self.pieces.append(piece)
            self.on_piece(piece, out)

    def on_piece(self, piece: str, out: Emitter) -> None:
        """More of the input's JSON text."""

    def arguments(self) -> dict[str, Any]:
        """The input as an object; what was streamed counts more than what the block held at its start."""
        written = "".join(self.pieces) or as_arguments(self.raw.get("input"))
        return jsontext.as_object(written) or {}

    def replay(self) -> dict[str, Any] | None:
        """See `Block`."""
        return {**self.raw, "input": self.arguments()}


class ClientToolBlock(ToolBlock):
    """A call for the client. One whose input stands in the block is told once it is sure that no deltas
    come: they would repeat it.
    """

    pauses = False

    def __init__(self, raw: Json, answer: Answer) -> None:
        super().__init__(raw, answer)
        self._id: str | None = None
        self._told_whole = False

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        if not as_arguments(self.raw.get("input")):
            self._start(None, out)

    def on_piece(self, piece: str, out: Emitter) -> None:
        """See `ToolBlock`."""
        if self._told_whole:
            return
        if self._id is None:
            self._start(None, out)
        out.tool_call_arguments(piece, self._id)

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        if self._id is None:
            self._told_whole = True
            self._start(as_arguments(self.raw.get("input")), out)

    def replay(self) -> dict[str, Any] | None:
        """See `Block`."""
        return {
            **self.raw,
            "id": self._id or "",
            "name": text(self.raw.get("name")),
            "input": self.arguments(),
        }

    def _start(self, arguments: str | None, out: Emitter) -> None:
        self._id = out.tool_call(text(self.raw.get("id")) or None, text(self.raw.get("name")), arguments)


class ServerToolBlock(ToolBlock):
    """A call of a tool the vendor runs: an operation that is active until its result comes."""

    def __init__(self, raw: Json, answer: Answer) -> None:
        super().__init__(raw, answer)
        self._operation_id = text(raw.get("id")) or f"operation-{len(answer.operations)}"

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        self._tell(out)

    def finish(self, out: Emitter) -> None:
        """See `Block`."""
        if self.pieces:
            self._tell(out)

    def _tell(self, out: Emitter) -> None:
        tool = text(self.raw.get("name"))
        operation = p.Operation(
            self._operation_id,
            server_tools.announced(tool, text(self.raw.get("server_name"))),
            server_tools.kind_of(tool),
            parent_id=_caller(self.raw),
            inputs=server_tools.shown_inputs(self.arguments()),
        )
        self.answer.operations[operation.id] = operation
        out.add(operation)


class ResultBlock(Block):
    """What a tool of the vendor gave; it comes whole."""

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        outcome = server_tools.outcome_of(self.raw)
        known = self._operation()
        out.add(replace(known, text=outcome.text, state=outcome.state, outputs=outcome.outputs))
        for file in outcome.files:
            out.add(p.HostedResource(FILE, file_id=file, container_id=self.answer.container))

    def _operation(self) -> p.Operation:
        """The operation this ends; a result whose call came in an earlier answer makes its own."""
        call = text(self.raw.get("tool_use_id"))
        kind = server_tools.kind_of(text(self.raw.get("type")))
        made = p.Operation(
            call or f"operation-{len(self.answer.operations)}", "", kind, parent_id=_caller(self.raw)
        )
        return self.answer.operations.setdefault(made.id, made)


class UploadBlock(Block):
    """A file that was put into the container."""

    def open(self, out: Emitter) -> None:
        """See `Block`."""
        if file := text(self.raw.get("file_id")):
            out.add(p.HostedResource(FILE, file_id=file, container_id=self.answer.container))


def as_arguments(value: object) -> str:
    """The JSON text of a call's input; an empty one of any type is no text at all."""
    if isinstance(value, str):
        return value
    return jsontext.dumps(value) if value else ""


def _caller(raw: Json) -> str | None:
    """The call of the tool that made this call, where code did."""
    caller = obj(raw.get("caller"))
    return None if text(caller.get("type")) in ("", "direct") else text(caller.get("tool_id")) or None
