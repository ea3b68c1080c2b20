"""One answer as a person sees it while it comes: its parts in words, how it goes, and its numbers.

Pure: the time is an argument, in seconds of any clock. Must never show what did not come, nor let a text
command the terminal.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from motes import particles as p
from motes.cli.terminal import harmless
from motes.egress.failure import failure_of
from motes.egress.message_json import citations_json, usage_json
from motes.fragments import (
    CodeFragment,
    Fragment,
    MediaFragment,
    Message,
    OperationFragment,
    ReasoningFragment,
    RefusalFragment,
    ResourceFragment,
    TextFragment,
    ToolCallFragment,
)

Part: TypeAlias = tuple[str, str]
"""A rich style and a text; a part begins on a line of its own unless it is text after text."""

_HEART: Final = "❤"
_CENTS: Final = 100
_MS: Final = 1000
_OUTCOMES: Final = {"aborted": "interrupted; what came is kept"}


class Pane:
    """Feed it every particle of one run in order; `message` gives the message as far as it came."""

    def __init__(self, name: str, message: Callable[[], Message], now: float) -> None:
        self.name = name
        self._message = message
        self._started = now
        self._first: float | None = None
        self._ended: float | None = None
        self._beats = 0
        self._attempt = ""

    @property
    def message(self) -> Message:
        """The message as far as it came."""
        return self._message()

    @property
    def has_begun(self) -> bool:
        """Whether anything came that can be seen."""
        return self._first is not None

    @property
    def failure(self) -> str | None:
        """Why there is no whole answer, once it is over; None for one that is whole, or was interrupted."""
        message = self.message
        if message.outcome in (None, "completed", "aborted"):
            return None
        error = failure_of(message.issue)
        return harmless(f"{error.message} ({error.kind})")

    def feed(self, particle: p.Particle, now: float) -> None:
        """The next particle."""
        if isinstance(particle, p.Heartbeat):
            self._beats += 1
        elif isinstance(particle, p.RetryReset):
            self._attempt = _retry(particle)
        elif isinstance(particle, p.End):
            self.close(now)
        elif p.is_visible(particle):
            self._first = now if self._first is None else self._first
            self._beats, self._attempt = 0, ""

    def close(self, now: float) -> None:
        """It is over, in whatever way."""
        self._ended = now if self._ended is None else self._ended

    def parts(self, *, unfold: bool = False) -> Iterator[Part]:
        """What came so far, in order. Reasoning is folded into a line unless it is unfolded."""
        fragments = self.message.fragments
        last = fragments[-1] if fragments else None
        for fragment in fragments:
            is_open = fragment is last and self._ended is None
            yield from _part_of(fragment, unfold=unfold, is_open=is_open)
        for number, citation in enumerate(citations_json(self.message.citations), 1):
            where = " ".join(filter(None, (citation["title"], citation["url"])))
            yield "cyan", f"[{number}] {harmless(where)}"

    def state(self, now: float) -> str:
        """How it goes: waiting, trying again, or the numbers so far."""
        if self._ended is not None:
            return ""
        waited = f"{now - self._started:.1f} s"
        beats = f" {_HEART * min(self._beats, 5)}{f' {self._beats}' if self._beats > 5 else ''}"
        if self._attempt:
            return f"{self._attempt} ({waited}){beats if self._beats else ''}"
        if self._beats or self._first is None:
            return f"waiting {waited}{beats if self._beats else ''}"
        return f"{waited} · {self.numbers()}"

    def numbers(self) -> str:
        """Time to the first token, tokens a second, tokens and cost, as far as they are known."""
        metrics, told = self.message.metrics, list[str]()
        if self._first is not None:
            told.append(f"first token {self._first - self._started:.2f} s")
            # Some vendors count as they go, others begin with a count of their own: only the last one is one.
            rate = None if self._ended is None else _rate(metrics, self._ended - self._first)
            told += [f"{rate:.1f} tokens/s"] if rate else []
        counts = usage_json(metrics)
        if metrics is not None and counts is not None:
            told.append(_counts(metrics, counts["prompt"], counts["completion"]))
        told += [_cost(metrics)] if metrics is not None and _cost(metrics) else []
        return " · ".join(told)

    @property
    def remark(self) -> str | None:
        """How it ended, where that is not well."""
        if self.failure is not None:
            return f"failed: {self.failure}"
        return _OUTCOMES.get(self.message.outcome or "")


def _part_of(fragment: Fragment, *, unfold: bool, is_open: bool) -> Iterator[Part]:
    match fragment:
        case TextFragment(text=text):
            yield "", harmless(text)
        case RefusalFragment(text=text):
            yield "bold", f"refuses: {harmless(text)}"
        case ReasoningFragment():
            yield "dim italic", _reasoning(fragment, unfold=unfold, is_open=is_open)
        case ToolCallFragment(name=name, arguments=arguments):
            yield "yellow", f"calls {harmless(name)} {harmless(arguments)}"
        case OperationFragment(operation=operation):
            yield "magenta", f"does {harmless(operation.text)}{_OPERATION.get(operation.state or '', ' …')}"
        case CodeFragment():
            yield from _code(fragment)
        case MediaFragment(media=media):
            kind = type(media).__name__.lower()
            preview = " (preview)" if isinstance(media, p.Image) and media.partial else ""
            yield "green", f"{kind} {harmless(media.mime)}{preview}"
        case ResourceFragment(resource=resource):
            name = resource.filename or resource.resource or resource.file_id or resource.kind
            yield "green", f"file {harmless(name)}"
        case _:
            # Citations stand together at the end.
            return


_OPERATION: Final = {"done": "", "error": ": failed"}


def _code(fragment: CodeFragment) -> Iterator[Part]:
    if fragment.call is not None:
        yield "yellow", f"runs {harmless(fragment.call.language)}:\n{harmless(fragment.call.code)}"
    if fragment.result is not None:
        yield "yellow", f"gives {harmless(fragment.result.result)}"


def _reasoning(fragment: ReasoningFragment, *, unfold: bool, is_open: bool) -> str:
    text = harmless(fragment.text).strip()
    count = len(text.split())
    words = "1 word" if count == 1 else f"{count} words"
    if not text:
        return "thinks, and does not say what"
    if unfold:
        return f"thinks: {text}"
    if is_open:
        return f"thinks ({words}): … {' '.join(text.split()[-8:])}"
    return f"thought {words}"


def _retry(reset: p.RetryReset) -> str:
    if reset.delay_ms < 0:
        return f"gave up: {harmless(reset.reason)}"
    wait = f" in {reset.delay_ms / 1000:.1f} s" if reset.delay_ms else ""
    return f"again{wait}, {reset.attempt} of {reset.max_attempts}: {harmless(reset.reason)}"


def _rate(metrics: p.Metrics | None, seconds: float) -> float | None:
    """Tokens a second: the vendor's word, else by the time that the run took, else by the time seen here."""
    if metrics is None:
        return None
    if metrics.tokens_per_second is not None:
        return metrics.tokens_per_second
    took = seconds if metrics.inner_ms is None else metrics.inner_ms / _MS
    return metrics.tokens_out / took if metrics.tokens_out and took > 0 else None


def _counts(metrics: p.Metrics, prompt: int | None, completion: int | None) -> str:
    told = [f"{count} {word}" for count, word in ((prompt, "in"), (completion, "out")) if count is not None]
    if metrics.tokens_out_reasoning:
        told.append(f"{metrics.tokens_out_reasoning} of it thinking")
    guess = " (estimated)" if metrics.source == "estimated" else ""
    return f"{', '.join(told)}{guess}"


def _cost(metrics: p.Metrics) -> str:
    if metrics.cost is not None:
        return f"{metrics.cost.amount:.6f} {metrics.cost.currency}"
    return f"{metrics.cost_cents / _CENTS:.6f} USD" if metrics.cost_cents is not None else ""
