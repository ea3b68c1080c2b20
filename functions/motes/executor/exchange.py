"""One request and the body of its answer, read in the run's own time.

The engine's connections give what has come and can be let go of at any moment; only the way to a new one is a
task, so that the layers above have their turn while it is waited for. Any other transport has a task for the
way to the answer's head, and is read by `pulled`. Must never be waited for when it is given up.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any, Final

import httpx

from motes.dispatch import UpstreamRequest
from motes.engine.ask import Ask, headers_of
from motes.engine.body import BODY, Body
from motes.engine.connection import Connection
from motes.engine.transport import ON_SENDING, response_of
from motes.executor.connection import EngineClient
from motes.executor.pulled import Pulled

# The loop keeps only weak references to tasks.
_closing: Final = set[asyncio.Task[None]]()


class Exchange:
    """Call `send`, then `response` until there is one, then `read` until it gives nothing, and `close`
    whatever happened.
    """

    def __init__(self, http: httpx.AsyncClient, on_sending: Callable[[], None]) -> None:
        self._http = http
        self._on_sending = on_sending
        self._asking: asyncio.Task[httpx.Response] | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._connection: Connection | None = None
        self._body: Body | Pulled | None = None

    def send(self, wire: UpstreamRequest, connect: float) -> None:
        """Begin; a connection may take so many seconds. Raises as httpx does for what cannot be sent."""
        http, url = self._http, _parsed(wire.url)
        if isinstance(http, EngineClient) and http.is_by_itself(url):
            headers = headers_of(wire.method, url, http.headers.raw, wire.raw_headers, wire.body)
            ask = Ask(
                method=wire.method,
                url=url,
                headers=headers,
                body=wire.body,
                connect=connect,
                on_sending=self._on_sending,
            )
            self._connection = http.engine.sent(ask)
            if self._connection is None:
                self._opening = asyncio.create_task(http.engine.opened(ask))
            return
        request = http.build_request(
            wire.method,
            url,
            headers=wire.raw_headers,
            content=wire.body,
            timeout=httpx.Timeout(None, connect=connect),
        )
        request.extensions[ON_SENDING] = self._on_sending
        self._asking = asyncio.create_task(http.send(request, stream=True, follow_redirects=False))

    async def response(self, until: float) -> httpx.Response | None:
        """The answer, its body not yet read, or None where it is not there at that time of the loop's clock.
        Raises all that httpx raises.
        """
        if self._asking is not None:
            if not await _is_done(self._asking, until):
                return None
            response, self._asking = self._asking.result(), None
            self._body = response.extensions.get(BODY) or Pulled(response)
            return response
        if self._opening is not None:
            if not await _is_done(self._opening, until):
                return None
            self._connection, self._opening = self._opening.result(), None
        connection = self._connection
        assert connection is not None  # noqa: S101 (`send` came before)
        if not await connection.head(until):
            return None
        response = response_of(connection)
        self._body, self._connection = response.extensions[BODY], None
        return response

    async def read(self, until: float) -> bytes | None:
        """The next bytes as they came over the line, none at the end, or None where there are no more at that
        time. Raises as `response` does.
        """
        assert self._body is not None  # noqa: S101 (there was a response)
        return await self._body.read(until)

    async def drain(self, seconds: float) -> None:
        """Wait for the end of the body, which is near, so that the connection can serve again."""
        if self._body is not None:
            await self._body.ended(asyncio.get_running_loop().time() + seconds)

    async def close(self) -> None:
        """Leave the connection to the pool where the body was read to its end, else close it. Goes on where
        the caller is cancelled.
        """
        if isinstance(self._body, Body):
            self._body.close()
        elif self._body is not None:
            await _to_its_end(self._body.aclose())
        elif self._connection is not None:
            self._connection.close()
        elif self._opening is not None:
            await _to_its_end(_unopened(self._opening))
        elif self._asking is not None:
            await _to_its_end(_given_up(self._asking))


@lru_cache(maxsize=64)
def _parsed(url: str) -> httpx.URL:
    """Parsing an address takes as long as sending the request, and a vendor has few. Raises InvalidURL."""
    return httpx.URL(url)


async def _is_done(task: asyncio.Task[Any], until: float) -> bool:
    if not task.done():
        await asyncio.wait({task}, timeout=max(0.0, until - asyncio.get_running_loop().time()))
    return task.done()


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
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
