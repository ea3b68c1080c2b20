"""The JSON values that a recorded body carries, and the same body with one of them changed.

Knows the framings: server-sent events, lines of JSON, one JSON body, AWS's event stream (also with another
protocol's events in its chunks).
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

from fakes.eventstream import frame

Put = Callable[[int, Any], bytes]


def values_of(body: bytes) -> tuple[list[Any], Put]:
    """Every value in order, and what puts one anew. Values are fresh and may be changed in place."""
    if body[:1] == b"\0":
        return _framed(list(_frames(body)))
    text = body.decode("utf-8", "replace")
    try:
        return [json.loads(text)], lambda _, value: json.dumps(value).encode()
    except ValueError:
        return _lined(text.split("\n"))


def _lined(lines: list[str]) -> tuple[list[Any], Put]:
    def head(line: str) -> str:
        return "data: " if line.startswith("data: ") else ""

    places = [i for i, line in enumerate(lines) if line.removeprefix("data: ").startswith("{")]

    def put(at: int, value: Any) -> bytes:
        changed = head(lines[places[at]]) + json.dumps(value)
        return "\n".join(changed if i == places[at] else line for i, line in enumerate(lines)).encode()

    return [json.loads(lines[i].removeprefix("data: ")) for i in places], put


def _framed(frames: list[tuple[dict[str, str], bytes]]) -> tuple[list[Any], Put]:
    places = [i for i, (_, payload) in enumerate(frames) if payload.startswith(b"{")]

    def put(at: int, value: Any) -> bytes:
        payload = frames[places[at]][1]
        changed = {"bytes": _base64(value)} if _is_chunk(payload) else value
        return b"".join(
            frame(changed if i == places[at] else payload, **headers)
            for i, (headers, payload) in enumerate(frames)
        )

    return [_value(frames[i][1]) for i in places], put


def _frames(body: bytes) -> Iterator[tuple[dict[str, str], bytes]]:
    from botocore.eventstream import EventStreamBuffer

    buffer = EventStreamBuffer()
    buffer.add_data(body)
    for message in buffer:
        yield {name[1:].replace("-", "_"): value for name, value in message.headers.items()}, message.payload


def _is_chunk(payload: bytes) -> bool:
    return isinstance(json.loads(payload).get("bytes"), str)


def _value(payload: bytes) -> Any:
    value = json.loads(payload)
    return json.loads(base64.b64decode(value["bytes"])) if _is_chunk(payload) else value


def _base64(value: Any) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()
