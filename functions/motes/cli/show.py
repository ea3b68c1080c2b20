"""One answer on the terminal, as it comes: what a client makes of the particle stream.

Must never show what did not come over the wire; what it has seen stands in `seen`.
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from motes import particles as p
from motes.cli.terminal import Terminal
from motes.egress.message_json import citations_json, usage_json

Kind = Literal["reasoning", "text", "tool call", "citation", "heartbeat"]
_HEART: Final = "❤"


class Show:
    """Feed it every particle of one run in order."""

    def __init__(self, terminal: Terminal) -> None:
        self.seen: set[Kind] = set()
        self.failure: str | None = None
        """Why the run failed, where it did."""
        self.end: p.End | None = None
        self._terminal = terminal
        self._section = ""
        self._citations: list[p.Citation] = []
        self._operations: set[str] = set()
        self._metrics: p.Metrics | None = None

    def feed(self, particle: p.Particle) -> None:
        """Show one particle; what has nothing to show is passed over."""
        handler = _HANDLERS.get(type(particle))
        if handler is not None:
            handler(self, particle)

    def _on_reasoning(self, particle: p.Reasoning) -> None:
        self.seen.add("reasoning")
        self._piece("thinks", particle.text, "dim italic")

    def _on_text(self, particle: p.Text) -> None:
        self.seen.add("text")
        self._piece("says", particle.text)

    def _on_refusal(self, particle: p.Refusal) -> None:
        self._piece("refuses", particle.text)

    def _on_tool_call(self, particle: p.ToolCall) -> None:
        self.seen.add("tool call")
        self._open("calls")
        self._terminal.piece(f"{particle.name} {particle.arguments or ''}", "yellow")

    def _on_arguments(self, particle: p.ToolCallArguments) -> None:
        self._terminal.piece(particle.arguments, "yellow")

    def _on_operation(self, particle: p.Operation) -> None:
        if particle.id not in self._operations:
            self._operations.add(particle.id)
            self._open("does")
            self._terminal.piece(particle.text, "magenta")

    def _on_citation(self, particle: p.Citation) -> None:
        self.seen.add("citation")
        self._citations.append(particle)

    def _on_heartbeat(self, _: p.Heartbeat) -> None:
        self.seen.add("heartbeat")
        self._open("waits")
        self._terminal.piece(f"{_HEART} ", "red")

    def _on_metrics(self, particle: p.Metrics) -> None:
        self._metrics = particle

    def _on_reset(self, particle: p.RetryReset) -> None:
        self._open("again")
        self._terminal.piece(particle.reason, "yellow")

    def _on_issue(self, particle: p.Issue) -> None:
        kind = particle.error.kind if particle.error else particle.phase
        self.failure = f"{particle.text} ({kind})"

    def _on_end(self, particle: p.End) -> None:
        self.end = particle
        if particle.stop is None:
            self.failure = self.failure or "the answer has no end"
        for citation in citations_json(self._citations):
            self._open("cites", again=True)
            self._terminal.piece(f"{citation['title']} {citation['url'] or ''}", "cyan")
        counts = usage_json(self._metrics)
        if counts is not None:
            self._open("used")
            self._terminal.piece(f"{counts['prompt']} tokens in, {counts['completion']} out", "dim")
        self._open("")

    def _piece(self, section: str, text: str, style: str = "") -> None:
        if text:
            self._open(section)
            self._terminal.piece(text, style)

    def _open(self, section: str, *, again: bool = False) -> None:
        """Begin a section on a line of its own, unless it is the one that is open."""
        if section == self._section and not again:
            return
        if self._section:
            self._terminal.line()
        self._section = section
        if section:
            self._terminal.piece(f"{section:>8}  ", "bold")


_HANDLERS: Final[dict[type, Callable[[Show, Any], None]]] = {
    p.Reasoning: Show._on_reasoning,
    p.Text: Show._on_text,
    p.Refusal: Show._on_refusal,
    p.ToolCall: Show._on_tool_call,
    p.ToolCallArguments: Show._on_arguments,
    p.Operation: Show._on_operation,
    p.Citation: Show._on_citation,
    p.Heartbeat: Show._on_heartbeat,
    p.Metrics: Show._on_metrics,
    p.RetryReset: Show._on_reset,
    p.Issue: Show._on_issue,
    p.End: Show._on_end,
}
