"""What clients keep of a stream of a run: whole events and lines only, and where they stand."""

import json
from typing import Any

from motes import particles as p
from motes.codec import from_wire
from motes.fragments import Message
from motes.reassembly import Reassembler


def events_of(data: bytes) -> list[bytes]:
    """The whole server-sent events of what came; comments and a cut last event are left out."""
    whole = data[: data.rfind(b"\n\n") + 2] if b"\n\n" in data else b""
    blocks = [block for block in whole.split(b"\n\n") if block]
    cleaned = [
        b"\n".join(line for line in block.split(b"\n") if not line.startswith(b":")) for block in blocks
    ]
    return [block + b"\n\n" for block in cleaned if block]


def id_of(event: bytes) -> str | None:
    first = event.split(b"\n", 1)[0]
    return first[4:].decode() if first.startswith(b"id: ") else None


def position_after(events: list[bytes]) -> str | None:
    """The id of the last event that has one."""
    ids = [id for event in events if (id := id_of(event)) is not None]
    return ids[-1] if ids else None


def text_of(events: list[bytes]) -> str:
    """The content of OpenAI chunks."""
    out = ""
    for event in events:
        data = event.split(b"data: ", 1)[1].strip()
        if data != b"[DONE]":
            for choice in json.loads(data).get("choices", []):
                out += choice["delta"].get("content") or ""
    return out


def lines_of(data: bytes) -> list[dict[str, Any]]:
    """The whole lines of a particle stream, without heartbeats."""
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    return [line for one in lines if (line := json.loads(one)).get("p") != "❤"]


def message_of(lines: list[dict[str, Any]]) -> Message:
    reassembler = Reassembler()
    for line in lines:
        reassembler.feed(particle(line))
    return reassembler.finalize()


def particle(line: dict[str, Any]) -> p.Particle:
    return from_wire({name: value for name, value in line.items() if name != "seq"})
