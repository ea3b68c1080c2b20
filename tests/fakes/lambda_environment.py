"""One execution environment of the fake Lambda: a real process, and the Runtime API it talks to.

What the API says to right and wrong moves is what the platform's own emulator says (a test compares them).
"""

import asyncio
import json
import os
import signal
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from fakes.lambda_http import Connection, listen

_ROOT = "/2018-06-01/runtime"
_OK = b'{"status":"OK"}\n'
HTTP_RESPONSE = "application/vnd.awslambda.http-integration-response"
MIB = 1024 * 1024


@dataclass
class Limits:
    """The platform's own, to be scaled down. Seconds, bytes, bytes a second."""

    timeout: float = 20.0
    request: int = 6 * MIB
    response: int = 200 * MIB
    buffered_response: int = 6 * MIB + 100
    burst: int = 6 * MIB
    rate: int = 2 * MIB


@dataclass(frozen=True)
class Head:
    """The runtime began to answer."""

    content_type: str
    streams: bool


@dataclass(frozen=True)
class Ended:
    """The answer is over. Without a type it came to its proper end; with trailers, its body stands."""

    type: str | None = None
    body: bytes = b""
    by_trailers: bool = False


@dataclass
class Call:
    """One invocation. `output` is a Head, pieces of the body, and an Ended."""

    event: bytes
    id: str = field(default_factory=lambda: str(uuid4()))
    state: str = "running"
    deadline: float = 0.0
    echo: str = field(default_factory=lambda: f"inv-{uuid4()}")
    headers: dict[str, str] = field(default_factory=dict)
    echoed: str | None = None
    output: "asyncio.Queue[Head | bytes | Ended]" = field(default_factory=asyncio.Queue)
    pieces: list[tuple[float, int]] = field(default_factory=list)
    """When each piece came from the runtime, and its size."""
    sizes_taken: int = 0
    timer: asyncio.TimerHandle | None = None
    is_over: bool = False

    def end(self, ended: Ended) -> None:
        """Once."""
        if not self.is_over:
            self.is_over = True
            self.output.put_nowait(ended)


class Environment:
    """Takes calls from a queue that outlives it."""

    def __init__(
        self, command: list[str], environ: dict[str, str], calls: "asyncio.Queue[Call]", **options: Any
    ) -> None:
        self.command = command
        self.environ = environ
        self.calls = calls
        self.limits: Limits = options["limits"]
        self.log: list[str] = options["log"]
        self.concurrency: int = options["concurrency"]
        self.snapstart: bool = options["snapstart"]
        self.requests: list[str] = []
        """What the runtime asked the API, in order."""
        self.ready = asyncio.Event()
        self.restore = asyncio.Event()
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.init_error: Ended | None = None
        self.is_starting = True
        self.active: dict[str, Call] = {}
        self.current: Call | None = None
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process."""
        self.server, port = await listen(self._attend)
        environ = {"PATH": os.environ["PATH"], **self.environ, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}"}
        environ.setdefault("AWS_LAMBDA_FUNCTION_NAME", "motes-test")
        environ["AWS_LAMBDA_INITIALIZATION_TYPE"] = "snap-start" if self.snapstart else "on-demand"
        if self.concurrency > 1:
            environ["AWS_LAMBDA_MAX_CONCURRENCY"] = str(self.concurrency)
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            env=environ,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=MIB,
        )
        self.watch = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """The end of its life: SIGTERM, and SIGKILL soon after, as the platform does it."""
        self.signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(asyncio.shield(self.exited), 1.0)
        except TimeoutError:
            self.signal(signal.SIGKILL)
            await self.exited
        await self.watch

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(number)

    async def _watch(self) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.log.append(line.decode().rstrip("\n"))
        code = await self.process.wait()
        self.server.close()
        for call in list(self.active.values()):
            self._over(call)
            call.end(
                self.init_error or Ended("Runtime.ExitError", _error("Runtime.ExitError", f"exit {code}"))
            )
        self.exited.set_result(code)
        self.ready.set()

    async def _attend(self, connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            method, target = request.method.decode(), request.target.decode()
            headers = {name.decode().lower(): value.decode() for name, value in request.headers}
            self.requests.append(f"{method} {target.removeprefix(_ROOT)}")
            await self._route(connection, method, target.removeprefix(_ROOT), headers)

    async def _route(self, connection: Connection, method: str, path: str, headers: dict[str, str]) -> None:
        match method, path.strip("/").split("/"):
            case "GET", ["invocation", "next"]:
                await self._next(connection)
            case "POST", ["invocation", id, "response"]:
                await self._response(connection, self.active.get(id), headers)
            case "POST", ["invocation", id, "error"]:
                await self._error(connection, self.active.get(id), headers)
            case "POST", ["init", "error"]:
                await self._init_error(connection, headers)
            case "GET", ["restore", "next"] if self.snapstart:
                await _whole(connection)
                self.ready.set()
                await self.restore.wait()
                await connection.answer(200, b"")
            case "POST", ["restore", "error"] if self.snapstart:
                await self._init_error(connection, headers)
            case _, ["invocation", "next"]:
                await _whole(connection)
                await connection.answer(405, b"")
            case _:
                await _whole(connection)
                await connection.answer(404, b"404 page not found\n", "text/plain; charset=utf-8")

    async def _next(self, connection: Connection) -> None:
        await _whole(connection)
        self.is_starting = False
        if self.concurrency == 1 and self.current is not None:
            if self.current.state == "responding":
                await _refused(connection)
                return
            if self.current.state == "running":
                await self._hand_out(connection, self.current)
                return
            self._over(self.current)
        self.ready.set()
        call = await self.calls.get()
        call.deadline = time.time() + self.limits.timeout
        call.timer = asyncio.get_running_loop().call_later(self.limits.timeout, self._time_out, call)
        self.active[call.id] = self.current = call
        await self._hand_out(connection, call)

    async def _hand_out(self, connection: Connection, call: Call) -> None:
        headers = {
            "content-type": "application/json",
            "content-length": str(len(call.event)),
            "Lambda-Runtime-Aws-Request-Id": call.id,
            "Lambda-Runtime-Deadline-Ms": str(int(call.deadline * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-north-1:123456789012:function:motes-test",
            "Lambda-Runtime-Trace-Id": f"Root=1-{call.id[:8]};Parent=0;Sampled=0",
            "Lambda-Runtime-Invocation-Id": call.echo,
            **call.headers,
        }
        await connection.start(200, list(headers.items()))
        await connection.data(call.event)
        await connection.end()

    def _time_out(self, call: Call) -> None:
        self.log.append(f"{call.id} Task timed out after {self.limits.timeout:.2f} seconds")
        call.end(Ended("Sandbox.Timedout", _error("Sandbox.Timedout", "Task timed out")))
        self.signal(signal.SIGKILL)

    def _over(self, call: Call) -> None:
        """The invocation is over: the runtime wants another one, or is no more."""
        if call.timer is not None:
            call.timer.cancel()
        self.active.pop(call.id, None)

    async def _response(self, connection: Connection, call: Call | None, headers: dict[str, str]) -> None:
        mode = headers.get("lambda-runtime-function-response-mode")
        if not await self._may_answer(connection, call):
            return
        assert call is not None
        call.state, call.echoed = "responding", headers.get("lambda-runtime-invocation-id")
        if mode not in (None, "streaming"):
            await _whole(connection)
            await connection.answer(400, _error("InvalidFunctionResponseMode", "Invalid response mode"))
            return
        call.output.put_nowait(Head(headers.get("content-type", ""), mode == "streaming"))
        limit = self.limits.response if mode else self.limits.buffered_response
        if await self._poured(connection, call, limit):
            call.state = "responded"
            told = connection.trailers
            error = told.get("lambda-runtime-function-error-type")
            body = told.get("lambda-runtime-function-error-body", "").encode()
            call.end(Ended(error, body, by_trailers=error is not None))
            await connection.answer(202, _OK)
        else:
            call.state = "responded"
            too_large = "Function.ResponseSizeTooLarge"
            call.end(Ended(too_large, _error(too_large, "Exceeded maximum allowed payload size")))
            await connection.answer(413, _error("RequestEntityTooLarge", "too large"))
            connection.close()
        if self.concurrency > 1:
            self._over(call)

    async def _poured(self, connection: Connection, call: Call, limit: int) -> bool:
        """Take the body at the speed the platform takes it; False where it is too large."""
        bucket = _Bucket(self.limits.burst, self.limits.rate)
        async for data in connection.body():
            call.pieces.append((time.monotonic(), len(data)))
            call.sizes_taken += len(data)
            if call.sizes_taken > limit:
                return False
            call.output.put_nowait(data)
            await bucket.take(len(data))
        return True

    async def _may_answer(self, connection: Connection, call: Call | None) -> bool:
        if call is None:
            await _whole(connection)
            await connection.answer(400, _error("InvalidRequestID", "Invalid request ID"))
            return False
        if call.state != "running":
            await _whole(connection)
            await _refused(connection)
            return False
        return True

    async def _error(self, connection: Connection, call: Call | None, headers: dict[str, str]) -> None:
        if await self._may_answer(connection, call):
            assert call is not None
            call.state, call.echoed = "responded", headers.get("lambda-runtime-invocation-id")
            body = await _whole(connection)
            call.end(Ended(headers.get("lambda-runtime-function-error-type", "Unhandled"), body))
            await connection.answer(202, _OK)
            if self.concurrency > 1:
                self._over(call)

    async def _init_error(self, connection: Connection, headers: dict[str, str]) -> None:
        body = await _whole(connection)
        if not self.is_starting or self.init_error is not None:
            await _refused(connection)
            return
        self.init_error = Ended(headers.get("lambda-runtime-function-error-type", "Unhandled"), body)
        await connection.answer(202, _OK)


class _Bucket:
    """So many bytes at once, then so many a second."""

    def __init__(self, burst: int, rate: int) -> None:
        self._left = float(burst)
        self._burst = burst
        self._rate = rate
        self._at = time.monotonic()

    async def take(self, size: int) -> None:
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - size
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._rate)


async def _whole(connection: Connection) -> bytes:
    return b"".join([piece async for piece in connection.body()])


async def _refused(connection: Connection) -> None:
    await connection.answer(403, _error("InvalidStateTransition", "State transition is not allowed"))


def _error(type: str, message: str) -> bytes:
    return json.dumps({"errorMessage": message, "errorType": type}).encode()
