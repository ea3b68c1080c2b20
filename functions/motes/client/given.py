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
    _lift_read_timeout(response)
    return response


def request_of(response: httpx.Response) -> httpx.Request | None:
    """What the answer answers; one that was made by hand answers nothing."""
    try:
        return response.request
    except RuntimeError:
        return None


def _lift_read_timeout(response: httpx.Response) -> None:
    """Leave silences to who reads. httpcore looks at the limits of a request at each read of its answer
    (httpcore, docs/extensions.md, "timeout").
    """
    request = request_of(response)
    limits = request.extensions.get("timeout") if request else None
    if isinstance(limits, dict):
        limits["read"] = None


_NO_LINE = httpx.MockTransport(lambda _: httpx.Response(500))
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
