"""AWS's binary event stream: frames in, one event a frame, failures of the service among them.

Checksums and header values are botocore's work. What is ours: time linear in the bytes, however they are
cut, and bounded memory. An `exception` or `error` frame becomes the event `error`, whose data is the JSON
error object `{"error": {"type", "message", …}}` that every dialect understands. Must never give an event of a
frame whose checksum is wrong.
Source: "Amazon Transcribe: Event stream encoding" and the Amazon Bedrock API reference (docs.aws.amazon.com,
read 2026-11-29).
"""

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from motes import jsontext
from motes.demux.base import MAX_EVENT_BYTES, WireEvent, too_large
from motes.demux.whole import OrWholeDemuxer, unless_json
from motes.vendor_errors import excerpt

if TYPE_CHECKING:
    from botocore.eventstream import EventStreamMessage

# Total length, length of the headers, checksum of both; then headers, payload and a checksum of everything.
_PRELUDE: Final = 12
_CHECKSUM: Final = 4
_EXCERPT: Final = 80


class EventStreamDemuxer:
    """One event a frame: `:event-type` is its name, the payload its data."""

    room: Final = 0

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.error: str | None = None
        self._limit = max_event_bytes
        self._held: list[bytes] = []
        self._size = 0
        self._needed = _PRELUDE
        self._frames = 0
        try:
            from botocore import eventstream
        except ImportError:
            self.error = "reading an AWS event stream needs botocore: install motes[aws]"
            return
        self._new_buffer = eventstream.EventStreamBuffer
        self._faults = (eventstream.ParserError, struct.error, ValueError, LookupError, TypeError)

    def feed(self, data: bytes) -> Sequence[WireEvent]:
        """The events of the frames these bytes complete; empty once `error` is set."""
        if self.error is not None:
            return ()
        self._held.append(data)
        self._size += len(data)
        return self._take(b"".join(self._held)) if self._size >= self._needed else ()

    def close(self) -> Sequence[WireEvent]:
        """Nothing: a frame that is not whole says nothing."""
        self._held.clear()
        return ()

    def _take(self, data: bytes) -> list[WireEvent]:
        """Every whole frame of the bytes held; what remains is held on."""
        out: list[WireEvent] = []
        at = 0
        while self.error is None and len(data) - at >= self._needed:
            if self._needed == _PRELUDE:
                self._measure(data[at : at + _PRELUDE], len(data) - at)
                continue
            message = self._decoded(data[at : at + self._needed])
            at += self._needed
            self._needed = _PRELUDE
            if message is not None:
                self._frames += 1
                out.append(_event(message))
        self._held, self._size = [data[at:]], len(data) - at
        return out

    def _measure(self, prelude: bytes, available: int) -> None:
        """Learn how long the frame is. A length is not waited for unless its checksum is right."""
        total, headers = struct.unpack("!II", prelude[:8])
        if total < _PRELUDE + headers + _CHECKSUM:
            self._break(prelude, "its lengths cannot be")
            return
        if total > available:
            self._decoded(prelude)
        if total > self._limit and self.error is None:
            self.error = too_large(self._limit)
        self._needed = total

    def _decoded(self, data: bytes) -> "EventStreamMessage | None":
        """The frame, or None where there is no more of it than the prelude, or it is broken."""
        buffer = self._new_buffer()
        buffer.add_data(data)
        try:
            return next(buffer, None)
        except self._faults as fault:
            self._break(data, str(fault))
            return None

    def _break(self, data: bytes, why: str) -> None:
        if self._frames:
            self.error = f"frame {self._frames + 1} of the upstream's event stream is broken: {why}"
            return
        head = excerpt(data[:_EXCERPT].decode("utf-8", "backslashreplace"), _EXCERPT)
        self.error = f"the upstream's answer is no AWS event stream ({why}): {head}"


def event_stream_or_whole(max_event_bytes: int = MAX_EVENT_BYTES) -> OrWholeDemuxer:
    """An event stream, unless the first significant byte opens a JSON object or array."""
    # No frame begins with white space: its first byte is the highest of a length below 16 MiB.
    return OrWholeDemuxer(unless_json(EventStreamDemuxer), max_event_bytes)


def _event(message: "EventStreamMessage") -> WireEvent:
    headers = cast("Mapping[str, Any]", message.headers)
    payload = bytes(message.payload).decode("utf-8", "replace")
    kind = headers.get(":message-type")
    if kind == "exception":
        return _failure(_text(headers, ":exception-type"), payload)
    if kind == "error":
        said = _text(headers, ":error-message")
        return _failure(_text(headers, ":error-code"), payload, message=said)
    return WireEvent(payload, _text(headers, ":event-type"))


def _failure(type: str | None, payload: str, *, message: str | None = None) -> WireEvent:
    told = jsontext.as_object(payload)
    error = (
        {"message": payload} if told is None else {k: v for k, v in told.items() if isinstance(v, str | int)}
    )
    if message:
        error["message"] = message
    return WireEvent(jsontext.dumps({"error": error | {"type": type or "unknown"}}), "error")


def _text(headers: Mapping[str, Any], name: str) -> str | None:
    value = headers.get(name)
    return value if isinstance(value, str) else None
