"""Writes a captured answer as a recording: the folder that `motes replay` and the tests read.

Must never write a secret: everything goes through `redaction` first, and of the answer's headers only those
are kept that say how to read it.
"""

import re
from collections.abc import Mapping
from dataclasses import fields
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.cli.capturing import Captured
from motes.cli.playback import play
from motes.cli.reading import Reading, reading_of
from motes.cli.recording import Recording, load
from motes.cli.redaction import (
    masked_body,
    masked_headers,
    masked_url,
    masked_value,
    resummed,
    secrets_in,
)
from motes.dataclass import dataclass
from motes.egress.message_json import message_json
from motes.quirks import Quirks
from motes.reassembly import Reassembler

REQUEST: Final = "request.json"
_KEPT_HEADERS: Final = re.compile(r"content-type|date|retry-after|retry-after-ms|x-should-retry")
_FRAMES: Final = "application/vnd.amazon.eventstream"
_NOT_OF_NAMES: Final = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a recording lies, and how often a secret had to be starred out of the answer."""

    folder: Path
    masked: int


def keep(captured: Captured, chat: Mapping[str, Any], directory: Path) -> Kept:
    """Write one recording, in a folder of its own below its dialect's. Raises OSError."""
    secrets = _secrets(captured)
    body, found = masked_body(captured.body, secrets)
    if found and captured.headers.get("content-type", "").startswith(_FRAMES):
        body = resummed(body)
    folder = _folder(directory / captured.plan.dialect, captured)
    (folder / "response.bin").write_bytes(body)
    (folder / "meta.json").write_bytes(_lines(meta := _meta(captured, secrets)))
    quirks = _quirks(captured.quirks, _reading(load(str(folder))).quirks)
    (folder / "meta.json").write_bytes(_lines(meta | ({"quirks": quirks} if quirks else {})))
    (folder / REQUEST).write_bytes(_lines(_request(captured, chat, secrets)))
    (folder / "expected.json").write_bytes(_lines(_expected(folder)))
    return Kept(folder, found)


def asked_in(folder: Path) -> dict[str, Any] | None:
    """The chat request that a recording answers, where it was kept."""
    try:
        kept = jsontext.loads((folder / REQUEST).read_bytes())
    except (OSError, ValueError):
        return None
    chat = kept.get("chat") if isinstance(kept, dict) else None
    return chat if isinstance(chat, dict) else None


def _secrets(captured: Captured) -> tuple[str, ...]:
    """What was sent, in whatever place, that must not be seen."""
    sent = captured.sent
    said = secrets_in(str(sent.url), dict(sent.headers.items()))
    planned = secrets_in(captured.plan.request.url, captured.plan.request.headers)
    return tuple(dict.fromkeys((*captured.plan.secrets, *said, *planned)))


def _folder(house: Path, captured: Captured) -> Path:
    """A new folder: what was recorded before is kept."""
    plan = captured.plan
    name = _NOT_OF_NAMES.sub("-", f"{plan.vendor}-{plan.model}").strip("-.")[:80]
    house.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = house / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _meta(captured: Captured, secrets: tuple[str, ...]) -> dict[str, Any]:
    headers = {name: value for name, value in captured.headers.items() if _KEPT_HEADERS.fullmatch(name)}
    kept = masked_headers(headers, secrets)
    content_type = kept.get("content-type", "")
    sizes = [len(data) for _, data in captured.reads]
    meta = {
        "dialect": captured.plan.dialect,
        "vendor": captured.plan.vendor,
        "model": captured.plan.model,
        "status": captured.status,
        "content_type": content_type.partition(";")[0].strip(),
        "streaming": "json" not in content_type or "event-stream" in content_type,
        "captured_at": captured.began.isoformat(timespec="seconds"),
        "headers": kept,
        "eof": "reset" if captured.broke else "clean",
        "chunks": list(accumulate(sizes))[:-1],
        "head_ms": captured.head_ms,
        "reads": [[ms, len(data)] for ms, data in captured.reads],
    }
    return meta if captured.broke is None else meta | {"broke": captured.broke}


def _request(captured: Captured, chat: Mapping[str, Any], secrets: tuple[str, ...]) -> dict[str, Any]:
    sent = captured.sent
    return {
        "chat": masked_value(dict(chat), secrets),
        "method": sent.method,
        "url": masked_value(masked_url(str(sent.url)), secrets),
        "headers": masked_headers(dict(sent.headers.items()), secrets),
        "body": masked_value(jsontext.loads(sent.content), secrets),
        "warnings": masked_value(list(captured.plan.warnings), secrets),
    }


def _quirks(meant: Quirks, lent: Quirks) -> dict[str, Any]:
    """What a reader must be told, because no row of ours says it."""
    pairs = ((one.name, getattr(meant, one.name)) for one in fields(Quirks))
    told = {name: value for name, value in pairs if value != getattr(lent, name)}
    return {name: value for name, value in told.items() if isinstance(value, str | int | bool)}


def _reading(recording: Recording) -> Reading:
    return reading_of(recording, None, None, lambda _: None)


def _expected(folder: Path) -> dict[str, Any]:
    """What `motes replay` says of the recording."""
    recording = load(str(folder))
    reading = _reading(recording)
    reassembler, visible = Reassembler(), False
    for particle in play(recording, reading, recording.pieces()):
        reassembler.feed(particle)
        visible = visible or p.is_visible(particle)
    return message_json(reassembler.finalize(), visible=visible)


def _lines(members: Mapping[str, Any]) -> bytes:
    """A JSON object, one line a member: long lists stay out of the way of a reader."""
    rows = [jsontext.dump_bytes(name) + b": " + jsontext.dump_bytes(value) for name, value in members.items()]
    return b"{\n " + b",\n ".join(rows) + b"\n}\n"
