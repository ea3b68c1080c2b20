"""One request and the body of its answer, read in the run's own time.

Nothing here waits: what has come is there to be taken, and where nothing has, there is something to await, so
that a read costs one future. The engine's connections can be let go of at any moment; only the way to a new
one is a task, so that the layers above have their turn while it is waited for. Any other transport has a task
for the way to the answer's head, and is read by `pulled`. Must never be waited for when it is given up.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import httpx

from motes.dataclass import dataclass, maker
from motes.dispatch import Dispatch, UpstreamRequest, unsigned
from motes.engine.ask import Ask, heading_over, remembered_heading
from motes.engine.body import BODY, Body, ended
from motes.engine.connection import Connection
from motes.engine.opening import close_what_it_made
from motes.engine.transport import ON_SENDING, response_of
from motes.executor import failures
from motes.executor.connection import EngineClient
from motes.executor.observer import Progress
from motes.executor.pulled import Pulled

# The loop keeps only weak references to tasks.
_closing: Final = set[asyncio.Task[None]]()
_new_ask: Final = maker(Ask)


class Exchange:
    """Call `send`, then `has_answered` until it has, then `take` until it gives nothing, and `close` whatever
    happened. Where there is nothing yet, await what `waiting` gives, and look again.

    `take` gives the next bytes as they came over the line, none at the end, or None where none have come.
    `waiting(until)` is done when something comes, or at that time of the loop's clock; None where something
    is there. Both are of what there is to wait for at the time; the first raises all that httpx raises.
    """

    def __init__(self, http: httpx.AsyncClient, on_sending: Callable[[], None]) -> None:
        self.take: Callable[[], bytes | None] = _nothing
        self.waiting: Callable[[float], Awaitable[object] | None]
        self._http = http
        self._on_sending = on_sending
        self._asking: asyncio.Task[httpx.Response] | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._connection: Connection | None = None
        self._body: Body | Pulled | None = None
        self._response: httpx.Response | None = None

    def __del__(self) -> None:
        # Who was to read it, and to close it, never began: see `sent_ahead`.
        if self._connection is not None:
            self._connection.close()
        elif self._opening is not None:
            self._opening.add_done_callback(close_what_it_made)
            self._opening.cancel()

    def send(self, wire: UpstreamRequest, connect: float) -> None:
        """Begin; a connection may take so many seconds. Raises as httpx does for what cannot be sent."""
        http = self._http
        if isinstance(http, EngineClient):
            given = tuple(wire.headers.items())
            over = remembered_heading if wire.is_one_of_many else heading_over
            heading = over(http.own_headers, wire.method, wire.url, given)
            if http.is_by_itself(heading.url):
                self._ask(
                    http,
                    _new_ask(heading=heading, body=wire.body, connect=connect, on_sending=self._on_sending),
                )
                return
        request = http.build_request(
            wire.method,
            wire.url,
            headers=wire.raw_headers,
            content=wire.body,
            timeout=httpx.Timeout(None, connect=connect),
        )
        request.extensions[ON_SENDING] = self._on_sending
        asking = self._asking = asyncio.create_task(http.send(request, stream=True, follow_redirects=False))
        self.waiting = partial(_task_waiting, asking)

    def has_answered(self) -> bool:
        """Whether the head of the answer is there. Raises all that httpx raises."""
        if self._asking is not None:
            if self._asking.done():
                response, self._asking = self._asking.result(), None
                self._response = response
                body = self._body = response.extensions.get(BODY) or Pulled(response)
                self.take, self.waiting = body.take, body.waiting
        elif self._opening is not None and self._opening.done():
            connection, self._opening = self._opening.result(), None
            self._is_on(connection)
        if self._body is not None:
            return True
        return self._connection is not None and self._connection.has_answered()

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self._connection.status if self._connection is not None else self.response.status_code

    @property
    def encoding(self) -> str:
        """The content-encoding of the answer, empty where it has none."""
        if self._connection is not None and not self._connection.is_encoded:
            return ""
        encoding: str = self.response.headers.get("content-encoding", "")
        return encoding

    @property
    def response(self) -> httpx.Response:
        """All that the head of the answer says."""
        if self._response is None:
            assert self._connection is not None  # noqa: S101 (it has answered)
            self._response = response_of(self._connection)
        return self._response

    def tap(self, on_data: Callable[[bytes], bool]) -> None:
        """Have that given, where the body can tell, what comes while somebody waits for it; it gives whether
        he need not be woken.
        """
        if self._connection is not None:
            self._connection.on_data = on_data

    async def drain(self, seconds: float) -> None:
        """Wait for the end of the body, which is near, so that the connection can serve again."""
        until = asyncio.get_running_loop().time() + seconds
        if self._connection is not None:
            await ended(self._connection, until)
        elif self._body is not None:
            await self._body.ended(until)

    async def close(self, linger: float = 0.0) -> None:
        """Leave the connection to the pool where the body was read to its end, else close it; the engine's
        own waits so many seconds for that end, and nobody with it. Goes on where the caller is cancelled.
        """
        connection, self._connection = self._connection, None
        if connection is not None:
            # It may serve another request from here on.
            self.take = _closed
            connection.leave(linger)
        elif isinstance(self._body, Body):
            self._body.close(linger)
        elif self._body is not None:
            await _to_its_end(self._body.aclose())
        elif self._opening is not None:
            opening, self._opening = self._opening, None
            await _to_its_end(_unopened(opening))
        elif self._asking is not None:
            await _to_its_end(_given_up(self._asking))

    def _ask(self, http: EngineClient, ask: Ask) -> None:
        connection = http.engine.sent(ask)
        if connection is None:
            task = self._opening = asyncio.create_task(http.engine.opened(ask))
            self.waiting = partial(_task_waiting, task)
        else:
            self._is_on(connection)

    def _is_on(self, connection: Connection) -> None:
        self._connection = connection
        self.take, self.waiting = connection.take, connection.waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """The first request of a run that is still to be made: the rest is made while its vendor thinks. Whoever
    has it gives it to `pipeline.batches`, and reads what that gives.
    """

    exchange: Exchange
    progress: Progress


_new_ahead: Final = maker(Ahead)


def sent_ahead(dispatch: Dispatch, http: httpx.AsyncClient, until: float | None) -> Ahead | None:
    """Ask, where nothing comes before that, the request need not be signed, and the run is not over by now:
    `until` is a time of the event loop's clock.
    """
    now = asyncio.get_running_loop().time()
    if not dispatch.is_plain or dispatch.sign is not unsigned or (until is not None and now >= until):
        return None
    progress = Progress(started=now)
    exchange = Exchange(http, progress.on_sending)
    try:
        exchange.send(dispatch.request, dispatch.timeouts.connect)
    except failures.NETWORK:
        # What cannot be sent is tried again by the attempt, which tells why.
        return None
    return _new_ahead(exchange=exchange, progress=progress)


def _nothing() -> None:
    """There is no answer yet."""


def _closed() -> bytes:
    raise httpx.StreamClosed


def _task_waiting(task: asyncio.Task[Any], until: float) -> Awaitable[object] | None:
    return None if task.done() else _done(task, until)


async def _done(task: asyncio.Task[Any], until: float) -> None:
    await asyncio.wait({task}, timeout=until - asyncio.get_running_loop().time())


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(work)
    _closing.add(task)
    task.add_done_callback(_closing.discard)
    await asyncio.shield(task)


async def _given_up(asking: asyncio.Task[httpx.Response]) -> None:
    """Nobody waits for the answer any more."""
    asking.cancel()
    await asyncio.wait({asking})
    if not asking.cancelled() and asking.exception() is None:
        await asking.result().aclose()


async def _unopened(opening: asyncio.Task[Connection]) -> None:
    """Nobody waits for the connection any more."""
    opening.cancel()
    await asyncio.wait({opening})
    close_what_it_made(opening)
