"""The least that translating a stream can be: events split, decoded into types, and filled into a template.

A yardstick and no gateway: it reads text deltas and the reason for the stop, of events as they ought to be,
and forgets everything else.
"""

from collections.abc import Callable

import msgspec

HEAD = (
    b'data: {"id":"chatcmpl-0123456789abcdef01234567","object":"chat.completion.chunk","created":1764400000,'
    b'"model":"m","choices":[{"index":0,"delta":'
)
TAIL = b',"logprobs":null,"finish_reason":null}]}\n\n'
ROLE = HEAD + b'{"role":"assistant","content":""}' + TAIL
STOP = HEAD + b'{},"logprobs":null,"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Delta(msgspec.Struct, gc=False):
    content: str | None = None


class Choice(msgspec.Struct, gc=False):
    delta: Delta
    finish_reason: str | None = None


class Chunk(msgspec.Struct, gc=False):
    choices: list[Choice]


class BlockDelta(msgspec.Struct, gc=False):
    text: str | None = None
    stop_reason: str | None = None


class Event(msgspec.Struct, gc=False):
    type: str
    delta: BlockDelta | None = None


class Part(msgspec.Struct, gc=False):
    text: str | None = None


class Content(msgspec.Struct, gc=False):
    parts: list[Part] = []


class Candidate(msgspec.Struct, gc=False):
    content: Content | None = None
    finishReason: str | None = None  # noqa: N815 (its name on the wire)


class Response(msgspec.Struct, gc=False):
    candidates: list[Candidate]


Said = tuple[str | None, str | None]
_encode = msgspec.json.Encoder().encode


def _chat() -> Callable[[bytes], Said]:
    decode = msgspec.json.Decoder(Chunk).decode

    def said(data: bytes) -> Said:
        choices = decode(data).choices
        return (choices[0].delta.content, choices[0].finish_reason) if choices else (None, None)

    return said


def _messages() -> Callable[[bytes], Said]:
    decode = msgspec.json.Decoder(Event).decode

    def said(data: bytes) -> Said:
        delta = decode(data).delta
        return (delta.text, delta.stop_reason) if delta else (None, None)

    return said


def _generate() -> Callable[[bytes], Said]:
    decode = msgspec.json.Decoder(Response).decode

    def said(data: bytes) -> Said:
        candidate = decode(data).candidates[0]
        parts = candidate.content.parts if candidate.content else []
        return (parts[0].text if parts else None), candidate.finishReason

    return said


READERS = {"openai-chat": _chat, "anthropic-messages": _messages, "gemini-generate": _generate}


class Template:
    """One answer: `feed` it what comes off the socket, it gives what goes out."""

    def __init__(self, dialect: str) -> None:
        self._said = READERS[dialect]()
        self._separator = b"\r\n\r\n" if dialect == "gemini-generate" else b"\n\n"
        self._rest = b""
        self._out: list[bytes] = [ROLE]

    def feed(self, data: bytes) -> bytes:
        events = (self._rest + data if self._rest else data).split(self._separator)
        self._rest = events.pop()
        for event in events:
            data = event[6:] if event.startswith(b"data: ") else event[event.find(b"\ndata: ") + 7 :]
            if data == b"[DONE]":
                continue
            text, stop = self._said(data)
            if text:
                self._out.append(HEAD + b'{"content":' + _encode(text) + b"}" + TAIL)
            if stop:
                self._out.append(STOP)
        out, self._out = b"".join(self._out), []
        return out
