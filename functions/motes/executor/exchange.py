"""One request and the body of its answer, read in the run's own time.

The engine's connections give what has come and can be let go of at any moment; only the way to the answer's
head is a task, so that the layers above have their turn while it is waited for. Any other transport is read
by `pulled`. Must never be waited for when it is given up.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import httpx

from motes.engine.body import BODY, Body
from motes.engine.transport import ON_SENDING
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
        self._body: Body | Pulled | None = None

    def send(self, request: httpx.Request) -> None:
        """Begin."""
        request.extensions[ON_SENDING] = self._on_sending
        if isinstance(self._http, EngineClient):
            asked = self._http.asked(request)
        else:
            asked = self._http.send(request, stream=True, follow_redirects=False)
        self._asking = asyncio.create_task(asked)

    async def response(self, until: float) -> httpx.Response | None:
        """The answer, its body not yet read, or None where it is not there at that time of the loop's clock.
        Raises all that httpx raises.
        """
        task = self._asking
        assert task is not None  # noqa: S101 (`send` came before)
        if not task.done():
            await asyncio.wait({task}, timeout=max(0.0, until - asyncio.get_running_loop().time()))
        if not task.done():
            return None
        response, self._asking = task.result(), None
        self._body = response.extensions.get(BODY) or Pulled(response)
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
        elif self._asking is not None:
            await _to_its_end(_given_up(self._asking))


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
