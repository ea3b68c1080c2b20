"""Reads what InvokeModel carries: opens the envelope and hands the event to the parser of the model's own
protocol, which the first event tells.

Must never know the grammar of that protocol: it is another house's. Source: Amazon Bedrock API reference,
"InvokeModelWithResponseStream" (docs.aws.amazon.com, read 2026-11-29).
"""

import base64
from collections.abc import Callable
from typing import Any, Final

from motes import jsontext
from motes.demux.base import WireEvent
from motes.dialects.base import Dialect, DialectName, Parser
from motes.dialects.bedrock_invoke.completions import CompletionParser
from motes.dialects.bedrock_invoke.events import METRICS, Json, count, first, obj
from motes.quirks import Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt, from_body

Resolve = Callable[[DialectName], Dialect]

# Amazon's own models answer in the words of Converse.
_CONVERSE: Final = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "output",
)


class InvokeParser:
    """One per attempt."""

    def __init__(self, quirks: Quirks, resolve: Resolve) -> None:
        self._quirks = quirks
        self._resolve = resolve
        self._inner: Parser | None = None

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """See `Parser`."""
        if event.name == "error":
            out.issue(from_body(_object(event.data)))
        elif event.name in ("chunk", None):
            self._on_answer(_opened(event), out)
        else:
            said = excerpt(event.name or "", 40)
            out.warn("unknown_event", f"an upstream event of type {said!r} was skipped")

    def eof(self, out: Emitter) -> None:
        """See `Parser`."""
        if self._inner is not None:
            self._inner.eof(out)

    def _on_answer(self, data: str, out: Emitter) -> None:
        if self._inner is None:
            self._inner = self._parser_of(_object(data))
        if METRICS in data:
            metrics = obj(_object(data).get(METRICS))
            out.usage(inner_ms=count(metrics.get("invocationLatency")))
        self._inner.parse(WireEvent(data), out)

    def _parser_of(self, data: Json) -> Parser:
        """The parser of the protocol that an event belongs to."""
        if isinstance(data.get("type"), str):
            return self._resolve("anthropic-messages").parser(self._quirks)
        if any(name in data for name in _CONVERSE):
            return self._resolve("bedrock-converse").parser(self._quirks)
        if "choices" in data and "text" not in first(data["choices"]):
            return self._resolve("openai-chat").parser(self._quirks)
        return CompletionParser(self._quirks)


def _opened(event: WireEvent) -> str:
    """The model's own event. A whole body has no envelope."""
    if event.name is None:
        return event.data
    held = _object(event.data).get("bytes")
    if not isinstance(held, str):
        raise ValueError("a chunk holds its event in `bytes`")
    return base64.b64decode(held, validate=True).decode("utf-8", "replace")


def _object(data: str) -> dict[str, Any]:
    value = jsontext.loads(data)
    if not isinstance(value, dict):
        raise ValueError("an event of InvokeModel is a JSON object")
    return value
