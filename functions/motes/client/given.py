"""Hands the executor an answer that somebody else asked for, in place of a request of its own.

Must never send anything itself, nor build a connection of any sort.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx

Opener = Callable[[], Awaitable[httpx.Response]]


class GivenAnswers(httpx.AsyncClient):
    """Every request is answered with what `opener` gives; what the request says is not looked at."""

    def __init__(self, opener: Opener) -> None:
        super().__init__(transport=_NO_LINE, trust_env=False, timeout=None)
        self._opener = opener
        self.is_asking = False
        """Whether it is the opener's turn: what is raised now is its own."""

    async def send(self, request: httpx.Request, **_: Any) -> httpx.Response:  # noqa: ARG002
        """See httpx."""
        self.is_asking = True
        response = await self._opener()
        self.is_asking = False
        return readable(response)


def readable(response: httpx.Response) -> httpx.Response:
    """The answer as it can be read from its first byte. Raises TypeError for one of a client that blocks, and
    what httpx raises for one that was read already and not kept.
    """
    if response.is_stream_consumed or response.is_closed:
        # Its encoding was undone when it was read.
        kept = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
        return httpx.Response(response.status_code, headers=kept, content=response.content)
    if not isinstance(response.stream, httpx.AsyncByteStream):
        raise TypeError("the response is one of httpx.Client: ask with httpx.AsyncClient, and stream=True")
    return response


_NO_LINE = httpx.MockTransport(lambda _: httpx.Response(500))
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
