"""The load client: raw sockets, so many connections, and every byte of every answer checked afterwards.

    python -m tests.bench.load JOB       a JSON object, see `Job`; prints one JSON object

While the load runs it only keeps times and bytes; afterwards chunks are joined, events decoded, and the text
compared with what the vendor said: complete, in order, nothing twice.
"""

import asyncio
import json
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any

import orjson
import uvloop
from tests.bench.gauge import cpu_seconds, resident_mb, tree
from tests.bench.wires import PIECE, Script, text_in

END = b"0\r\n\r\n"
SETTLE_SECONDS = 0.3
FIRST_SECONDS = 60.0
FIRST_PIECE = b"000000x"


@dataclass
class Job:
    """`requests` over `connections` at once, against `port`; the server's processes are below `pid`."""

    port: int
    path: str
    headers: dict[str, str]
    model: str
    dialect: str
    connections: int
    requests: int
    script: dict[str, int]
    pid: int
    more: dict[str, Any]
    ramp_s: float = 0.0

    def request(self) -> bytes:
        message = {"role": "user", "content": Script(**self.script).words()}
        body = json.dumps({"model": self.model, "stream": True, "messages": [message], **self.more}).encode()
        fields = {"host": f"127.0.0.1:{self.port}", "content-type": "application/json", **self.headers}
        fields["content-length"] = str(len(body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + body


class Caller(asyncio.Protocol):
    """One connection: asks until nothing is left to ask."""

    def __init__(self, load: "Load") -> None:
        self.load = load
        self.reads: list[tuple[int, bytes]] = []
        self.asked_at = 0

    def connection_made(self, transport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        if self.load.left <= 0:
            self.transport.close()
            return
        self.load.left -= 1
        self.reads = []
        self.asked_at = time.monotonic_ns()
        self.transport.write(self.load.request)

    def data_received(self, data: bytes) -> None:
        self.reads.append((time.monotonic_ns(), data))
        ends = data.endswith(END) or (len(data) < len(END) and self.whole().endswith(END))
        if ends or (len(self.reads) == 1 and b"\r\ncontent-length:" in data.lower()):
            self.load.answers.append((self.asked_at, self.reads))
            self.reads = []
            self.ask()

    def whole(self) -> bytes:
        return b"".join(data for _, data in self.reads[-3:])

    def connection_lost(self, exc) -> None:
        if self.reads:
            self.load.answers.append((self.asked_at, self.reads))
        self.load.closed()


class Load:
    """A job while it runs."""

    def __init__(self, job: Job) -> None:
        self.request = job.request()
        self.left = job.requests
        self.answers: list[tuple[int, list[tuple[int, bytes]]]] = []
        self.open = job.connections
        self.done = asyncio.get_running_loop().create_future()

    def closed(self) -> None:
        self.open -= 1
        if not self.open and not self.done.done():
            self.done.set_result(None)


def cpu_until_the_first_piece(job: Job) -> float:
    """One request; gives the processor time, since the start of the server, when its first text is here."""
    with socket.create_connection(("127.0.0.1", job.port), FIRST_SECONDS) as caller:
        caller.sendall(job.request())
        told = b""
        while FIRST_PIECE not in told:
            data = caller.recv(65536)
            if not data:
                raise RuntimeError(f"no answer at all: {told[:300]!r}")
            told += data
        return cpu_seconds(tree(job.pid))


async def run(job: Job) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    load, pids = Load(job), tree(job.pid)
    before, start, peak = cpu_seconds(pids), time.monotonic(), resident_mb(pids)
    course = list[tuple[float, float]]()
    for _ in range(job.connections):
        await loop.create_connection(lambda: Caller(load), "127.0.0.1", job.port)
        if job.ramp_s:
            await asyncio.sleep(job.ramp_s / job.connections)
    while not load.done.done():
        await asyncio.wait({load.done}, timeout=0.25)
        course.append((cpu_seconds(pids) - before, resident_mb(pids)))
        peak = max(peak, course[-1][1])
    wall = time.monotonic() - start
    used = cpu_seconds(pids) - before
    await asyncio.sleep(SETTLE_SECONDS)
    cpu = cpu_seconds(pids) - before
    told = {"wall_s": wall, "cpu_s": cpu, "busy": used / wall, "peak_mb": peak, "course": course}
    return {**told, **checked(job, load.answers)}


def checked(job: Job, answers: list[tuple[int, list[tuple[int, bytes]]]]) -> dict[str, Any]:
    """What the answers held: counts, times, and what was wrong with them."""
    script, good, events, faults = Script(**job.script), 0, 0, dict[str, int]()
    first, late, total = list[float](), list[float](), list[float]()
    for asked_at, reads in answers:
        fault, pieces = pieces_of(reads, job.dialect, script)
        if fault:
            faults[fault] = faults.get(fault, 0) + 1
            continue
        good += 1
        events += len(pieces)
        first.append((pieces[0][0] - asked_at) / 1e6)
        total.append((reads[-1][0] - asked_at) / 1e9)
        late += [(at - stamp) / 1e3 for at, stamp in pieces if stamp]
    return {
        "good": good,
        "events": events,
        "faults": faults,
        "first_ms": quantile(first, 0.5),
        "late_us": quantile(late, 0.5),
        "late_p99_us": quantile(late, 0.99),
        "total_s": quantile(total, 0.5),
    }


def quantile(values: list[float], q: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0.0


def pieces_of(
    reads: list[tuple[int, bytes]], dialect: str, script: Script
) -> tuple[str, list[tuple[int, int]]]:
    """(what is wrong, [(when it came, when it was written)])."""
    head, _, body = b"".join(data for _, data in reads).partition(b"\r\n\r\n")
    if head[9:12] != b"200":
        return f"{head[9:12].decode()}: {body[:150].decode(errors='replace')}", []
    offsets, at = [], 0
    for when, data in reads:
        at += len(data)
        offsets.append((at, when))
    pieces, wanted, when = list[tuple[int, int]](), 0, iter(offsets)
    reached, now = next(when)
    is_done, base = False, len(head) + 4
    for end, event in events_in(body, b"chunked" in head.lower()):
        while reached < base + end:
            reached, now = next(when, (sys.maxsize, now))
        data = b"\n".join(line[6:] for line in event.splitlines() if line.startswith(b"data: "))
        if data == b"[DONE]":
            is_done = True
        elif data:
            text = text_in(orjson.loads(data), dialect)
            for number, stamp in PIECE.findall(text):
                if int(number) != wanted:
                    return "out of order", []
                wanted += 1
                pieces.append((now, int(stamp or 0)))
    if wanted != script.n:
        return f"{wanted} of {script.n} pieces", []
    return ("no [DONE]" if dialect == "openai-chat" and not is_done else ""), pieces


def events_in(body: bytes, is_chunked: bool):
    """(where it ended on the wire, one event) of an answer's body."""
    held, at = b"", 0
    while at < len(body):
        if is_chunked:
            line_end = body.index(b"\r\n", at)
            size = int(body[at:line_end].split(b";")[0], 16)
            data, at = body[line_end + 2 : line_end + 2 + size], line_end + 4 + size
        else:
            data, at = body[at:], len(body)
        held = (held + data).replace(b"\r\n", b"\n")
        *whole, held = held.split(b"\n\n")
        for event in whole:
            yield at, event


if __name__ == "__main__":
    sys.stdout.write(json.dumps(uvloop.run(run(Job(**json.loads(sys.argv[1]))))))
