"""Takes one invocation after the other, or several at once, and has the app answer them.

The boundary between the app and the platform: whatever the app raises ends one response, and not the process.
Must never ask for the next invocation before the last byte of the one before is with the platform and the
app's own work after it is done.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import Any, Final

from starlette.types import ASGIApp, Scope

from motes import jsontext
from motes.api.deadline import BLIND, extension
from motes.api.envelope import REQUEST_ID
from motes.api.logline import logline
from motes.hosts import farewell
from motes.hosts.cycle import Cycle
from motes.hosts.events import UnknownEvent, answer_to, is_http, request_of
from motes.hosts.exchange import RuntimeGone
from motes.hosts.farewell import Ending
from motes.hosts.json_log import belongs_to
from motes.hosts.runtime import Failure, Invocation, RuntimeAPI, RuntimeRefused

_log = logging.getLogger("motes.host")

# What the platform grants between SIGTERM and SIGKILL is about half a second.
_FAREWELL_SECONDS: Final = 0.25


class Server:
    """An ASGI app behind the Runtime API.

    `state` is what the app's lifespan made. `last_call` is how many seconds before the platform's kill a
    response is ended that the app has not ended itself.
    """

    def __init__(self, api: RuntimeAPI, app: ASGIApp, state: Mapping[str, Any], last_call: float) -> None:
        self._api = api
        self._app = app
        self._state = state
        self._last_call = last_call
        self._busy: set[asyncio.Task[None]] = set()
        self._is_alone = True

    async def serve(self, workers: int, told_to_stop: asyncio.Event) -> None:
        """Answer invocations, so many at once, until told to stop; then end what is on its way.

        Raises RuntimeGone or RuntimeRefused where the platform does not speak to us any more.
        """
        self._is_alone = workers == 1
        tasks = [asyncio.create_task(self._work(told_to_stop)) for _ in range(workers)]
        stop = asyncio.create_task(told_to_stop.wait())
        await asyncio.wait({stop, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        told_to_stop.set()
        for task in tasks:
            if task not in self._busy:
                task.cancel()
        if self._busy:
            await asyncio.wait(self._busy, timeout=_FAREWELL_SECONDS)
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome

    async def _work(self, told_to_stop: asyncio.Event) -> None:
        worker = asyncio.current_task()
        assert worker is not None  # noqa: S101 (a coroutine that runs is in a task here)
        while not told_to_stop.is_set():
            invocation = await self._api.next()
            self._busy.add(worker)
            # In a task of its own, so that nothing it puts into a context variable outlives it.
            await asyncio.create_task(self._attend(invocation))
            self._busy.discard(worker)

    async def _attend(self, invocation: Invocation) -> None:
        belongs_to(invocation)
        if self._is_alone and invocation.trace_id:
            # The name under which the platform's own libraries look for it; there is one for the process.
            os.environ["_X_AMZN_TRACE_ID"] = invocation.trace_id
        try:
            await self._answer(invocation)
        except (RuntimeGone, RuntimeRefused) as error:
            _log.warning(logline("response_refused", reason=str(error)))

    async def _answer(self, invocation: Invocation) -> None:
        try:
            event = jsontext.loads(invocation.event)
            request = request_of(event) if is_http(event) else None
            answer = b"" if request else jsontext.dump_bytes(answer_to(event))
        except Exception as error:
            _log.error(logline("event_refused", error=type(error).__name__), exc_info=error)
            message = str(error) if isinstance(error, UnknownEvent) else "the log says more"
            await self._api.fail(invocation, Failure(f"Motes.{type(error).__name__}", message))
            return
        if request is None:
            await self._api.respond(invocation, answer)
        else:
            await self._answer_request(invocation, *request)

    async def _answer_request(self, invocation: Invocation, scope: Scope, body: bytes) -> None:
        scope["extensions"] = extension(invocation.deadline) | {BLIND: {}}
        scope["state"] = dict(self._state)
        cycle = Cycle(self._api, invocation, scope, body)
        try:
            ending = await self._run(cycle, scope, invocation)
            await cycle.conclude(ending)
        finally:
            cycle.close()

    async def _run(self, cycle: Cycle, scope: Scope, invocation: Invocation) -> Ending:
        """Have the app answer; gives how the response ends if the app has left it open."""
        limit = asyncio.timeout_at(invocation.deadline - self._last_call)
        try:
            async with limit:
                await self._app(scope, cycle.receive, cycle.send)
        except asyncio.CancelledError:
            _log.warning(logline("request_stopped"))
            return farewell.stopping()
        except Exception as error:
            if limit.expired():
                _log.error(logline("request_too_late"))
                return farewell.too_late()
            _log.error(logline("handler_failed", error=type(error).__name__), exc_info=error)
        else:
            if not cycle.has_ended:
                _log.error(logline("response_unfinished"))
        return farewell.bug(scope.get(REQUEST_ID, invocation.request_id))
