"""One request on its way to its answer, that may be given up at any moment.

httpcore leaves a socket and an entry of its pool behind where it is cancelled between a connection and the
first byte of a request. So that moment is waited out by a task of its own, which then lets go. Must never
cancel a request twice: the second time interrupts what is done to clean up after the first.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import httpx

# The loop keeps only weak references to tasks.
_left: Final = set[asyncio.Task[httpx.Response]]()


class Sending:
    """Await `response` once."""

    def __init__(self, http: httpx.AsyncClient, request: httpx.Request) -> None:
        self._http = http
        self._request = request
        self._is_connecting = False
        self._is_left = False

    async def response(self) -> httpx.Response:
        """The answer, its body not yet read. Raises all that httpx raises."""
        self._request.extensions["trace"] = self._on_trace
        task = asyncio.create_task(self._http.send(self._request, stream=True, follow_redirects=False))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self._leave(task)
            raise
        return task.result()

    async def _leave(self, task: "asyncio.Task[httpx.Response]") -> None:
        self._is_left = True
        if self._is_connecting:
            _left.add(task)
            task.add_done_callback(_forget)
            return
        task.cancel()
        with suppress(httpx.HTTPError, asyncio.CancelledError):
            await (await task).aclose()

    async def _on_trace(self, event: str, _: dict[str, Any]) -> None:
        """httpcore tells of each step (encode/httpcore, docs/extensions.md, "trace")."""
        if event.startswith("connection."):
            self._is_connecting = True
        elif event.endswith("send_request_headers.started"):
            self._is_connecting = False
            if self._is_left:
                raise httpx.WriteError("nobody waits for the answer any more")


def _forget(task: "asyncio.Task[httpx.Response]") -> None:
    """asyncio would report an exception that nobody looked at."""
    _left.discard(task)
    if not task.cancelled():
        task.exception()
