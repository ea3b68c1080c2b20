"""The grammar of the Interactions API: one event in, what it means out.

A whole body is read as the final event of the stream it could have been. Must never call a run complete
without `interaction.completed`, or a status that says it is over, and never take a run that is still going on
for an answer. Source: ai.google.dev/gemini-api/docs/interactions/streaming (read 2026-11-29).
"""

from typing import Final

from motes import particles as p
from motes.demux.base import WireEvent
from motes.dialects.gemini_interactions import events, failures, usage
from motes.dialects.gemini_interactions.answer import Answer
from motes.dialects.gemini_interactions.calls import hand_over
from motes.dialects.gemini_interactions.events import ERROR, IDLE
from motes.dialects.gemini_interactions.fields import NOTHING, Json, inner, rows, text
from motes.dialects.gemini_interactions.register import Steps
from motes.dialects.gemini_interactions.run import Run
from motes.errors import VendorError
from motes.quirks import Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

_PENDING: Final = frozenset({"queued", "in_progress"})
_OVER: Final = frozenset(
    {
        "completed",
        "failed",
        "cancelled",
        "incomplete",
        "budget_exceeded",
        "requires_action",
        "requires_continuation",
    }
)
_BEGUN: Final = frozenset({"interaction.created", "interaction.start"})
_COMPLETED: Final = frozenset({"interaction.completed", "interaction.complete"})
_STATUS_EVENT: Final = "interaction.status_update"
_HEAD: Final = "interaction."


class InteractionsParser:
    """One answer of one upstream."""

    def __init__(self, _quirks: Quirks) -> None:
        self._answer = Answer()
        self._steps = Steps(self._answer)
        self._run = Run(self._answer)
        self._status = ""

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """Say what one event means. Raises ValueError for what is no JSON object."""
        data = events.read(event)
        kind = events.kind_of(data, event.name)
        self._run.can_resume = self._run.can_resume or bool(text(data, "event_id"))
        match kind:
            case "step.start" | "content.start":
                self._steps.begin(data, out)
            case "step.delta" | "content.delta":
                self._steps.piece(data, out)
                usage.tell(inner(inner(data, "metadata"), "total_usage"), out, partial=True)
            case "step.stop" | "content.stop":
                self._steps.end(data, out)
                usage.tell(inner(data, "usage"), out, partial=True)
            case events.WHOLE:
                self._on_whole(data, out)
            case events.ERROR:
                self._on_error(data, out)
            case events.DONE:
                self._settle(out)
            case _:
                self._on_run(kind, data, out)

    def eof(self, out: Emitter) -> None:
        """The stream is over: a status that was final, and behind which nothing was left open, stands."""
        self._settle(out)
        self._steps.close(out)
        self._answer.end_work("error", out)

    def _on_run(self, kind: str, data: Json, out: Emitter) -> None:
        """An event about the run as a whole, a sign of life, or something new."""
        run = inner(data, "interaction")
        if kind in _BEGUN:
            self._run.identify(run, out)
            self._run.begin(out)
        elif kind in _COMPLETED:
            self._end(text(run, "status") or text(data, "status") or "completed", run, out)
        elif kind.startswith(_HEAD):
            self._on_status(kind, data, run, out)
        elif kind not in IDLE:
            out.warn("unknown_event", f"an upstream event of type {excerpt(kind, 60)!r} was skipped")

    def _on_status(self, kind: str, data: Json, run: Json, out: Emitter) -> None:
        """`interaction.status_update`, or an event that has the status in its name."""
        named = "" if kind == _STATUS_EVENT else kind.removeprefix(_HEAD)
        status = text(data, "status") or text(run, "status") or named
        if status not in _OVER and status not in _PENDING:
            out.warn("unknown_status", f"the status {excerpt(status, 40)!r} of a run is not known")
        self._status = status
        told = {name: data[name] for name in ("continuation_token",) if text(data, name)}
        self._run.identify({"id": data.get("interaction_id"), **run, **told}, out)
        usage.tell(inner(data, "usage"), out, partial=True)

    def _on_error(self, data: Json, out: Emitter) -> None:
        error = data.get("error")
        told = {"message": error} if isinstance(error, str) else inner(data, "error") or _bare(data)
        if failures.tells(told):
            self._fail(failures.failure_in(told), ERROR, out)

    def _on_whole(self, run: Json, out: Emitter) -> None:
        status = text(run, "status")
        if not status:
            status = "failed" if run.get("error") or run.get("errors") else "completed"
            out.warn("unknown_status", "a whole run came without a status")
        self._run.can_resume = self._run.can_resume or status in _PENDING
        self._end(status, run, out)

    def _settle(self, out: Emitter) -> None:
        """The last status the stream told, where it was final and every step is over."""
        if self._status in _OVER and self._steps.are_over:
            self._end(self._status, NOTHING, out)

    def _end(self, status: str, run: Json, out: Emitter) -> None:
        self._run.identify(run, out)
        usage.tell(inner(run, "usage"), out)
        self._steps.settle(rows(run, "steps", "outputs"), out)
        match status:
            case "completed":
                self._complete("ok", status, out)
            case "requires_action":
                self._on_action(status, out)
            case "requires_continuation":
                self._on_continuation(status, out)
            case "incomplete":
                self._complete("out-of-tokens", status, out, "the run stopped before it was complete")
            case "budget_exceeded":
                self._complete("out-of-tokens", status, out, "the run spent what it was allowed to spend")
            case "failed":
                self._fail(failures.failure_of(run, self._answer.step_error), status, out)
            case "cancelled":
                self._fail(failures.cancelled(), status, out)
            case "queued" | "in_progress":
                self._fail(failures.pending(status, run), status, out)
            case _:
                out.warn("unknown_status", f"the status {excerpt(status, 40)!r} of a run is not known")
                self._complete("ok", status, out)

    def _on_action(self, status: str, out: Emitter) -> None:
        """The client's turn, if there is a call to answer."""
        handed = hand_over(self._answer, out)
        if handed or self._steps.has_client_calls:
            self._complete("ok", status, out)
        else:
            self._fail(failures.waiting(), status, out)

    def _on_continuation(self, status: str, out: Emitter) -> None:
        """One request decodes only so much; the vendor goes on where it gets its token back."""
        if not self._run.token:
            self._complete("out-of-tokens", status, out)
            return
        self._answer.end_work("done", out)
        out.stop("out-of-tokens", native=status)
        out.resume({"continuation_token": self._run.token}, status)

    def _complete(self, reason: p.StopReason, word: str, out: Emitter, detail: str | None = None) -> None:
        self._answer.end_work("done", out)
        out.stop(reason, native=excerpt(word, 40), detail=detail)
        out.done()

    def _fail(self, error: VendorError, word: str, out: Emitter) -> None:
        self._steps.close(out)
        self._answer.end_work("error", out)
        out.stop("cg-issue", native=word)
        out.issue(failures.final(error) if self._run.lives_on else error)


def _bare(data: Json) -> Json:
    """The members of an error that is not nested."""
    return {name: value for name, value in data.items() if name in ("code", "message", "status")}
