"""What is done once a response is out: renewing what was remembered, writing what was heard.

Pure ASGI, around the whole app: the client has its last byte, and a host that freezes a process between two
requests still waits for the app to return. Must never raise, nor take longer than a set time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

from motes.api.logline import logline

_log = logging.getLogger("motes.api")

Chore: TypeAlias = Callable[[], Awaitable[None] | None]
"""Gives what there is to be done, or None."""

# A stream that ends at its deadline has three seconds left, of which a host may want the last one.
_SECONDS: Final = 1.5


def when(is_due: Callable[[], bool], chore: Callable[[], Awaitable[None]]) -> Chore:
    """A chore that is mostly not due."""
    return lambda: chore() if is_due() else None


class Afterwards:
    """Does the chores after each HTTP request."""

    def __init__(self, app: ASGIApp, chores: Sequence[Chore]) -> None:
        self._app = app
        self._chores = chores

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._app(scope, receive, send)
        # A request that was cancelled, or failed, leaves them to the next one.
        if scope["type"] == "http":
            await self._do()

    async def _do(self) -> None:
        due = [work for chore in self._chores if (work := chore()) is not None]
        if not due:
            return
        try:
            async with asyncio.timeout(_SECONDS):
                await (asyncio.gather(*due) if len(due) > 1 else due[0])
        except TimeoutError:
            _log.warning(logline("afterwards_too_slow", seconds=_SECONDS))
