"""An OpenAI chat-completion stream put together into one object, as a careful client would."""

import json
from typing import Any

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")


def joined(stream: bytes) -> dict[str, Any]:
    """The completion a stream amounts to; `error` is there where the stream told one."""
    events = [line.removeprefix(b"data: ") for line in stream.split(b"\n") if line.startswith(b"data: ")]
    assert events[-1] == b"[DONE]"
    whole: dict[str, Any] = {"message": {}, "finish_reason": None}
    for event in map(json.loads, events[:-1]):
        if "error" in event:
            return whole | {"error": event["error"]}
        whole |= {name: event[name] for name in ("id", "model", "created", "motes") if name in event}
        if event.get("usage"):
            whole["usage"] = event["usage"]
        for choice in event["choices"]:
            whole["finish_reason"] = choice["finish_reason"] or whole["finish_reason"]
            _add(whole["message"], choice["delta"])
    return whole


def _add(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        if name in _TEXTS:
            message[name] = message.get(name, "") + (value or "")
        elif name == "tool_calls":
            _add_calls(message.setdefault(name, []), value)
        elif isinstance(value, list):
            message.setdefault(name, []).extend(value)
        else:
            message[name] = value


def _add_calls(calls: list[dict[str, Any]], pieces: list[dict[str, Any]]) -> None:
    for piece in pieces:
        if piece["index"] == len(calls):
            calls.append({name: value for name, value in piece.items() if name != "index"})
        else:
            calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
