"""The grammar of the Responses API: one event in, what it means out.

A whole body is read as the final event of the stream it could have been. Must never call an answer complete
without `response.completed`, `response.incomplete` or a body of such a status, and never take a run that is
still going on for an answer. Source: OpenAI API reference, "Streaming events" (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Final

from motes import particles as p
from motes.demux.base import WireEvent
from motes.dialects.openai_responses import events, failures, runs, usage
from motes.dialects.openai_responses.answer import Answer
from motes.dialects.openai_responses.events import ERROR, IDLE
from motes.dialects.openai_responses.fields import Json, inner, rows, text
from motes.dialects.openai_responses.hosted import TOOLS
from motes.dialects.openai_responses.register import Items
from motes.dialects.openai_responses.research import PREFIX, STEPS, Research
from motes.errors import VendorError
from motes.quirks import Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

# What streams in pieces: head of the event's type -> channel of a spoken item.
_SPOKEN: Final[Mapping[str, str]] = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.reasoning_summary_text": "summary",
    "response.reasoning_text": "reasoning",
    "response.reasoning": "reasoning",
}
_THOUGHTS: Final = frozenset({"summary", "reasoning"})
# … -> item type of the call.
_CALLS: Final[Mapping[str, str]] = {
    "response.function_call_arguments": "function_call",
    "response.custom_tool_call_input": "custom_tool_call",
    "response.mcp_call_arguments": "mcp_call",
    "response.code_interpreter_call_code": "code_interpreter_call",
    "response.apply_patch_call_operation_diff": "apply_patch_call",
    "response.shell_call_command": "shell_call",
    "response.shell_call_output_content": "shell_call",
}
_SILENT: Final = frozenset(
    {
        "response.content_part.added",
        "response.reasoning_summary_part.added",
        "response.shell_call_command.added",
        "response.compaction.compacting",
        "response.skill.loaded",
    }
)
_INCOMPLETE: Final[Mapping[str, p.StopReason]] = {
    "max_output_tokens": "out-of-tokens",
    "max_tokens": "out-of-tokens",
    "length": "out-of-tokens",
    "max_messages": "out-of-tokens",
    "content_filter": "filter-content",
    "steered": "ok",
}
_STATUSES: Final = frozenset(
    {"completed", "incomplete", "failed", "cancelled", "queued", "in_progress", "requires_action"}
)


class ResponsesParser:
    """One answer of one upstream."""

    def __init__(self, quirks: Quirks) -> None:
        self._answer = Answer(quirks)
        self._items = Items(self._answer)
        self._research = Research()
        self._deferred: VendorError | None = None
        self._handled = False

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """Say what one event means. Raises ValueError for what is no JSON object."""
        data = events.read(event)
        kind = events.kind_of(data, event.name)
        head, _, step = kind.rpartition(".")
        if head in _SPOKEN and step in ("delta", "done"):
            self._on_spoken(_SPOKEN[head], step, data, out)
        elif head in _CALLS and step in ("delta", "done"):
            self._on_call(_CALLS[head], step, data, out)
        else:
            self._on_event(kind, data, out)

    def eof(self, out: Emitter) -> None:
        """The stream broke off: an error that waited for the run's own last word was that word."""
        if self._deferred is not None:
            out.issue(self._deferred)

    def _on_event(self, kind: str, data: Json, out: Emitter) -> None:
        match kind:
            case "response.output_item.added":
                self._items.begin(data, out)
            case "response.output_item.done":
                self._on_item(data, out)
            case "response.content_part.done" | "response.reasoning_summary_part.done":
                self._items.spoken(data, out).read_part(data, inner(data, "part"), out)
            case "response.output_text.annotation.added" | "response.output_text_annotation.added":
                self._items.spoken(data, out).note(data, out)
            case "response.created" | "response.queued" | "response.in_progress":
                self._identify(inner(data, "response"), out)
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                self._on_end(kind.removeprefix("response."), inner(data, "response") or data, data, out)
            case events.WHOLE:
                self._on_whole(data, out)
            case events.ERROR:
                self._on_error(data, out)
            case _:
                self._on_step(kind, data, out)

    def _on_spoken(self, channel: str, step: str, data: Json, out: Emitter) -> None:
        item = self._items.spoken(data, out, kind="reasoning" if channel in _THOUGHTS else "message")
        if step == "delta":
            item.stream(channel, data, out)
        else:
            item.complete(channel, data, out)

    def _on_call(self, kind: str, step: str, data: Json, out: Emitter) -> None:
        item = self._items.call(kind, data, out)
        if step == "delta":
            item.piece(data, out)
        else:
            item.complete(data, out)

    def _on_item(self, data: Json, out: Emitter) -> None:
        if not (self._research.told and text(inner(data, "item"), "type") in STEPS):
            self._items.finish(data, out)

    def _on_step(self, kind: str, data: Json, out: Emitter) -> None:
        """A step of a tool the vendor runs, a sign of life, or something new."""
        head, _, step = kind.removeprefix("response.").rpartition(".")
        if head in TOOLS:
            self._items.call(head, data, out).progress(step, data, out)
        elif kind.startswith(PREFIX) and step in STEPS:
            self._research.step(step, data, out)
        elif kind not in IDLE and kind not in _SILENT:
            out.warn("unknown_event", f"an upstream event of type {excerpt(kind, 60)!r} was skipped")

    def _on_error(self, data: Json, out: Emitter) -> None:
        """After text, the run's own last word decides: it may have come to its end all the same."""
        error = failures.failure_in(data)
        if self._answer.spoke:
            self._deferred = error
        else:
            out.stop("cg-issue", native=ERROR)
            out.issue(error)

    def _on_whole(self, body: Json, out: Emitter) -> None:
        status = text(body, "status")
        if status not in _STATUSES:
            out.warn("unknown_status", f"the status {excerpt(status, 40)!r} of a whole answer is not known")
            status = "failed" if body.get("error") else "completed"
        self._on_end(status, body, body, out)

    def _on_end(self, status: str, response: Json, event: Json, out: Emitter) -> None:
        self._identify(response, out)
        usage.tell(inner(response, "usage"), out)
        output = [row for row in rows(response, "output") if not self._is_told(row)]
        self._items.settle(output, out)
        match status:
            case "completed" | "requires_action":
                self._complete("ok", status, out)
            case "incomplete":
                self._on_incomplete(text(inner(response, "incomplete_details"), "reason"), out)
            case "failed":
                self._on_failed(response, event, out)
            case "cancelled":
                self._fail(failures.cancelled(), status, out)
            case _:
                self._fail(failures.pending(status), status, out)

    def _is_told(self, row: Json) -> bool:
        return self._research.told and text(row, "type") in STEPS

    def _on_incomplete(self, reason: str, out: Emitter) -> None:
        if reason not in _INCOMPLETE:
            out.warn("unknown_incomplete_reason", f"the reason {excerpt(reason, 40)!r} counts as a limit")
        self._complete(_INCOMPLETE.get(reason, "out-of-tokens"), reason or "incomplete", out)

    def _on_failed(self, response: Json, event: Json, out: Emitter) -> None:
        """A run that fails after its message was whole gave an answer."""
        error = failures.failure_of(response, event)
        if self._answer.spoke and self._items.has_whole_message:
            out.warn("failed_after_answer", f"the answer was complete, then: {error.message}")
            self._deferred = None
            self._complete("ok", "failed", out)
        else:
            self._fail(self._deferred if error.code == "failed" and self._deferred else error, "failed", out)

    def _complete(self, reason: p.StopReason, word: str, out: Emitter) -> None:
        if self._deferred is not None:
            out.warn("error_advisory", f"the answer was complete in spite of: {self._deferred.message}")
        refused = reason == "ok" and self._answer.refused
        out.stop("filter-refusal" if refused else reason, native=word)
        out.done()

    def _fail(self, error: VendorError, word: str, out: Emitter) -> None:
        out.stop("cg-issue", native=word)
        out.issue(error)

    def _identify(self, response: Json, out: Emitter) -> None:
        """Who answers, under what id, and whether the run can be reached again."""
        out.model(text(response, "model"))
        out.response_id(text(response, "id"))
        if rows(response, "input_transformations"):
            out.warn(
                "input_transformed", "the vendor left out earlier reasoning that does not fit the history"
            )
        answer = self._answer
        answer.created_ms = answer.created_ms or runs.created_ms(response)
        tools = (tool for tool in rows(response, "tools") if text(tool, "type") == "image_generation")
        answer.image_tool = next(tools, answer.image_tool)
        handle = runs.handle_of(response)
        if handle is not None and not self._handled:
            self._handled = True
            out.handle(handle)
