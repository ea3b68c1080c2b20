"""What the official `openai` package reads from a gateway, with every byte it was sent and when.

Loosens nothing: the package's own parsing decides what there is, its own errors what failed.
"""

import json
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai

from fakes.serving import KEY


class Tee(httpx.HTTPTransport):
    """A transport that notes every piece of every body on its way, with its arrival time."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[tuple[float, bytes]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        response.stream = _Noted(response.stream, self.pieces)
        return response


class _Noted(httpx.SyncByteStream):
    def __init__(self, stream: Any, pieces: list[tuple[float, bytes]]) -> None:
        self._stream, self._pieces = stream, pieces

    def __iter__(self) -> Any:
        for piece in self._stream:
            self._pieces.append((time.monotonic(), piece))
            yield piece

    def close(self) -> None:
        self._stream.close()


@dataclass
class Reading:
    """One answer as the package told it."""

    text: str = ""
    reasoning: str = ""
    tool_calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    finish_reasons: list[str] = field(default_factory=list)
    usage: dict[str, int] | None = None
    error: dict[str, Any] | None = None
    roles: int = 0
    ids: set[str] = field(default_factory=set)
    motes: dict[str, Any] = field(default_factory=dict)
    pieces: list[tuple[float, bytes]] = field(default_factory=list)

    @property
    def raw(self) -> str:
        """Everything that was sent."""
        return b"".join(piece for _, piece in self.pieces).decode()

    def result(self) -> dict[str, Any]:
        """In the words of the handed checker."""
        calls = [call | {"index": index} for index, call in sorted(self.tool_calls.items())]
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "tool_calls": [] if self.error else calls,
            "finish_reason": self.finish_reasons[0] if self.finish_reasons else None,
            "usage": self.usage,
            "error": self.error,
            "egress": self.raw,
            "native_finish_reason": self.motes.get("native_finish_reason"),
        }


def read_stream(base_url: str, model: str, **members: Any) -> Reading:
    """Ask for a stream with usage, and read it to its end or its error."""
    tee, reading = Tee(), Reading()
    with openai.OpenAI(
        base_url=base_url, api_key=KEY, max_retries=0, http_client=httpx.Client(transport=tee, timeout=30)
    ) as client:
        try:
            stream = client.chat.completions.create(
                model=model,
                messages=[{"role": "user", "content": "Hi"}],
                stream=True,
                stream_options={"include_usage": True},
                **members,
            )
            for chunk in stream:
                _take(reading, chunk)
        except openai.APIStatusError as error:
            reading.error = _error(error.body, "before_output") | {"http_status": error.status_code}
        except openai.APIError as error:
            reading.error = _error(error.body, "mid_stream")
    reading.pieces = tee.pieces
    return reading


def _take(reading: Reading, chunk: Any) -> None:
    reading.ids.add(chunk.id)
    extra = chunk.model_extra or {}
    reading.motes |= extra.get("motes") or {}
    if chunk.usage:
        reading.usage = _usage(chunk.usage)
    for choice in chunk.choices:
        delta = choice.delta
        reading.roles += bool(delta.role)
        reading.text += delta.content or ""
        reading.reasoning += (delta.model_extra or {}).get("reasoning_content") or ""
        for piece in delta.tool_calls or ():
            _take_piece(reading, piece)
        if choice.finish_reason:
            reading.finish_reasons.append(choice.finish_reason)


def _take_piece(reading: Reading, piece: Any) -> None:
    call = reading.tool_calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
    call["id"] += piece.id or ""
    call["name"] += piece.function.name or ""
    call["arguments"] += piece.function.arguments or ""


def _usage(usage: Any) -> dict[str, int]:
    cached = usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
    reasoning = usage.completion_tokens_details and usage.completion_tokens_details.reasoning_tokens
    return {
        "prompt": usage.prompt_tokens,
        "completion": usage.completion_tokens,
        "total": usage.total_tokens,
        "cached": cached,
        "reasoning": reasoning,
    }


def _error(body: Any, phase: str) -> dict[str, Any]:
    told = body["motes"]
    return {
        "kind": told["kind"],
        "phase": phase,
        "retryable": told["retryable"],
        "retry_after_s": told.get("retry_after_s"),
    }


def events_of(raw: str) -> list[Any]:
    """The data of every event of a stream, comments left out."""
    data = [line[6:] for line in raw.split("\n") if line.startswith("data: ")]
    return [item if item == "[DONE]" else json.loads(item) for item in data]
