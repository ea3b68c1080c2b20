"""Captures in the making: models asked one after the other, and recordings asked again.

One that fails does not stop the others. Must never call it unchanged where nothing could be compared.
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from motes import jsontext
from motes.cli.capturing import CaptureFailed, capture
from motes.cli.reach import Reach, reaching
from motes.cli.reading import reading_of
from motes.cli.recorder import Kept, asked_in, keep
from motes.cli.recording import Recording, Unreadable, load
from motes.cli.structure import Change, Structure, changes, structure_of
from motes.cli.terminal import Terminal
from motes.errors import InvalidRequest, MotesError
from motes.executor.connection import open_client
from motes.intake import parse_request
from motes.settings import Settings

_PLACE: Final = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FIXED: Final[Mapping[str, Any]] = {
    "messages": [
        {"role": "system", "content": "You are terse."},
        {
            "role": "user",
            "content": "Say what a mote is, in one short sentence. Then get the time in Zürich.",
        },
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_time",
                "description": "The local time of a city.",
                "parameters": _PLACE,
            },
        }
    ],
    "stream": True,
}
"""Small, and has what vendors differ in most: reasoning where there is any, text, a call, usage."""


async def record(
    args: argparse.Namespace, settings: Settings, environ: Mapping[str, str], terminal: Terminal
) -> int:
    """Ask every model once and keep what it answers; 1 if any could not be asked."""
    chat = _chat(args.request)
    failed = False
    async with reaching(settings, environ, args.model) as reach, open_client() as http:
        for model in args.model:
            kept = await _kept(model, chat, reach, http, Path(args.out), terminal)
            failed = failed or kept is None
            if kept is not None:
                terminal.line(f"{model}: {kept.folder} ({_told(kept.folder)})")
    return 1 if failed else 0


async def compare(
    args: argparse.Namespace, settings: Settings, environ: Mapping[str, str], terminal: Terminal
) -> int:
    """Ask the requests of recordings again; 1 if anything changed, or could not be compared."""
    chat = _chat(args.request) if args.request else None
    found = list(_recordings(Path(args.against), args.model, terminal))
    if not found:
        terminal.error(f"{args.against}: no recordings of a vendor's model there")
        return 1
    status = 0
    models = [_model_of(recording) for recording in found]
    async with reaching(settings, environ, models) as reach, open_client() as http:
        for recording in found:
            with tempfile.TemporaryDirectory(prefix="motes-capture-") as away:
                out = Path(args.out or away)
                asked = _again(recording, chat or asked_in(Path(recording.name)) or FIXED)
                kept = await _kept(_model_of(recording), asked, reach, http, out, terminal)
                same = kept is not None and _same(recording, load(str(kept.folder)), terminal)
            status = status if same else 1
    return status


def _chat(path: str | None) -> Mapping[str, Any]:
    """The request to send. Raises InvalidRequest or OSError."""
    if path is None:
        return FIXED
    try:
        chat = jsontext.loads(Path(path).read_bytes())
    except ValueError as error:
        raise InvalidRequest(f"{path}: is not valid JSON{jsontext.place(error)}") from None
    parse_request(chat)
    return dict(chat)


async def _kept(
    model: str,
    chat: Mapping[str, Any],
    reach: Reach,
    http: httpx.AsyncClient,
    out: Path,
    terminal: Terminal,
) -> Kept | None:
    """The recording of one answer; None where there is none, which is told."""
    try:
        plan = reach.plan(parse_request({**chat, "model": model}), model)
        captured = await capture(plan.dispatch, plan.quirks, http)
    except (MotesError, CaptureFailed) as error:
        terminal.error(f"{model}: {error}")
        return None
    kept = keep(captured, {**chat, "model": model}, out)
    if kept.masked:
        terminal.word(f"{model}: the vendor repeated a secret; it was starred out ({kept.masked} times)")
    if captured.broke:
        terminal.word(f"{model}: {captured.broke}")
    return kept


def _recordings(directory: Path, models: Iterable[str], terminal: Terminal) -> Iterator[Recording]:
    """Every recording below a folder that says whose it is."""
    wanted = set(models)
    for meta in sorted(directory.rglob("meta.json")):
        try:
            recording = load(str(meta.parent))
        except Unreadable as error:
            terminal.error(f"{meta.parent}: {error}")
            continue
        if recording.vendor and recording.model and (not wanted or _model_of(recording) in wanted):
            yield recording


def _model_of(recording: Recording) -> str:
    return f"{recording.vendor}/{recording.model}"


def _again(recording: Recording, chat: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request, to be sent in the protocol that was recorded."""
    own = chat.get("motes")
    return {**chat, "motes": {**(own if isinstance(own, dict) else {}), "dialect": recording.dialect}}


def _same(was: Recording, now: Recording, terminal: Terminal) -> bool:
    found = changes(_structure(was), _structure(now))
    if not found:
        terminal.line(f"{was.name}: as recorded", "green")
        return True
    terminal.line(f"{was.name}: {len(found)} changed", "bold red")
    for line in _table(found):
        terminal.line(line)
    return False


def _structure(recording: Recording) -> Structure:
    return structure_of(recording, reading_of(recording, None, None, lambda _: None))


def _table(found: Iterable[Change]) -> Iterator[str]:
    """Rows of one width, what was before what is."""
    rows = [("what", "which", "recorded", "now"), *((c.what, c.which, c.was, c.now) for c in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells).rstrip()}"


def _told(folder: Path) -> str:
    recording = load(str(folder))
    reads = len(list(recording.pieces()))
    return (
        f"status {recording.status}, {len(recording.body)} bytes in {reads} read{'' if reads == 1 else 's'}"
    )
