"""`Client`: the same for programs without an event loop of their own.

A thread with a loop, and nothing else: what it does is `AsyncClient`'s. Must never be used from that thread.

```python
from motes.client import Client

with Client(model="demo/hello") as client:
    for text in client.stream("What is a mote?").text:
        print(text, end="")
    message = client.generate("What is a mote?")
    assert message.outcome == "completed"
```
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from motes import particles as p
from motes.client.client import DEFAULT_PATIENCE, AsyncClient
from motes.client.desk import Model
from motes.client.request import Request
from motes.client.retry import Patience, Restart
from motes.client.stream import Stream
from motes.fragments import Fragment, Message

_T = TypeVar("_T")
_AT_ONCE: Final = 256


class _Thread:
    """A loop in a thread of its own."""

    def __init__(self) -> None:
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._live(started)), name="motes-client", daemon=True
        )
        self._thread.start()
        started.wait()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What comes of it. An interrupt cancels it. Raises RuntimeError once the client is closed."""
        if not self._thread.is_alive():
            work.close()
            raise RuntimeError("the client is closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def leave(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do it where that is still possible: closing the client did the same."""
        with suppress(RuntimeError):
            self.run(work)

    def close(self) -> None:
        """End the thread, and what still runs in it."""
        self._loop.call_soon_threadsafe(self._closed.set)
        self._thread.join()

    async def _live(self, started: threading.Event) -> None:
        self._loop, self._closed = asyncio.get_running_loop(), asyncio.Event()
        started.set()
        await self._closed.wait()


class SyncStream:
    """See `Stream`: the same, read by an ordinary loop."""

    def __init__(self, thread: _Thread, stream: Stream) -> None:
        self._thread = thread
        self._stream = stream

    @property
    def message(self) -> Message:
        """The message as far as it came."""
        return self._thread.run(_message(self._stream))

    @property
    def run_id(self) -> str | None:
        """The gateway's id of the run, where it can be joined again."""
        return self._stream.run_id

    @property
    def text(self) -> Iterator[str]:
        """The answer's text, piece by piece. Raises RunFailed at the end of an answer that is not whole."""
        return self._each(self._stream.text)

    @property
    def fragments(self) -> Iterator[Fragment]:
        """The answer's fragments, each when the next one begins. Raises RunFailed as `text` does."""
        return self._each(self._stream.fragments)

    def result(self) -> Message:
        """The message when the run is over, whatever its outcome."""
        return self._thread.run(self._stream.result())

    def abort(self) -> Message:
        """Stop here; what came is kept."""
        return self._thread.run(self._stream.abort())

    def __iter__(self) -> Iterator[p.Particle]:
        try:
            while batch := self._thread.run(self._stream.arrivals(_AT_ONCE)):
                yield from batch
        finally:
            self._thread.leave(self._stream.abort())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.abort()

    def _each(self, pieces: AsyncGenerator[_T, None]) -> Iterator[_T]:
        try:
            while batch := self._thread.run(_next_of(pieces)):
                yield from batch
        finally:
            self._thread.leave(pieces.aclose())


class Client:
    """See `AsyncClient`: the same, for ordinary calls. Its thread lives until it is closed."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        direct: bool = False,
        model: str | None = None,
        aliases: Mapping[str, str] | None = None,
        patience: Patience = DEFAULT_PATIENCE,
    ) -> None:
        self._client = AsyncClient(
            base_url,
            api_key,
            direct=direct,
            model=model,
            aliases=aliases,
            patience=patience,
        )
        self._thread = _Thread()

    def stream(
        self,
        request: Request,
        *,
        model: str | None = None,
        resumable: bool = False,
        restart: Restart = "never",
    ) -> SyncStream:
        """The answer as it comes. See `AsyncClient.stream`."""
        stream = self._client.stream(request, model=model, resumable=resumable, restart=restart)
        return SyncStream(self._thread, stream)

    def generate(
        self,
        request: Request,
        *,
        model: str | None = None,
        resumable: bool = False,
        restart: Restart = "never",
    ) -> Message:
        """The whole answer. See `AsyncClient.generate`."""
        work = self._client.generate(request, model=model, resumable=resumable, restart=restart)
        return self._thread.run(work)

    def resume(self, run_id: str, *, after: int = 0) -> SyncStream:
        """A run that the gateway keeps. See `AsyncClient.resume`."""
        return SyncStream(self._thread, self._client.resume(run_id, after=after))

    def cancel(self, run_id: str) -> None:
        """Stop a run. See `AsyncClient.cancel`."""
        self._thread.run(self._client.cancel(run_id))

    def delete(self, run_id: str) -> bool:
        """Have a run forgotten: whether it is. See `AsyncClient.delete`."""
        return self._thread.run(self._client.delete(run_id))

    def models(self) -> list[Model]:
        """What can be asked for. See `AsyncClient.models`."""
        return self._thread.run(self._client.models())

    def close(self) -> None:
        """Close every connection, and end the thread."""
        self._thread.run(self._client.aclose())
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


async def _next_of(pieces: AsyncGenerator[_T, None]) -> list[_T]:
    """The next piece, or none at the end."""
    try:
        return [await anext(pieces)]
    except StopAsyncIteration:
        return []


async def _message(stream: Stream) -> Message:
    return stream.message
