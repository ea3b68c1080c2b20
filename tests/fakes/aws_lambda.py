"""A Lambda function on this machine: real processes behind a Runtime API, a Function URL in front of them.

`with FakeLambda([...]) as function:` runs in a thread with a loop of its own, so that blocking clients can be
its callers. It has the platform's habits, also the bad ones: a client that leaves is not told to anyone, an
answer without a body keeps its client waiting, and time that is up is a SIGKILL.
"""

import asyncio
import base64
import json
import signal
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import h11

from fakes.lambda_environment import HTTP_RESPONSE, Call, Ended, Environment, Head, Limits
from fakes.lambda_http import Connection, listen

_DOMAIN = "abc123.lambda-url.eu-north-1.on.aws"
_PATIENCE = 30.0
_TEXT = ("text/", "application/json", "application/javascript", "application/xml")
_FAILED = b'{"Message":"Internal Server Error"}'
_PRELUDE_END = bytes(8)


class FakeLambda:
    """One function. `url` is its Function URL, without a slash at the end."""

    def __init__(self, command: list[str], environ: dict[str, str], **options: Any) -> None:
        self.command = command
        self.environ = environ
        self.limits: Limits = options.get("limits") or Limits()
        self.concurrency: int = options.get("concurrency", 1)
        self.snapstart: bool = options.get("snapstart", False)
        self.log: list[str] = []
        self.calls: list[Call] = []
        self.environments: list[Environment] = []
        self.url = ""

    # For tests: from any thread.

    def invoke(self, event: Any, headers: dict[str, str] | None = None) -> tuple[bytes, str | None]:
        """`Invoke`: the payload, and the type of the error if there was one.

        The headers are those with which the runtime gets the event, besides the usual ones.
        """
        return self._do(self._invoke(event, headers or {}))

    def invoke_with_response_stream(self, event: Any) -> list[dict[str, Any]]:
        """`InvokeWithResponseStream`: its events."""
        return self._do(self._invoke_streamed(event))

    def warm(self) -> "FakeLambda":
        """Start an environment and wait until it asks for work, or has given up."""
        self._do(self._warm())
        return self

    def restore(self) -> None:
        """Let an environment that waits in a snapshot live on."""
        self._do(self._restore())

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        self._do(self._signal(number))

    def wait_for_exit(self) -> int:
        """The exit status of the latest environment."""
        return self._do(self._exit())

    @property
    def pid(self) -> int:
        """The process of the latest environment."""
        process = self.environments[-1].process
        assert process is not None
        return process.pid

    def rss(self) -> int:
        """Its memory in bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def cpu(self) -> float:
        """Its processor time in seconds, in hundredths."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def line(self, event: str, **fields: Any) -> dict[str, Any]:
        """The log's latest line of an event with these fields, once there is one."""
        limit = time.monotonic() + _PATIENCE
        while time.monotonic() < limit:
            for text in reversed(self.log):
                line = json.loads(text) if text.startswith("{") else {}
                if line.get("event") == event and fields.items() <= line.items():
                    return line
            time.sleep(0.005)
        raise AssertionError(f"no {event!r} with {fields}:\n" + "\n".join(self.log))

    def __enter__(self) -> "FakeLambda":
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)
        self._thread.start()
        assert self._started.wait(_PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_PATIENCE)

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)

    # In its own thread.

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._queue: asyncio.Queue[Call] = asyncio.Queue()
        self._starting = asyncio.Lock()
        front, port = await listen(self._attend)
        self.url = f"http://127.0.0.1:{port}"
        self._started.set()
        await self._stop.wait()
        front.close()
        for environment in self.environments:
            await environment.stop()

    async def _environment(self) -> Environment:
        async with self._starting:
            if not self.environments or self.environments[-1].exited.done():
                environment = Environment(
                    self.command,
                    self.environ,
                    self._queue,
                    limits=self.limits,
                    log=self.log,
                    concurrency=self.concurrency,
                    snapstart=self.snapstart,
                )
                await environment.start()
                self.environments.append(environment)
            return self.environments[-1]

    async def _call(self, event: Any, headers: dict[str, str] | None = None) -> Call:
        call = Call(event if isinstance(event, bytes) else json.dumps(event).encode(), headers=headers or {})
        self.calls.append(call)
        environment = await self._environment()
        self._queue.put_nowait(call)
        self._loop.create_task(self._rescue(call, environment))
        return call

    async def _rescue(self, call: Call, environment: Environment) -> None:
        """A call that no environment took because it died: the error of its start is the call's."""
        await environment.exited
        if call.state == "running" and call.id not in environment.active and not call.deadline:
            call.end(environment.init_error or Ended("Runtime.ExitError"))

    async def _warm(self) -> None:
        await (await self._environment()).ready.wait()

    async def _restore(self) -> None:
        environment = self.environments[-1]
        environment.ready.clear()
        environment.restore.set()
        await environment.ready.wait()

    async def _signal(self, number: int) -> None:
        self.environments[-1].signal(number)

    async def _exit(self) -> int:
        return await self.environments[-1].exited

    async def _invoke(self, event: Any, headers: dict[str, str]) -> tuple[bytes, str | None]:
        body, ended = b"", Ended()
        async for item in _items(await self._call(event, headers)):
            if isinstance(item, bytes):
                body += item
            elif isinstance(item, Ended):
                ended = item
        failed = ended.type is not None and not ended.by_trailers
        return ended.body if failed else body, ended.type

    async def _invoke_streamed(self, event: Any) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        async for item in _items(await self._call(event)):
            if isinstance(item, bytes):
                told.append({"PayloadChunk": {"Payload": item}})
            elif isinstance(item, Ended):
                complete = {"ErrorCode": item.type, "ErrorDetails": item.body.decode()} if item.type else {}
                told.append({"InvokeComplete": complete})
        return told

    # The Function URL.

    async def _attend(self, connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            body = b"".join([piece async for piece in connection.body()])
            event = json.dumps(event_of(request, body), ensure_ascii=False).encode()
            if len(event) > self.limits.request:
                await connection.answer(413, b'{"message":"Request Entity Too Large"}')
                continue
            call = await self._call(event)
            if not await _relay(connection, call, request.method == b"HEAD"):
                return


async def _relay(connection: Connection, call: Call, is_head: bool) -> bool:
    """The runtime's answer as the client gets it; False where the connection breaks."""
    items = _items(call)
    head = await anext(items)
    if isinstance(head, Ended):
        await connection.answer(502, _FAILED)
        return True
    assert isinstance(head, Head)
    status, headers, rest = 200, [("content-type", head.content_type)], b""
    if head.content_type == HTTP_RESPONSE:
        prelude = await _prelude(items)
        if prelude is None:
            await connection.answer(502, _FAILED)
            return True
        status, headers, rest = prelude
    has_body = not is_head and status not in (204, 304)
    await connection.start(status, [*headers, *([("transfer-encoding", "chunked")] if has_body else [])])
    size = len(rest)
    if rest and has_body:
        await connection.data(rest)
    async for item in items:
        if isinstance(item, Ended):
            return await _finish(connection, call, item, size)
        assert isinstance(item, bytes)
        size += len(item)
        if has_body and item:
            await connection.data(item)
    return False


async def _finish(connection: Connection, call: Call, ended: Ended, size: int) -> bool:
    if ended.type is not None:
        return False
    if not size:
        # The platform waits for a body until the function's time is over (see the reference on empty bodies).
        await asyncio.sleep(max(0.0, call.deadline - time.time()))
        return False
    await connection.end()
    return True


async def _prelude(items: AsyncIterator[Any]) -> tuple[int, list[tuple[str, str]], bytes] | None:
    text = b""
    async for item in items:
        if isinstance(item, Ended):
            return None
        text += item
        if _PRELUDE_END in text:
            break
    raw, _, rest = text.partition(_PRELUDE_END)
    told = json.loads(raw)
    assert len(raw) < 16 * 1024
    dropped = ("content-length", "transfer-encoding", "connection")
    headers = [(name, value) for name, value in told["headers"].items() if name not in dropped]
    headers += [("set-cookie", cookie) for cookie in told.get("cookies", [])]
    return told["statusCode"], headers, rest


async def _items(call: Call) -> AsyncIterator[Any]:
    while True:
        item = await call.output.get()
        yield item
        if isinstance(item, Ended):
            return


def event_of(request: h11.Request, body: bytes) -> dict[str, Any]:
    """The event a Function URL makes of a request (payload format 2.0)."""
    path, _, query = request.target.decode("ascii").partition("?")
    headers: dict[str, str] = {}
    for name, value in request.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    cookies = [cookie.strip() for cookie in headers.pop("cookie", "").split(";") if cookie.strip()]
    headers |= {"host": _DOMAIN, "x-forwarded-proto": "https", "x-forwarded-port": "443"}
    method, agent = request.method.decode(), headers.get("user-agent", "")
    is_text = headers.get("content-type", "").startswith(_TEXT)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "abc123",
            "domainName": _DOMAIN,
            "domainPrefix": "abc123",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.7",
                "userAgent": agent,
            },
            "requestId": "11111111-2222-3333-4444-555555555555",
            "routeKey": "$default",
            "stage": "$default",
            "time": "29/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1795953600000,
        },
        "isBase64Encoded": bool(body) and not is_text,
    }
    if query:
        pairs = (pair.partition("=") for pair in query.split("&"))
        event["queryStringParameters"] = {unquote(name): unquote(value) for name, _, value in pairs}
    if cookies:
        event["cookies"] = cookies
    if body:
        event["body"] = body.decode() if is_text else base64.b64encode(body).decode()
    return event


KILL, TERMINATE = signal.SIGKILL, signal.SIGTERM
