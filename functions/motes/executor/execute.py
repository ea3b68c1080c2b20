"""One attempt at one dispatch: open, pump, finish.

The boundary between the network and the pure wing. No exception leaves it (cancellation excepted), and it
never says `End` itself: how it came out stands in `outcome`, because the layer above decides whether
there is another attempt.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import httpx

from motes import jsontext
from motes import particles as p
from motes.continuation import continued
from motes.dispatch import Dispatch
from motes.errors import VendorError
from motes.executor import failures
from motes.executor.observer import Step
from motes.executor.run import Run
from motes.pump import Pump
from motes.transmitter import Continue, Retry, Transmitter
from motes.vendor_errors import read_failure

MAX_ERROR_BODY: Final = 64 * 1024
# The status is known; its words are worth waiting for, but not for long.
_ERROR_BODY_SECONDS: Final = 5.0
# After the finish reason only usage and sources come; one that holds the line open is not waited for.
_AFTER_STOP_SECONDS: Final = 5.0
# The end of the HTTP body follows the end of the answer at once, or not at all.
_LINGER_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Held:
    """The attempt failed, nothing visible was said, and another one may mend it. Not told to anyone yet."""

    issue: p.Issue
    end: p.End


@dataclass(frozen=True, slots=True)
class Paused:
    """The upstream wants to be asked again, with this."""

    dispatch: Dispatch
    reason: str


Outcome: TypeAlias = p.End | Held | Paused


class Attempt:
    """Run `particles` to its end once, then read `outcome`."""

    def __init__(self, dispatch: Dispatch, run: Run) -> None:
        self._dispatch = dispatch
        self._run = run
        self._transmitter = Transmitter(run.options.new_id)
        self._started = asyncio.get_running_loop().time()
        self._received = 0
        self._cut: VendorError | None = None
        self._issue: p.Issue | None = None
        self._paused: Paused | None = None

    @property
    def said_anything(self) -> bool:
        """Whether something visible was given."""
        return self._transmitter.said_anything

    @property
    def text_length(self) -> int:
        """Characters of answer text given."""
        return self._transmitter.text_length

    @property
    def outcome(self) -> Outcome:
        """How it came out."""
        if self._paused is not None:
            return self._paused
        end = self._transmitter.end()
        assert end is not None  # noqa: S101 (`particles` ran to its end, and `Pump.close` always gives one)
        return end if self._issue is None else Held(self._issue, end)

    async def particles(self) -> AsyncGenerator[p.Particle, None]:
        """What the upstream says, without the `End` and without an issue that is held."""
        try:
            async with aclosing(self._batches()) as batches:
                async for batch in batches:
                    for particle in self._kept(batch):
                        yield particle
        except Exception as bug:
            # The boundary: a bug of ours ends one run with an issue, and not the process.
            for particle in self._kept(self._on_bug(bug)):
                yield particle

    async def _batches(self) -> AsyncGenerator[list[p.Particle], None]:
        pump = Pump(self._dispatch.demuxer(), self._dispatch.parser(), self._transmitter)
        self._step("connecting")
        try:
            response = await self._open()
        except failures.NETWORK as failure:
            error = failures.before_the_answer(failure, self._dispatch.timeouts)
            yield pump.fail("dispatch-fetch", error)
            return
        self._step("waiting")
        async with aclosing(response), aclosing(_bytes_of(response)) as chunks:
            if not response.is_success:
                yield pump.fail("dispatch-fetch", await self._refusal(response, chunks))
                return
            while pump.verdict is None:
                chunk = await self._next(chunks)
                yield pump.feed(chunk) if chunk else pump.close(self._cut)
            yield self._settled(pump)
            if not self._cut:
                await _linger(chunks)

    async def _open(self) -> httpx.Response:
        timeouts, http = self._dispatch.timeouts, self._run.http
        wire = self._dispatch.sign(self._dispatch.request, self._run.options.now())
        request = http.build_request(
            wire.method,
            wire.url,
            headers=wire.raw_headers,
            content=wire.body,
            timeout=httpx.Timeout(None, connect=timeouts.connect),
            extensions={"trace": self._on_trace},
        )
        async with asyncio.timeout_at(self._limit()):
            return await http.send(request, stream=True, follow_redirects=False)

    async def _on_trace(self, event: str, _: dict[str, Any]) -> None:
        """httpcore tells of each step of a request (encode/httpcore, docs/extensions.md, "trace")."""
        if event.endswith("send_request_headers.started"):
            self._step("waiting")

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes:
        """The next bytes, or none at the end, when `_cut` says whether it was a bad one."""
        try:
            async with asyncio.timeout_at(self._limit()):
                chunk = await anext(chunks, b"")
        except failures.NETWORK as failure:
            self._cut = failures.while_reading(failure, self._received, self._dispatch.timeouts)
            return b""
        if chunk:
            self._took(len(chunk))
        return chunk

    def _limit(self) -> float:
        """Until when the next byte must be here."""
        timeouts, last = self._dispatch.timeouts, self._run.progress.last_byte_at
        if self._received and last is not None:
            stopped = self._transmitter.stopped is not None
            return last + (min(timeouts.idle, _AFTER_STOP_SECONDS) if stopped else timeouts.idle)
        return self._started + timeouts.first_byte

    def _took(self, size: int) -> None:
        progress = self._run.progress
        self._received += size
        progress.step = "reading"
        progress.received += size
        progress.last_byte_at = asyncio.get_running_loop().time()

    async def _refusal(self, response: httpx.Response, chunks: AsyncIterator[bytes]) -> VendorError:
        """What an answer that is no success says."""
        if response.status_code < 400:
            return failures.redirected(response)
        body = await _head(chunks)
        now, codes = self._run.options.now(), self._dispatch.error_kinds
        return read_failure(response.status_code, response.headers, body, now, codes)

    def _settled(self, pump: Pump) -> list[p.Particle]:
        """A verdict that is not an `End` becomes one, or the request that goes on from here."""
        verdict = pump.verdict
        if isinstance(verdict, Retry):
            return pump.fail("dialect-issue", verdict.error)
        if isinstance(verdict, Continue):
            self._paused = Paused(_patched(self._dispatch, verdict), verdict.reason)
        return []

    def _kept(self, batch: list[p.Particle]) -> list[p.Particle]:
        """The particles to give on: all but an issue that another attempt may make unsaid."""
        for particle in batch:
            if isinstance(particle, p.HandleSet):
                self._run.progress.handle = particle.handle
            elif isinstance(particle, p.Issue) and self._may_hold(particle):
                self._issue = particle
        return batch if self._issue is None else [item for item in batch if item is not self._issue]

    def _may_hold(self, issue: p.Issue) -> bool:
        """Nothing was seen, and no run lives on at the vendor that a second request would double."""
        retryable = issue.error is not None and issue.error.retryable
        return retryable and not self.said_anything and self._run.progress.handle is None

    def _on_bug(self, bug: Exception) -> list[p.Particle]:
        self._run.observer.bug(self._dispatch.label, bug)
        self._paused = None
        error = VendorError(
            message=f"the gateway failed to read the upstream's answer ({type(bug).__name__})",
            kind="protocol",
            code="internal_error",
        )
        self._transmitter.fail("dispatch-parse", error)
        return list(self._transmitter.drain())

    def _step(self, step: Step) -> None:
        self._run.progress.step = step


async def _bytes_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it comes, its content-encoding undone."""
    async for chunk in response.aiter_bytes():
        yield chunk


async def _head(chunks: AsyncIterator[bytes]) -> bytes:
    """The beginning of an error's body; what cannot be read is left out."""
    body = bytearray()
    with suppress(*failures.NETWORK):
        async with asyncio.timeout(_ERROR_BODY_SECONDS):
            async for chunk in chunks:
                body += chunk
                if len(body) >= MAX_ERROR_BODY:
                    break
    return bytes(body[:MAX_ERROR_BODY])


async def _linger(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body, which is near, so that the connection can serve again."""
    with suppress(*failures.NETWORK):
        async with asyncio.timeout(_LINGER_SECONDS):
            while await anext(chunks, b""):
                pass


def _patched(dispatch: Dispatch, pause: Continue) -> Dispatch:
    body = continued(jsontext.loads(dispatch.request.body), pause.patch)
    return replace(dispatch, request=replace(dispatch.request, body=jsontext.dump_bytes(body)))
