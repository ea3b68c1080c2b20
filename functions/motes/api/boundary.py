"""What stands around every endpoint: a refusal becomes its answer, and a bug becomes one that tells nothing.

Pure ASGI, in place of Starlette's own two middlewares, each of which puts a frame of its own around every
piece of a stream. Must never answer a second time, and never swallow a bug: the server wants to hear of it.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Teller: TypeAlias = Callable[[Request, Any], Awaitable[Response]]
"""Gives the answer to an exception."""

STATUS: Final = "motes.status"
"""The status of the answer, in the scope from the moment its head is sent."""


class Refusals:
    """Answers the exceptions that are known, each in its way; of a class and its parent, the class first."""

    def __init__(self, app: ASGIApp, tellers: Mapping[type[Exception], Teller]) -> None:
        self._app = app
        self._tellers = tellers
        self._known = tuple(tellers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        try:
            await self._app(scope, receive, send)
        except self._known as error:
            if scope["type"] != "http":
                raise
            if STATUS in scope:
                raise RuntimeError("refused after the answer had begun") from error
            teller = next(self._tellers[kind] for kind in type(error).__mro__ if kind in self._tellers)
            response = await teller(Request(scope, receive, send), error)
            await response(scope, receive, send)


class Bugs:
    """Answers what nobody expected, where nothing was answered yet, and lets it go on to the server."""

    def __init__(self, app: ASGIApp, teller: Teller) -> None:
        self._app = app
        self._teller = teller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        try:
            await self._app(scope, receive, send)
        except Exception as bug:
            # The boundary: one request has failed, and its caller learns where to ask.
            if scope["type"] == "http":
                response = await self._teller(Request(scope), bug)
                if STATUS not in scope:
                    await response(scope, receive, send)
            raise
