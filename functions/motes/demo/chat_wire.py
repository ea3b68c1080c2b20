"""OpenAI's chat completions as the demo vendor writes them, with `reasoning_content` as DeepSeek has it.

Sources: platform.openai.com, "Chat completions streaming" and "Web search" (`annotations`);
api-docs.deepseek.com, "Reasoning model" (all read 2026-11-29). Must never read motes' own dialect house.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from motes import jsontext
from motes.demo.scripts import Beat, Call, Cut, Fail, Pause, Quote, Say, Search, Think
from motes.demo.wire import (
    Asked,
    Heard,
    Refused,
    Step,
    halves,
    joined,
    last_of,
    names_of,
    object_of,
    objects,
    tokens_of,
    turns_of,
    words,
)

_DONE: Final = b"data: [DONE]\n\n"


class ChatWire:
    """`POST /v1/chat/completions`."""

    stream_type = "text/event-stream; charset=utf-8"
    overloaded = Refused(503, "server_error", "The engine is currently overloaded, please try again later")

    def read(self, target: str, headers: dict[str, str], body: bytes) -> Asked:  # noqa: ARG002
        """See `Wire`."""
        request = object_of(body)
        options = request.get("stream_options")
        question, result = last_of(_heard(request.get("messages")))
        return Asked(
            model=str(request.get("model") or ""),
            question=question,
            stream=request.get("stream") is True,
            result=result,
            tools=_tools(request),
            with_usage=isinstance(options, dict) and options.get("include_usage") is True,
        )

    def stream(self, asked: Asked, beats: Sequence[Beat]) -> Iterator[Step]:
        """See `Wire`."""
        yield _chunk(asked, {"role": "assistant", "content": "", "refusal": None})
        calls = place = 0
        for beat in beats:
            if isinstance(beat, Call):
                yield from _call(asked, beat, calls)
                calls += 1
            elif isinstance(beat, Pause | Cut):
                yield beat
            elif isinstance(beat, Fail):
                yield _event(self.refusal(self.overloaded))
                return
            elif not isinstance(beat, Search):
                yield from _pieces(asked, beat, place)
                place += 0 if isinstance(beat, Think) else len(beat.text)
        yield _chunk(asked, {}, "tool_calls" if calls else "stop")
        if asked.with_usage:
            yield _event(_head(asked) | {"choices": [], "usage": _usage(asked, beats)})
        yield _DONE

    def whole(self, asked: Asked, beats: Sequence[Beat]) -> dict[str, Any]:
        """See `Wire`."""
        calls = [beat for beat in beats if isinstance(beat, Call)]
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(b.text for b in beats if isinstance(b, Say | Quote)) or None,
            "reasoning_content": "".join(b.text for b in beats if isinstance(b, Think)) or None,
            "refusal": None,
            "annotations": _annotations(beats),
        }
        if calls:
            message["tool_calls"] = [_whole_call(asked, call, n) for n, call in enumerate(calls)]
        finish = "tool_calls" if calls else "stop"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        head = _head(asked) | {"object": "chat.completion"}
        return head | {"choices": [choice], "usage": _usage(asked, beats)}

    def refusal(self, refused: Refused) -> dict[str, Any]:
        """See `Wire`."""
        kind = "requests" if refused.status == 429 else _TYPES.get(refused.status, "invalid_request_error")
        return {"error": {"message": refused.message, "type": kind, "param": None, "code": refused.word}}


_TYPES: Final = {500: "server_error", 503: "server_error"}


def _heard(messages: Any) -> Iterator[Heard]:
    for message in turns_of(messages):
        if message.get("role") in ("user", "tool"):
            yield Heard(joined(message.get("content")), message["role"] == "tool")


def _tools(request: dict[str, Any]) -> frozenset[str]:
    if request.get("tool_choice") == "none":
        return frozenset()
    return names_of(objects([tool.get("function") for tool in objects(request.get("tools"))]))


def _pieces(asked: Asked, beat: Think | Say | Quote, place: int) -> Iterator[bytes]:
    name = "reasoning_content" if isinstance(beat, Think) else "content"
    for word in words(beat.text):
        yield _chunk(asked, {name: word})
    if isinstance(beat, Quote):
        yield _chunk(asked, {"annotations": [_annotation(beat, place)]})


def _call(asked: Asked, call: Call, index: int) -> Iterator[bytes]:
    function = {"name": call.name, "arguments": ""}
    opening = {"index": index, "id": _call_id(asked, index), "type": "function", "function": function}
    yield _chunk(asked, {"tool_calls": [opening]})
    for piece in halves(jsontext.dumps(call.arguments)):
        yield _chunk(asked, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _whole_call(asked: Asked, call: Call, index: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": jsontext.dumps(call.arguments)}
    return {"id": _call_id(asked, index), "type": "function", "function": function}


def _call_id(asked: Asked, index: int) -> str:
    return f"call_demo{asked.serial:04d}{index}"


def _annotations(beats: Sequence[Beat]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    place = 0
    for beat in beats:
        if isinstance(beat, Quote):
            out.append(_annotation(beat, place))
        place += len(beat.text) if isinstance(beat, Say | Quote) else 0
    return out


def _annotation(quote: Quote, place: int) -> dict[str, Any]:
    span = {"start_index": place, "end_index": place + len(quote.text)}
    return {"type": "url_citation", "url_citation": span | {"title": quote.title, "url": quote.url}}


def _usage(asked: Asked, beats: Sequence[Beat]) -> dict[str, Any]:
    tokens = tokens_of(asked, beats)
    completion = tokens.answer + tokens.thinking
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": completion,
        "total_tokens": tokens.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.thinking, "audio_tokens": 0},
    }


def _head(asked: Asked) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-demo{asked.serial:04d}",
        "object": "chat.completion.chunk",
        "created": asked.created,
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": "fp_demo",
    }


def _chunk(asked: Asked, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    tail: dict[str, Any] = {"usage": None} if asked.with_usage else {}
    return _event(_head(asked) | {"choices": [choice]} | tail)


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + jsontext.dump_bytes(value) + b"\n\n"
