"""Reads the chat stream of any OpenAI-compatible server, as tolerantly as motes reads its vendors.

    async with http.stream("POST", url, json=body) as response:
        async for particle in openai_stream.read(response):
            ...                                     # Text, Reasoning, ToolCall, Metrics, …, one End

    message = await openai_stream.ask(http, url, body).whole()

One broken chunk is skipped and logged, calls are put together whatever their servers number them by, usage is
the last that came, and what follows the finish reason is kept. Must never raise for what a server sends while
it is iterated, and never take a cut answer for a whole one: `whole` and `texts` raise `RunFailed`.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Self

import httpx

from motes import jsontext
from motes import particles as p
from motes.client.failure import RunFailed
from motes.client.given import GivenAnswers, Opener, readable, request_of
from motes.dataclass import dataclass
from motes.demux.base import MAX_EVENT_BYTES
from motes.dialects.openai_chat import DIALECT
from motes.dispatch import OWN_HEADERS, Dispatch, UpstreamRequest
from motes.estimates import tokens_of
from motes.executor.observer import NullObserver
from motes.executor.pipeline import run
from motes.executor.policy import Backoff, Policy
from motes.executor.run import Options
from motes.fragments import Message
from motes.quirks import NO_QUIRKS
from motes.reassembly import Reassembler
from motes.secrecy import parts_of
from motes.vendors.vendor import Timeouts

_LOG: Final = logging.getLogger(__name__)
_KEY_HEADERS: Final = ("authorization", "api-key", "x-api-key")
_NOWHERE: Final = UpstreamRequest(method="POST", url="http://given.invalid/", headers={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The longest silences, in seconds, before the body of an answer and within it; how often to ask in all,
    where an attempt fails in a way that may pass and nothing visible came of it.
    """

    first_byte: float = 300.0
    idle: float = 120.0
    attempts: int = 3


LIMITS: Final = Limits()


class Answer:
    """One answer on its way; iterate over it once. Its particles end with exactly one `End`.

    A retry is told by a `RetryReset`, and only before anything visible came. Leave the loop early and close
    it (`async with`, or `aclose`).
    """

    def __init__(self, dispatch: Dispatch, http: httpx.AsyncClient, attempts: int) -> None:
        self._reassembler = Reassembler()
        self._final: Message | None = None
        self._observer = _Heard(http)
        tries = Policy(http=Backoff(attempts, 1.0), connection=Backoff(attempts, 0.5))
        self._particles = self._read(run(dispatch, http, Options(policy=tries), self._observer))

    @property
    def message(self) -> Message:
        """The message as far as it came; its `outcome` is decided at the end."""
        return self._final or self._reassembler.message

    def __aiter__(self) -> AsyncIterator[p.Particle]:
        return self._particles

    async def texts(self) -> AsyncIterator[str]:
        """The answer's text, piece by piece. Raises RunFailed where it did not come to its end."""
        async with aclosing(self._particles) as particles:
            async for particle in particles:
                if isinstance(particle, p.Text):
                    yield particle.text
        self._check()

    async def whole(self) -> Message:
        """The whole answer. Raises RunFailed where it did not come to its end."""
        async with aclosing(self._particles) as particles:
            async for _ in particles:
                pass
        return self._check()

    async def aclose(self) -> None:
        """Leave the rest unread; the connection is closed."""
        await self._particles.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _check(self) -> Message:
        if self._final is None or self._final.outcome != "completed":
            raise RunFailed(self.message)
        return self._final

    async def _read(self, source: AsyncGenerator[p.Particle, None]) -> AsyncGenerator[p.Particle, None]:
        async with aclosing(source) as particles:
            async for particle in particles:
                if isinstance(particle, p.End):
                    self._observer.complain()
                self._take(particle)
                yield particle

    def _take(self, particle: p.Particle) -> None:
        self._reassembler.feed(particle)
        if isinstance(particle, p.End):
            self._final = self._reassembler.finalize()
        elif isinstance(particle, p.Warn) and particle.code == "bad_event":
            _LOG.warning("bad_event text=%r", particle.text)


def read(response: httpx.Response, limits: Limits = LIMITS) -> Answer:
    """Read an answer that is under way: one of `httpx.AsyncClient`, best with its body not yet read.

    There is no second attempt at it. `limits` hold in place of the read timeout of the client that asked,
    which is 5 s unless told otherwise: models think for longer. A status that is no success becomes an
    `Issue`, as an error within the stream does. Raises TypeError for an answer of a client that blocks.
    """
    given = readable(response)

    async def open_once() -> httpx.Response:
        return given

    return _given(open_once, replace(limits, attempts=1), request_of(response))


def reopening(opener: Opener, limits: Limits = LIMITS) -> Answer:
    """Read the answer that `opener` gives; another attempt calls it again.

    `limits` hold for its body as in `read`. What the opener raises is an `Issue` where it is httpx's, and
    else raised by the iteration.
    """
    return _given(opener, limits, None)


def ask(
    http: httpx.AsyncClient,
    url: str,
    body: Mapping[str, Any],
    *,
    headers: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
) -> Answer:
    """Post a chat request to a server's `…/chat/completions` and read the answer.

    It is sent with `stream`, and with `include_usage` unless the body has `stream_options` itself. `headers`
    stand over the client's own, whose timeouts do not hold.
    """
    options = body.get("stream_options", {"include_usage": True})
    written = jsontext.dump_bytes({**body, "stream": True, "stream_options": options})
    sent = httpx.Headers({**OWN_HEADERS, "content-type": "application/json", "accept": "text/event-stream"})
    keys = {name: value for name, value in http.headers.items() if name in _KEY_HEADERS}
    sent.update({**keys, **(headers or {})})
    request = UpstreamRequest(method="POST", url=url, headers=dict(sent.items()), body=written)
    return Answer(_dispatch(request, limits, len(written)), http, limits.attempts)


def _given(opener: Opener, limits: Limits, asked: httpx.Request | None) -> Answer:
    request = _NOWHERE if asked is None else replace(_NOWHERE, headers=dict(asked.headers.items()))
    http = GivenAnswers(opener)
    return Answer(_dispatch(request, limits, _content_length(asked)), http, limits.attempts)


def _dispatch(request: UpstreamRequest, limits: Limits, size: int) -> Dispatch:
    """`size` is that of the request's body in bytes, 0 where it is not known: that is not nothing."""
    return Dispatch(
        vendor="openai-compatible",
        model="",
        dialect=DIALECT.name,
        request=request,
        demuxer=lambda: DIALECT.demuxer(MAX_EVENT_BYTES),
        parser=lambda: DIALECT.parser(NO_QUIRKS),
        timeouts=Timeouts(first_byte=limits.first_byte, idle=limits.idle),
        secrets=_secrets(request.headers),
        prompt_tokens=(lambda: tokens_of(size)) if size else None,
    )


def _secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """What the server was sent as a key, and may repeat in its words."""
    values = [value for name, value in headers.items() if name.lower() in _KEY_HEADERS]
    return tuple(part for value in values for part in parts_of(value.removeprefix("Bearer ").strip()))


def _content_length(request: httpx.Request | None) -> int:
    """The size of a request, 0 where it is not known."""
    length = request.headers.get("content-length", "") if request else ""
    return int(length) if length.isascii() and length.isdigit() else 0


class _Heard(NullObserver):
    """Hears of what the opener raised, which is nothing a server sent."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._raised: Exception | None = None

    def bug(self, label: str, error: Exception) -> None:
        """See `Observer`."""
        if isinstance(self._http, GivenAnswers) and self._http.is_asking:
            self._raised = error
        else:
            _LOG.error("stream_bug label=%s", label, exc_info=error)

    def complain(self) -> None:
        """Raise it."""
        if self._raised is not None:
            raise self._raised
