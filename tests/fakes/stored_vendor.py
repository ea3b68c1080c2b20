"""A vendor whose runs live on without us, with the semantics of two real ones: OpenAI's Responses in background
and Gemini's Interactions. A run is at work in a task of its own, whoever listens: its events are stored with
cursors, can be had again from behind one (`starting_after`, `last_event_id`), its state can be asked for, it can
be cancelled and deleted, and it expires.

It runs in a thread with a loop of its own, as the other scripted upstream does.
"""

import asyncio
import json
import random
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qs, unquote

import httpx

from fakes.upstream import Received, answer, read_request

_PATIENCE = 10.0
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True)
class Script:
    """What a run says, and how fast: `pace` seconds between two events."""

    words: tuple[str, ...] = ("One ", "stream ", "of ", "small ", "messages.")
    thoughts: tuple[str, ...] = ("Let me ", "think.")
    arguments: tuple[str, ...] = ()
    pace: float = 0.0
    usage: tuple[int, int] = (11, 7)

    @property
    def text(self) -> str:
        return "".join(self.words)


@dataclass
class VendorRun:
    """One run. Times are monotonic; `made_at` has the time of every event, which is what is billed."""

    id: str
    house: str
    script: Script
    events: list[bytes] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)
    made_at: list[float] = field(default_factory=list)
    state: str = "in_progress"
    cancelled_at: float | None = None
    deleted: bool = False
    background: bool = True
    task: "asyncio.Task[None] | None" = None
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        return self.state != "in_progress"


def responses_events(run: VendorRun) -> Iterator[dict[str, Any]]:
    """The events of the Responses API."""
    script, base = (
        run.script,
        {"id": run.id, "object": "response", "model": "m", "background": run.background},
    )
    base |= {"created_at": 1_760_000_000, "store": True}
    yield {"type": "response.created", "response": base | {"status": "queued", "output": []}}
    yield {"type": "response.in_progress", "response": base | {"status": "in_progress", "output": []}}
    output: list[dict[str, Any]] = []
    if script.thoughts:
        at = len(output)
        head = {"item_id": "rs_1", "output_index": at, "summary_index": 0}
        yield {"type": "response.output_item.added", "output_index": at, "item": _reasoning("")}
        for piece in script.thoughts:
            yield {"type": "response.reasoning_summary_text.delta", **head, "delta": piece}
        output.append(_reasoning("".join(script.thoughts)))
        yield {"type": "response.output_item.done", "output_index": at, "item": output[-1]}
    if script.words:
        at = len(output)
        head = {"item_id": "msg_1", "output_index": at, "content_index": 0}
        yield {"type": "response.output_item.added", "output_index": at, "item": _message("")}
        for piece in script.words:
            yield {"type": "response.output_text.delta", **head, "delta": piece}
        output.append(_message(script.text))
        yield {"type": "response.output_item.done", "output_index": at, "item": output[-1]}
    if script.arguments:
        at = len(output)
        head = {"item_id": "fc_1", "output_index": at}
        yield {"type": "response.output_item.added", "output_index": at, "item": _call("")}
        for piece in script.arguments:
            yield {"type": "response.function_call_arguments.delta", **head, "delta": piece}
        output.append(_call("".join(script.arguments)))
        yield {"type": "response.output_item.done", "output_index": at, "item": output[-1]}
    yield {"type": "response.completed", "response": base | _final(run, output)}


def _final(run: VendorRun, output: list[dict[str, Any]]) -> dict[str, Any]:
    prompt, completion = run.script.usage
    usage = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
    return {"status": "completed", "output": output, "usage": usage}


def _reasoning(text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": "rs_1", "type": "reasoning", "summary": summary}


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def _call(arguments: str) -> dict[str, Any]:
    return {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1",
        "name": "look",
        "arguments": arguments,
    }


def interactions_events(run: VendorRun) -> Iterator[dict[str, Any]]:
    """The events of the Interactions API; calls have no id there, so we make one."""
    script = run.script
    base = {"id": run.id, "object": "interaction", "model": "gemini-3-flash-preview"}
    base |= {"created": "2026-11-20T09:15:00Z"}
    yield {"event_type": "interaction.created", "interaction": base | {"status": "in_progress"}}
    at = -1
    if script.thoughts:
        at += 1
        yield {"event_type": "step.start", "index": at, "step": {"type": "thought"}}
        for piece in script.thoughts:
            delta = {"type": "thought_summary", "content": {"type": "text", "text": piece}}
            yield {"event_type": "step.delta", "index": at, "delta": delta}
        yield {"event_type": "step.stop", "index": at}
    if script.words:
        at += 1
        yield {"event_type": "step.start", "index": at, "step": {"type": "model_output"}}
        for piece in script.words:
            yield {"event_type": "step.delta", "index": at, "delta": {"type": "text", "text": piece}}
        yield {"event_type": "step.stop", "index": at}
    if script.arguments:
        at += 1
        step = {"type": "function_call", "name": "look"}
        yield {"event_type": "step.start", "index": at, "step": step}
        for piece in script.arguments:
            yield {
                "event_type": "step.delta",
                "index": at,
                "delta": {"type": "arguments_delta", "arguments": piece},
            }
        yield {"event_type": "step.stop", "index": at}
    prompt, completion = script.usage
    usage = {"total_input_tokens": prompt, "total_output_tokens": completion}
    usage |= {"total_tokens": prompt + completion}
    status = "requires_action" if script.arguments else "completed"
    yield {"event_type": "interaction.completed", "interaction": base | {"status": status, "usage": usage}}


_Answer: TypeAlias = tuple[int, Any] | AsyncGenerator[bytes, None]


class _Body(httpx.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            if not piece:
                raise httpx.ReadError("the line broke")
            yield piece


@dataclass
class StoredVendor:
    """`with StoredVendor() as vendor:` listens on loopback. `script` is what the next runs say.

    `breaks_replay` and `breaks_snapshot` answer these with 500, `cuts` has how many events each of
    the next streams gives before it breaks off, `refuses` the statuses of the next requests for a run, `lifetime_s` is how long a run is kept.
    """

    script: Script = field(default_factory=Script)
    runs: dict[str, VendorRun] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    breaks_replay: bool = False
    breaks_snapshot: bool = False
    cuts: list[int] = field(default_factory=list)
    refuses: list[int] = field(default_factory=list)
    lifetime_s: float = 3600.0
    port: int = 9
    _made: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def toml(self, lines: str = "") -> str:
        """Both vendors, of motes.toml."""
        return (
            f"{lines}\n[vendors.openai]\nbase_url = '{self.base_url}/v1'\nkey = 'sk-of-openai'\n"
            f"[vendors.gemini]\nbase_url = '{self.base_url}'\nkey = 'key-of-google'\n"
        )

    def only(self) -> VendorRun:
        (run,) = self.runs.values()
        return run

    def forget(self) -> None:
        self.runs.clear()
        self.received.clear()

    def wait_for(self, what: Any, seconds: float = _PATIENCE) -> None:
        """Wait until something is true here."""
        limit = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < limit, "it never came true"
            time.sleep(0.005)

    def client(self) -> httpx.AsyncClient:
        """A client that asks this vendor on the loop it runs on, without a socket."""
        self._loop, self._tasks = asyncio.get_running_loop(), set()
        return httpx.AsyncClient(transport=httpx.MockTransport(self._handle))

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        self.received.append(Received(request.method, path, dict(request.headers), request.content))
        answered = self._answer(request.method, path, request.content)
        if isinstance(answered, tuple):
            return httpx.Response(answered[0], json=answered[1])
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=_Body(answered))

    def __enter__(self) -> "StoredVendor":
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(_PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_PATIENCE)
        self._loop.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())

    async def _listen(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._spawn(self._attend(reader, writer))

    def _spawn(self, work: Any) -> "asyncio.Task[None]":
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await read_request(reader)
        if request is not None:
            self.received.append(request)
            with suppress(ConnectionError):
                await self._written(self._answer(request.method, request.path, request.body), writer)
        writer.close()

    async def _written(self, answered: "_Answer", writer: asyncio.StreamWriter) -> None:
        if isinstance(answered, tuple):
            writer.write(answer(*answered))
            await writer.drain()
            return
        writer.write(_HEAD)
        async with aclosing(answered) as pieces:
            async for data in pieces:
                if not data:
                    writer.transport.abort()
                    return
                writer.write(data)
                await writer.drain()

    def _answer(self, method: str, target: str, body: bytes) -> "_Answer":
        """A status with a body, or a stream; an empty piece of a stream is a line that breaks."""
        path, _, query = target.partition("?")
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        house = "gemini" if path.startswith("/v1beta/") else "openai"
        segments = [unquote(one) for one in path.split("/") if one][2:]
        if method == "POST" and not segments:
            if self.refuses:
                return (self.refuses.pop(0), {"error": {"message": "not now"}})
            return self._stream(self._create(house, json.loads(body).get("background") is True), None)
        run = self.runs.get(segments[0]) if segments else None
        if run is None or run.deleted or self._loop.time() - run.made_at[0] > self.lifetime_s:
            is_google = house == "gemini" and method == "DELETE"
            return (200, {}) if is_google else (404, {"error": {"message": "no such run"}})
        if method in ("POST", "DELETE"):
            self._cancel(run)
            run.deleted = method == "DELETE"
            return (200, {"id": run.id, "deleted": True} if run.deleted else self._snapshot(run))
        if asked.get("stream") != "true":
            return (500, {}) if self.breaks_snapshot else (200, self._snapshot(run))
        if self.breaks_replay:
            return (500, {"error": {"message": "no replay today"}})
        return self._stream(run, asked.get("starting_after", asked.get("last_event_id")))

    def _create(self, house: str, background: bool) -> VendorRun:
        self._made += 1
        name = f"resp_{self._made:06x}" if house == "openai" else f"v1_{self._made:06x}"
        run = VendorRun(f"{name}{random.randrange(1 << 32):08x}", house, self.script, background=background)
        self.runs[run.id] = run
        run.task = self._spawn(self._work(run))
        return run

    async def _work(self, run: VendorRun) -> None:
        events = responses_events(run) if run.house == "openai" else interactions_events(run)
        made = list(events)
        for number, event in enumerate(made):
            if number and run.script.pace:
                await asyncio.sleep(run.script.pace)
            if run.house == "openai":
                cursor, kind = str(number), event["type"]
                event["sequence_number"] = number
            else:
                cursor, kind = f"{run.id}-{number}", event["event_type"]
                event.update({"event_id": cursor} if run.background else {})
            if number == len(made) - 1:
                run.state = "completed"
            run.cursors.append(cursor)
            run.made_at.append(self._loop.time())
            run.events.append(f"event: {kind}\ndata: {json.dumps(event)}\n\n".encode())
            run.stirred.set()
            run.stirred = asyncio.Event()

    def _cancel(self, run: VendorRun) -> None:
        if run.is_over:
            return
        run.state, run.cancelled_at = "cancelled", self._loop.time()
        if run.task is not None:
            run.task.cancel()
        run.stirred.set()

    async def _stream(self, run: VendorRun, cursor: str | None) -> AsyncGenerator[bytes, None]:
        at = 0 if cursor is None else run.cursors.index(cursor) + 1
        sent, limit = 0, self.cuts.pop(0) if self.cuts else None
        try:
            while True:
                stirred = run.stirred
                while at < len(run.events):
                    if limit is not None and sent >= limit:
                        yield b""
                        return
                    yield run.events[at]
                    at, sent = at + 1, sent + 1
                if run.is_over:
                    return
                await stirred.wait()
        finally:
            if not run.background:
                self._cancel(run)

    def _snapshot(self, run: VendorRun) -> dict[str, Any]:
        script = run.script
        done = run.state == "completed"
        if run.house == "openai":
            output = []
            if done:
                output += [_reasoning("".join(script.thoughts))] if script.thoughts else []
                output += [_message(script.text)] if script.words else []
                output += [_call("".join(script.arguments))] if script.arguments else []
            body: dict[str, Any] = {"id": run.id, "object": "response", "model": "m", "background": True}
            body |= {"status": run.state, "output": output, "created_at": 1_760_000_000}
            return body | (_final(run, output) if done else {})
        body = {"id": run.id, "object": "interaction", "model": "gemini-3-flash-preview"}
        body |= {"status": run.state, "created": "2026-11-20T09:15:00Z", "steps": []}
        prompt, completion = script.usage
        if done or run.state == "cancelled":
            body["usage"] = {"total_input_tokens": prompt, "total_output_tokens": completion}
        if done:
            thought = {"type": "thought", "summary": [{"type": "text", "text": "".join(script.thoughts)}]}
            said = {"type": "model_output", "content": [{"type": "text", "text": script.text}]}
            body["steps"] = [*([thought] if script.thoughts else []), said]
        return body
