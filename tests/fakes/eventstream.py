"""Frames of AWS's event stream, written after its description; botocore only reads them."""

import json
import struct
from typing import Any
from zlib import crc32


def header(name: str, value: Any) -> bytes:
    """A header; text by default, other types by the type of the value."""
    head = bytes([len(name)]) + name.encode()
    if value is True or value is False:
        return head + bytes([0 if value else 1])
    if isinstance(value, int):
        return head + b"\x04" + struct.pack("!i", value)
    if isinstance(value, bytes):
        return head + b"\x06" + struct.pack("!H", len(value)) + value
    return head + b"\x07" + struct.pack("!H", len(value.encode())) + value.encode()


def raw_frame(headers: bytes, payload: bytes, total: int | None = None) -> bytes:
    """One frame; `total` is the length it declares, where that is not its own."""
    size = 16 + len(headers) + len(payload) if total is None else total
    prelude = struct.pack("!II", size, len(headers))
    prelude += struct.pack("!I", crc32(prelude))
    body = prelude + headers + payload
    return body + struct.pack("!I", crc32(body))


def frame(payload: Any, **headers: Any) -> bytes:
    """One frame: header names with `_` for `-` and without the colon, JSON or bytes as payload."""
    named = b"".join(header(":" + name.replace("_", "-"), value) for name, value in headers.items())
    return raw_frame(named, payload if isinstance(payload, bytes) else json.dumps(payload).encode())


def event(name: str, payload: Any) -> bytes:
    """An event of the model's answer."""
    return frame(payload, event_type=name, content_type="application/json", message_type="event")


def exception(name: str, payload: Any) -> bytes:
    """An exception of the service."""
    return frame(payload, exception_type=name, content_type="application/json", message_type="exception")
