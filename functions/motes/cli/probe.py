"""One word sent to one model over the real network, through the same executor as every request.

Must never retry (the first answer is what is asked about) and never show a key.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

import httpx

from motes import dispatch
from motes import particles as p
from motes.cli.reach import within_reach
from motes.dataclass import dataclass
from motes.egress.failure import failure_of, presentable
from motes.egress.message_json import usage_json
from motes.engine.body import BODY
from motes.executor.connection import open_client
from motes.executor.pipeline import run
from motes.executor.policy import Backoff, Policy
from motes.executor.run import Options
from motes.fragments import Message
from motes.intake import parse_request
from motes.reassembly import Reassembler
from motes.settings import load_settings

_ONCE: Final = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
_QUESTION: Final = "Answer with one word: ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back. `status` is None where there was no answer, `first_byte_s` where it had no body."""

    model: str
    status: int | None
    first_byte_s: float | None
    usage: dict[str, Any] | None
    failure: str | None

    def lines(self) -> Iterator[str]:
        """The answer in words."""
        yield f"model: {self.model}"
        yield f"status: {self.status or 'no answer'}"
        if self.first_byte_s is not None:
            yield f"time to first byte: {self.first_byte_s * 1000:.0f} ms"
        counts = {name: count for name, count in (self.usage or {}).items() if count is not None}
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        yield f"usage seen: {told or 'none'}"
        yield f"failed: {self.failure}" if self.failure else "it answers"


async def probe(model: str, environ: Mapping[str, str], directory: Path) -> Answer:
    """Ask once. Raises MotesError for what cannot even be sent."""
    settings = load_settings(environ, directory)
    request = parse_request({"messages": [{"role": "user", "content": _QUESTION}], "stream": True})
    plan = within_reach(settings, environ).plan(request, model).dispatch
    seen = _Arrivals()
    async with open_client() as http:
        http.event_hooks = {"response": [seen.head]}
        message = await _answer(plan, http)
    return Answer(
        model=plan.label,
        status=seen.status,
        first_byte_s=seen.first_byte_s,
        usage=usage_json(message.metrics),
        failure=_failure(message),
    )


class _Arrivals:
    """What was seen of the answer on the wire: its status, and when the first byte of its body came."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.first_byte_s: float | None = None
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()

    async def head(self, response: httpx.Response) -> None:
        """The head of the answer is there; its body is watched from here."""
        self.status = response.status_code
        response.stream = _Watched(response.stream, self)
        # The executor would read the body past its watcher.
        response.extensions.pop(BODY, None)

    def bytes(self) -> None:
        """Bytes of the body are there."""
        if self.first_byte_s is None:
            self.first_byte_s = self._clock() - self._started


class _Watched(httpx.AsyncByteStream):
    """A body as it comes from the socket."""

    def __init__(self, body: httpx.SyncByteStream | httpx.AsyncByteStream, seen: _Arrivals) -> None:
        assert isinstance(body, httpx.AsyncByteStream)  # noqa: S101 (the client is an asynchronous one)
        self._body = body
        self._seen = seen

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            if chunk:
                self._seen.bytes()
            yield chunk

    async def aclose(self) -> None:
        """See httpx."""
        await self._body.aclose()


async def _answer(plan: dispatch.Dispatch, http: httpx.AsyncClient) -> Message:
    reassembler = Reassembler()
    async with aclosing(run(plan, http, Options(policy=_ONCE))) as particles:
        async for particle in particles:
            reassembler.feed(particle)
    return reassembler.finalize()


def _failure(message: Message) -> str | None:
    if message.is_whole:
        return None
    issue = message.issue or p.Issue("dispatch-read", failure_of(None).message, failure_of(None))
    shown = presentable(issue, None)
    kind = shown.error.kind if shown.error else "server_error"
    return f"{shown.text} ({kind})"
