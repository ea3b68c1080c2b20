"""A scripted upstream: a raw TCP server that plays given bytes step by step and notes what it was sent.

It runs in a thread with a loop of its own, so that a blocking client can be the reader. Nothing is buffered
and nothing is repaired: a script is what goes over the wire.
"""

import asyncio
import json
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_PATIENCE = 10.0
_TLS_HANDSHAKE = b"\x16"


@dataclass(frozen=True)
class Gate:
    """The script goes on when the test opens the gate of that name."""

    name: str


@dataclass(frozen=True)
class Sleep:
    """Nothing comes for so many seconds."""

    seconds: float


class Yield:
    """The kernel gets a chance to send what came before on its own."""


class Reset:
    """The connection breaks."""


class UntilGone:
    """Nothing comes until the client closes the connection."""


@dataclass
class Received:
    """One request. `gone_at` is the monotonic time at which its client closed the connection."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    gone_at: float | None = None

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


@dataclass
class Upstream:
    """`with Upstream() as upstream:` listens on loopback; scripts are played in the order given, the last
    one again and again.
    """

    scripts: list[list[Any]] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    port: int = 0

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *steps: Any) -> None:
        """Add the script of one request."""
        self.scripts.append(list(steps))

    def forget(self) -> None:
        """Begin anew: no scripts, nothing received, all gates closed."""
        self.scripts, self.received, self._gates = [], [], {}

    def open(self, name: str) -> None:
        """Let the script pass a gate; a gate may be opened before it is reached."""
        self._loop.call_soon_threadsafe(self._gate(name).set)

    def wait_until_gone(self, request: int = 0) -> float:
        """When the client of that request closed its connection."""
        limit = time.monotonic() + _PATIENCE
        while time.monotonic() < limit:
            if len(self.received) > request and self.received[request].gone_at is not None:
                return self.received[request].gone_at
            time.sleep(0.005)
        raise AssertionError("the upstream connection was never closed")

    def __enter__(self) -> "Upstream":
        self._gates: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(_PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_PATIENCE)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())

    async def _listen(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._attend(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await read_request(reader)
        if request is None:
            writer.close()
            return
        self.received.append(request)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        watch = self._loop.create_task(_note_departure(reader, request))
        try:
            for step in script:
                # A step may be made of the request it answers.
                await self._play(step(request) if callable(step) else step, writer, watch)
                if isinstance(step, Reset):
                    return
        except ConnectionError:
            await watch
        finally:
            writer.close()
            watch.cancel()

    async def _play(self, step: Any, writer: asyncio.StreamWriter, watch: asyncio.Task[None]) -> None:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, Gate):
            await asyncio.wait_for(self._gate(step.name).wait(), _PATIENCE)
        elif isinstance(step, Yield):
            await asyncio.sleep(0)
        elif isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, UntilGone):
            await asyncio.wait({watch}, timeout=_PATIENCE)
        else:
            writer.transport.abort()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


async def read_request(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readexactly(1)
        if head == _TLS_HANDSHAKE:
            return None
        head += await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, body)


async def _note_departure(reader: asyncio.StreamReader, request: Received) -> None:
    try:
        while await reader.read(65536):
            pass
    except ConnectionError:
        pass
    request.gone_at = time.monotonic()


def answer(status: int, body: Any, **headers: str) -> bytes:
    """A whole HTTP answer; a body that is no bytes is sent as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"content-type": "application/json", "content-length": str(len(raw)), "connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode() + raw


def event(value: Any) -> bytes:
    """One server-sent event."""
    data = value if isinstance(value, str) else json.dumps(value)
    return f"data: {data}\n\n".encode()


def chat_chunk(delta: dict[str, Any], finish: str | None = None, **members: Any) -> bytes:
    """One chunk of a chat-completion stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    envelope = {"id": "up-1", "object": "chat.completion.chunk", "created": 1, "model": "up-model"}
    return event({**envelope, "choices": [choice], **members})


def chat_usage(prompt: int, completion: int) -> bytes:
    """The usage chunk."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return event({"id": "up-1", "object": "chat.completion.chunk", "choices": [], "usage": counts})


DONE = event("[DONE]")
HELLO = (
    SSE_HEAD,
    chat_chunk({"role": "assistant", "content": ""}),
    chat_chunk({"content": "Hello"}),
    chat_chunk({"content": " there"}),
    chat_chunk({}, "stop"),
    chat_usage(5, 2),
    DONE,
)
