"""One request and the body of its answer, in a task of its own that nobody cancels while it holds a socket.

What httpcore does to clean up does not survive a cancellation: a socket or an entry of the pool would be
left behind. So whoever waits here may be cancelled or give up at any moment; the task is ended by closing
its network stream under it. Must never hold more than `_AHEAD` bytes that nobody has taken, and one read.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any, Final

import httpx

_AHEAD: Final = 64 * 1024
# Closing takes a moment; a transport that needs longer is torn down.
_CLOSE_SECONDS: Final = 1.0
_CONNECTED: Final = ("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")
# httpcore takes a few turns of the loop to its first word; a transport that is not httpcore never has one.
_FIRST_TURNS: Final = 128
# The loop keeps only weak references to tasks.
_closing: Final = set[asyncio.Task[None]]()


class Exchange:
    """Call `send`, then `response` until there is one, then `read` until it gives nothing, and `close`
    whatever happened.
    """

    def __init__(self, http: httpx.AsyncClient, on_sending: Callable[[], None]) -> None:
        self._http = http
        self._on_sending = on_sending
        self._task: asyncio.Task[None] | None = None
        self._response: httpx.Response | None = None
        self._stream: Any = None
        self._is_traced = False
        self._is_connecting = False
        self._is_ending = False
        self._is_left = False
        self._is_draining = False
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._stirred = asyncio.Event()
        self._room = asyncio.Event()

    def send(self, request: httpx.Request) -> None:
        """Begin."""
        request.extensions["trace"] = self._on_trace
        self._task = task = asyncio.create_task(self._run(request))
        task.add_done_callback(self._on_done)

    async def response(self, until: float) -> httpx.Response | None:
        """The answer, its body not yet read, or None where it is not there at that time of the loop's clock.
        Raises all that httpx raises.
        """
        task = self._task
        assert task is not None  # noqa: S101 (`send` came before)
        while self._response is None:
            if task.done():
                task.result()
            if not await self._stir(until):
                break
        return self._response

    async def read(self, until: float) -> bytes | None:
        """The next bytes as they came over the line, none at the end, or None where there are no more at that
        time. Raises as `response` does.
        """
        task = self._task
        assert task is not None  # noqa: S101 (`send` came before)
        while not self._chunks:
            if task.done():
                task.result()
                return b""
            if not await self._stir(until):
                return None
        chunk = self._chunks.popleft()
        self._size -= len(chunk)
        if self._size < _AHEAD:
            self._room.set()
        return chunk

    async def drain(self, seconds: float) -> None:
        """Wait for the end of the body, which is near, so that the connection can serve again."""
        if self._task is not None:
            self._is_draining = True
            self._room.set()
            await asyncio.wait({self._task}, timeout=seconds)

    async def close(self) -> None:
        """Leave the connection to the pool where the body was read to its end, else close it. Goes on where
        the caller is cancelled.
        """
        if self._task is None:
            return
        closing = asyncio.create_task(self._close(self._task))
        _closing.add(closing)
        closing.add_done_callback(_closing.discard)
        await asyncio.shield(closing)

    async def _run(self, request: httpx.Request) -> None:
        response = await self._http.send(request, stream=True, follow_redirects=False)
        async with aclosing(response):
            self._stream = response.extensions.get("network_stream", self._stream)
            self._response = response
            self._stirred.set()
            await self._receive(response)

    async def _receive(self, response: httpx.Response) -> None:
        async with aclosing(_bytes_of(response)) as chunks:
            async for chunk in chunks:
                if self._is_left:
                    return
                if not chunk or self._is_draining:
                    continue
                self._chunks.append(chunk)
                self._size += len(chunk)
                self._stirred.set()
                if self._size >= _AHEAD:
                    self._room.clear()
                    await self._room.wait()

    async def _stir(self, until: float) -> bool:
        """Whether there was time for something to come of the task."""
        loop = asyncio.get_running_loop()
        if loop.time() >= until:
            return False
        self._stirred.clear()
        timer = loop.call_at(until, self._stirred.set)
        try:
            await self._stirred.wait()
        finally:
            timer.cancel()
        return True

    async def _close(self, task: asyncio.Task[None]) -> None:
        self._is_left = True
        self._room.set()
        for _ in range(_FIRST_TURNS):
            if self._is_traced or task.done():
                break
            await asyncio.sleep(0)
        if self._is_connecting:
            # Nobody is at the other end yet. What comes of it is closed at once, in `_on_connected`.
            _closing.add(task)
            task.add_done_callback(_forget)
            return
        await self._break_off(task)
        if not (await asyncio.wait({task}, timeout=_CLOSE_SECONDS))[0]:
            task.cancel()
            await asyncio.wait({task})
        _forget(task)

    async def _break_off(self, task: asyncio.Task[None]) -> None:
        """Take the ground away under the task. One that waits for an answer on a connection of the pool is
        cancelled: there httpcore cleans up, and it has not told which socket it uses.
        """
        if task.done() or self._is_ending:
            return
        if self._stream is None:
            task.cancel()
            return
        with suppress(Exception):
            await self._stream.aclose()

    def _on_done(self, _: asyncio.Task[None]) -> None:
        self._stirred.set()

    async def _on_trace(self, event: str, info: dict[str, Any]) -> None:
        """httpcore tells of each step of a request (encode/httpcore, docs/extensions.md, "trace")."""
        self._is_traced = True
        if event.endswith("connect_tcp.started"):
            self._is_connecting = True
        elif event.endswith("connect_tcp.failed"):
            self._is_connecting = False
        elif event.endswith(_CONNECTED):
            await self._on_connected(info["return_value"])
        elif event.endswith("send_request_headers.started"):
            self._leave_if_left()
            self._on_sending()
        elif event.endswith("response_closed.started"):
            # From here on the connection is the pool's, which may give it to another request.
            self._stream, self._is_ending = None, True

    async def _on_connected(self, stream: Any) -> None:
        self._stream, self._is_connecting = stream, False
        if self._is_left:
            await stream.aclose()
        self._leave_if_left()

    def _leave_if_left(self) -> None:
        if self._is_left:
            raise httpx.ReadError("nobody waits for the answer any more")


async def _bytes_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it comes over the line."""
    if response.is_stream_consumed:
        # A transport that is not a network may give the whole body at once.
        yield response.content
        return
    async for chunk in response.aiter_raw():
        yield chunk


def _forget(task: asyncio.Task[None]) -> None:
    """Let go of a task that nobody listens to; asyncio would report an exception that nobody looked at."""
    _closing.discard(task)
    if not task.cancelled():
        task.exception()
