"""Recorded answers of vendors, through a gateway and directly: the message is the one that replay prints."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fakes.recordings import WIRE
from motes import particles as p
from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.cli.playback import play
from motes.cli.reading import Reading, reading_of
from motes.cli.recording import Recording, load
from motes.client import AsyncClient, Message, Patience
from motes.client.direct import DirectDesk
from motes.egress.failure import presentable
from motes.egress.message_json import message_json
from motes.executor.policy import Backoff, Policy
from motes.hosts.local import running
from motes.reassembly import Reassembler
from motes.settings import Settings
from motes.vendors.vendor import NO_AUTH, Surface, Vendor
from reference.shared import corpus

ONCE = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
ONE_TRY = Patience(attempts=0)
KEY = "test-key-of-the-caller"
MADE_ID = re.compile(r"call_(motes_\d+|[0-9a-f]{24})")
# A paused turn is continued by whoever asks, and a recording has no continuation.
PAUSED = "pause_turn"


def recordings() -> list[tuple[Recording, Reading]]:
    paths = [path.parent for path in sorted(WIRE.glob("*/*/meta.json"))] + corpus()
    found = []
    for path in paths:
        recording = load(str(path))
        found.append((recording, reading_of(recording, None, None, lambda _: None)))
    return found


def replayed(recording: Recording, reading: Reading) -> list[p.Particle]:
    return list(play(recording, reading, recording.pieces()))


def shown(run: Sequence[p.Particle]) -> list[p.Particle]:
    """The particles as a gateway shows them: what a vendor says of the gateway's own key stays there."""
    return [presentable(one, None) if isinstance(one, p.Issue) else one for one in run]


def put_together(particles: Sequence[p.Particle]) -> Message:
    reassembler = Reassembler()
    for particle in particles:
        reassembler.feed(particle)
    return reassembler.finalize()


def facts(message: Message, particles: Sequence[p.Particle]) -> dict[str, Any]:
    """All of a message but when it came, and the ids that were made up on the way."""
    visible = any(map(p.is_visible, particles))
    told = json.dumps(
        {
            "row": message_json(message, visible=visible),
            "fragments": [type(one).__name__ for one in message.fragments],
            "values": [asdict(one) for one in message.fragments],
            "outcome": message.outcome,
            "provider": message.provider,
            "state": message.vendor_state,
            "warnings": [warning.code for warning in message.warnings],
        },
        default=str,
    )
    made: dict[str, str] = {}
    result: dict[str, Any] = json.loads(
        MADE_ID.sub(lambda found: made.setdefault(found[0], f"made_{len(made)}"), told)
    )
    return result


@asynccontextmanager
async def vendor_of(answers: Sequence[Recording]) -> AsyncIterator[str]:
    """A server that gives the recording whose number begins the path; its base URL."""

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.I)
        await reader.readexactly(int(length[1]) if length else 0)
        recording = answers[int(head.split("/")[1])]
        kept = {
            n: v
            for n, v in recording.headers.items()
            if n not in ("transfer-encoding", "content-length", "connection")
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in kept.items())
        writer.write(f"HTTP/1.1 {recording.status} Status\r\n{lines}connection: close\r\n\r\n".encode())
        for piece in recording.pieces():
            writer.write(piece)
            await asyncio.sleep(0)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(attend, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


def rows_of(read: Sequence[tuple[Recording, Reading]], base_url: str) -> Iterator[Vendor]:
    for number, (_, reading) in enumerate(read):
        yield Vendor(
            id=f"v{number}",
            base_url=f"{base_url}/{number}",
            surfaces=(Surface(dialect=reading.dialect.name),),
            auth=NO_AUTH,
            key_required=False,
            quirks=reading.quirks,
        )


def model_of(recording: Recording) -> str:
    """What to ask for. Under InvokeModel only Claude can be asked, though others' answers are read."""
    return "anthropic.claude-m" if recording.dialect == "bedrock-invoke" else recording.model or "m"


async def test_a_recorded_answer_is_the_same_message_by_replay_by_gateway_and_directly(
    tmp_path: Path,
) -> None:
    read = [(recording, reading) for recording, reading in recordings() if not recording.reset]
    differing: list[tuple[str, dict[str, Any]]] = []
    async with vendor_of([recording for recording, _ in read]) as base_url:
        rows = list(rows_of(read, base_url))
        app = create_app(
            open_gateway(Settings(home=tmp_path), {"MOTES_API_KEY": KEY}, rows=rows, policy=ONCE)
        )
        with running(app) as url:
            gateway = AsyncClient(url, KEY, patience=ONE_TRY)
            direct = AsyncClient.at(DirectDesk({"MOTES_HOME": str(tmp_path)}, rows, ONCE), patience=ONE_TRY)
            async with gateway, direct:
                for row, (recording, reading) in zip(rows, read, strict=True):
                    expected = replayed(recording, reading)
                    if isinstance(expected[-1], p.End) and expected[-1].native_stop == PAUSED:
                        continue
                    for client, run in ((gateway, shown(expected)), (direct, expected)):
                        stream = client.stream("Hi", model=f"{row.id}/{model_of(recording)}")
                        came = [particle async for particle in stream]
                        got, wanted = facts(stream.message, came), facts(put_together(run), run)
                        sources = [(one["row"]["usage"] or {}).get("source") for one in (got, wanted)]
                        if sources != ["measured", "measured"]:
                            # What its vendor did not count is estimated where it is asked, and not in a replay.
                            got["row"]["usage"] = wanted["row"]["usage"]
                        if got != wanted:
                            differing.append(
                                (
                                    recording.name,
                                    {n: (got[n], wanted[n]) for n in wanted if got[n] != wanted[n]},
                                )
                            )
    assert not differing, "\n".join(map(repr, differing))
