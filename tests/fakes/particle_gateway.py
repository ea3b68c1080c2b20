"""A gateway that keeps runs and breaks lines: what it says, and where it stops saying it, is a script.

Raw sockets in the loop of the test, so that a line can end anywhere: within a particle, with a reset, in silence.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from motes import particles as p
from motes.codec import to_wire
from motes.errors import VendorError
from motes.jsontext import dump_bytes

Ending = Literal["close", "half", "reset", "stall", "refuse", "busy", "html", "deadline", "forget", "whole"]
ENDINGS: tuple[Ending, ...] = ("close", "half", "reset", "stall", "refuse", "busy", "html", "deadline")
DEADLINE = VendorError(message="time is over", kind="timeout", code="platform_deadline", retryable=True)
HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n{more}\r\n"
BUSY = b'HTTP/1.1 503 Busy\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"error":{"message":"busy"}}'
HTML = b"HTTP/1.1 502 Bad\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>no</html>"
_PATIENCE = 10.0


@dataclass(frozen=True)
class Line:
    """One connection: how many particles it gives, and how it ends then."""

    particles: int
    ending: Ending


@dataclass
class Run:
    """A run: all it has to say, and its connections in order; after the last one everything comes.

    `said` is the text that was written whole, over all connections of one attempt.
    """

    particles: Sequence[p.Particle]
    lines: list[Line] = field(default_factory=list)
    is_kept: bool = True
    said: dict[int, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    begun: int = 0
    pause: float = 0.0


class ParticleGateway:
    """Answers for the run that a request's model names: `run/<name>`."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}
        self.base_url = ""
        self.bodies: list[dict[str, Any]] = []
        self.open = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["ParticleGateway"]:
        tasks = set[asyncio.Task[None]]()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._attend(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"content-length: (\d+)", head, re.I)
            body = await reader.readexactly(int(length[1])) if length else b""
            answering = asyncio.create_task(self._answer(head.split("\r\n")[0], body, writer))
            leaving = asyncio.create_task(reader.read())
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def all_gone(self) -> None:
        """Wait until every client has closed its line, however long the script would have gone on."""
        async with asyncio.timeout(_PATIENCE / 2):
            while self.open:  # noqa: ASYNC110 (there is no event for all of several)
                await asyncio.sleep(0.002)

    async def _answer(self, first: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        method, target, _ = first.split()
        found = re.fullmatch(r"/v1/runs/([^/]+)/particles\?after=(\d+)", target)
        if method == "POST":
            request = json.loads(body)
            self.bodies.append(request)
            name, after = request["model"], 0
        else:
            assert found, target
            name, after = found[1], int(found[2])
        run = self.runs[name]
        run.asked.append(f"{method} {after}")
        if method == "GET" and not run.is_kept:
            writer.write(b'HTTP/1.1 404 No\r\nconnection: close\r\n\r\n{"error":{"message":"no such run"}}')
            return
        await self._speak(run, name, after, method == "POST", writer)

    async def _speak(
        self, run: Run, name: str, after: int, begins: bool, writer: asyncio.StreamWriter
    ) -> None:
        line = run.lines.pop(0) if run.lines else Line(len(run.particles), "whole")
        if line.ending in ("refuse", "busy", "html"):
            writer.write({"refuse": b"", "busy": BUSY, "html": HTML}[line.ending])
            return
        if begins:
            run.begun += 1
            run.said = {}
        more = f"x-motes-run-id: {name}\r\n" if run.is_kept else ""
        writer.write(HEAD.format(more=more).encode())
        for number in range(after, min(after + line.particles, len(run.particles))):
            await self._put(run, number, writer)
        await self._end(run, after + line.particles, line.ending, writer)

    async def _put(self, run: Run, number: int, writer: asyncio.StreamWriter) -> None:
        particle = run.particles[number]
        seq = {"seq": number + 1} if run.is_kept else {}
        writer.write(dump_bytes(to_wire(particle) | seq) + b"\n")
        if isinstance(particle, p.Text):
            run.said[number] = particle.text
        if run.pause:
            await asyncio.sleep(run.pause)
        if number % 7 == 0 and (number < 100 or number % 700 == 0):
            await writer.drain()
            await asyncio.sleep(0)

    async def _end(self, run: Run, number: int, ending: Ending, writer: asyncio.StreamWriter) -> None:
        if ending == "half" and number < len(run.particles):
            writer.write(json.dumps(to_wire(run.particles[number])).encode()[:-3])
        elif ending == "deadline" and number < len(run.particles):
            words = (p.Issue("dispatch-read", DEADLINE.message, DEADLINE), p.End("issue-dispatch-rpc"))
            for place, word in enumerate(words):
                seq = {"seq": number + 1 + place} if run.is_kept else {}
                writer.write(json.dumps(to_wire(word) | seq).encode() + b"\n")
        await writer.drain()
        if ending == "stall":
            await asyncio.sleep(_PATIENCE)
        elif ending == "forget":
            run.is_kept = False
        elif ending == "reset":
            writer.transport.abort()

    @staticmethod
    def text_of(run: Run) -> str:
        return "".join(run.said[number] for number in sorted(run.said))
