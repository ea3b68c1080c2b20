"""What the mock vendor says in three dialects, as bytes, and what a gateway must make of it.

One request is steered by a few words in its last message, which survive every gateway: `bench n=… size=…
pause=… wait=… stamp=…`. The content of event i is `%06d`, with `@` and the monotonic nanoseconds at which it
was written where stamps are wanted, filled up with `x`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

WORDS = re.compile(rb"bench n=(\d+) size=(\d+) pause=(\d+) wait=(\d+) stamp=([01])")
PIECE = re.compile(r"(\d{6})(?:@(\d{19}))?x*")
STAMP = b"@0000000000000000000"


@dataclass(frozen=True)
class Script:
    """One answer: `n` events of `size` characters, `pause` µs apart (0: all at once), the first after `wait` ms."""

    n: int = 100
    size: int = 8
    pause: int = 0
    wait: int = 0
    stamp: int = 0

    def words(self) -> str:
        return f"bench n={self.n} size={self.size} pause={self.pause} wait={self.wait} stamp={self.stamp}"

    def content(self, i: int) -> bytes:
        text = b"%06d" % i + (STAMP if self.stamp else b"")
        return text + b"x" * (self.size - len(text))


def script_in(body: bytes) -> Script:
    """The script a request asks for."""
    found = WORDS.search(body)
    return Script(*map(int, found.groups())) if found else Script()


class Answer(NamedTuple):
    """Events before the content, one event a piece of content, events after it."""

    head: list[bytes]
    middle: list[bytes]
    tail: list[bytes]


def _event(value: Any, name: str = "", end: str = "\n\n") -> bytes:
    text = json.dumps(value, separators=(",", ":"))
    return (f"event: {name}\ndata: {text}{end}" if name else f"data: {text}{end}").encode()


def _filled(template: bytes, script: Script) -> list[bytes]:
    before, after = template.split(b"@@")
    return [before + script.content(i) + after for i in range(script.n)]


def chat(script: Script, body: bytes) -> Answer:
    """OpenAI's chat-completion chunks."""
    about = {
        "id": "chatcmpl-bench0123456789abcdefghijk",
        "object": "chat.completion.chunk",
        "created": 1764400000,
        "model": "bench-model-2026-11-01",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**about, "choices": [choice], "obfuscation": "aB3dE"})

    counts = {"prompt_tokens": 9, "completion_tokens": script.n, "total_tokens": script.n + 9}
    usage = [_event({**about, "choices": [], "usage": counts})] if b"include_usage" in body else []
    return Answer(
        [chunk({"role": "assistant", "content": "", "refusal": None})],
        _filled(chunk({"content": "@@"}), script),
        [chunk({}, "stop"), *usage, b"data: [DONE]\n\n"],
    )


def messages(script: Script, _: bytes) -> Answer:
    """Anthropic's Messages events."""
    usage = {"input_tokens": 9, "output_tokens": 1, "service_tier": "standard"}
    message = {
        "id": "msg_bench",
        "type": "message",
        "role": "assistant",
        "model": "bench-model",
        "content": [],
    }

    def said(name: str, **members: Any) -> bytes:
        return _event({"type": name, **members}, name)

    delta = {"type": "text_delta", "text": "@@"}
    return Answer(
        [
            said("message_start", message={**message, "stop_reason": None, "usage": usage}),
            said("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            said("ping"),
        ],
        _filled(said("content_block_delta", index=0, delta=delta), script),
        [
            said("content_block_stop", index=0),
            said("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": script.n}),
            said("message_stop"),
        ],
    )


def generate(script: Script, _: bytes) -> Answer:
    """Gemini's responses, with CRLF and counts in each."""

    def response(text: str, count: int, **more: Any) -> bytes:
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, **more, "index": 0}
        usage = {"promptTokenCount": 9, "candidatesTokenCount": count, "totalTokenCount": count + 9}
        told = {"candidates": [candidate], "usageMetadata": usage}
        return _event({**told, "modelVersion": "bench-model", "responseId": "bench"}, end="\r\n\r\n")

    middle = [response("@@", i + 1).replace(b"@@", script.content(i)) for i in range(script.n)]
    return Answer([], middle, [response("", script.n, finishReason="STOP")])


DIALECTS: dict[str, Callable[[Script, bytes], Answer]] = {
    "openai-chat": chat,
    "anthropic-messages": messages,
    "gemini-generate": generate,
}
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "gemini-generate": "/v1beta/models/m:streamGenerateContent?alt=sse",
}


def dialect_at(path: str) -> str | None:
    """Which dialect is asked for there."""
    path = path.partition("?")[0]
    ends = {"/chat/completions": "openai-chat", "/messages": "anthropic-messages"}
    for end, dialect in {**ends, ":streamGenerateContent": "gemini-generate"}.items():
        if path.endswith(end):
            return dialect
    return None


def text_in(data: Any, dialect: str) -> str:
    """The piece of text in one event."""
    try:
        if dialect == "openai-chat":
            return data["choices"][0]["delta"].get("content") or ""
        if dialect == "anthropic-messages":
            return data["delta"].get("text") or ""
        return data["candidates"][0]["content"]["parts"][0]["text"]
    except (KeyError, IndexError, TypeError, AttributeError):
        return ""
