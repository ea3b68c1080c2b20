"""One attempt at one dispatch: open, pump, finish.

The boundary between the network and the pure wing. No exception leaves it (cancellation excepted), and it
never says `End` itself: how it came out stands in `outcome`, because the layer above decides whether
there is another attempt.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Final, TypeAlias

import httpx

from motes import jsontext
from motes import particles as p
from motes.continuation import continued
from motes.dataclass import dataclass
from motes.dispatch import Dispatch
from motes.errors import VendorError
from motes.executor import failures
from motes.executor.decoding import MAX_PIECE, Decoder, unread
from motes.executor.exchange import Exchange
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
        self._spoke_at = self._started
        self._received = 0
        self._stop_limit: float | None = None
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
        exchange = Exchange(self._run.http, self._on_sending)
        try:
            async with aclosing(self._exchanged(exchange, pump)) as batches:
                async for batch in batches:
                    yield batch
        finally:
            await exchange.close()

    async def _exchanged(self, exchange: Exchange, pump: Pump) -> AsyncGenerator[list[p.Particle], None]:
        try:
            response = await exchange.open(self._request(), self._limit())
        except failures.NETWORK as failure:
            error = failures.before_the_answer(failure, self._dispatch.timeouts)
            yield pump.fail("dispatch-fetch", error)
            return
        self._step("waiting")
        if not response.is_success:
            yield pump.fail("dispatch-fetch", await self._refusal(response, exchange))
            return
        async with aclosing(self._pumped(response, exchange, pump)) as batches:
            async for batch in batches:
                yield batch
        yield self._settled(pump)
        if not self._cut:
            await exchange.drain(_LINGER_SECONDS)

    async def _pumped(
        self, response: httpx.Response, exchange: Exchange, pump: Pump
    ) -> AsyncGenerator[list[p.Particle], None]:
        """The answer, to the verdict."""
        encoding = response.headers.get("content-encoding", "")
        try:
            decoder = Decoder(encoding)
        except ValueError:
            self._cut = unread(encoding)
            yield pump.close(self._cut)
            return
        while pump.verdict is None:
            chunk = await self._next(exchange)
            async with aclosing(self._fed(decoder.pieces(chunk), pump)) as batches:
                async for batch in batches:
                    yield batch
                    if batch:
                        self._spoke_at = asyncio.get_running_loop().time()
            if self._cut or not chunk:
                yield pump.close(self._cut)

    async def _fed(self, pieces: Iterator[bytes], pump: Pump) -> AsyncGenerator[list[p.Particle], None]:
        try:
            for piece in pieces:
                yield pump.feed(piece)
                if pump.verdict is not None:
                    return
                if len(piece) >= MAX_PIECE:
                    # A few bytes may become very many: others have their turn in between.
                    await asyncio.sleep(0)
        except httpx.DecodingError as failure:
            self._cut = self._while_reading(failure)

    def _request(self) -> httpx.Request:
        wire = self._dispatch.sign(self._dispatch.request, self._run.options.now())
        return self._run.http.build_request(
            wire.method,
            wire.url,
            headers=wire.raw_headers,
            content=wire.body,
            timeout=httpx.Timeout(None, connect=self._dispatch.timeouts.connect),
        )

    async def _next(self, exchange: Exchange) -> bytes:
        """The next bytes, or none at the end, when `_cut` says whether it was a bad one."""
        try:
            if self._is_overdue():
                raise TimeoutError
            chunk = await exchange.read(self._limit())
        except failures.NETWORK as failure:
            self._cut = self._while_reading(failure)
            return b""
        if chunk:
            self._took(len(chunk))
        return chunk

    def _while_reading(self, failure: Exception) -> VendorError:
        if isinstance(failure, TimeoutError) and self._received and self._is_quiet():
            return failures.quiet(self._dispatch.timeouts)
        return failures.while_reading(failure, self._received, self._dispatch.timeouts)

    def _is_overdue(self) -> bool:
        """Whether what comes after the finish reason has had its time, however much of it there is."""
        now = asyncio.get_running_loop().time()
        if self._transmitter.stopped is not None and self._stop_limit is None:
            self._stop_limit = now + min(self._dispatch.timeouts.idle, _AFTER_STOP_SECONDS)
        return self._is_quiet() or (self._stop_limit is not None and now >= self._stop_limit)

    def _is_quiet(self) -> bool:
        """Whether the upstream has shown no more than signs of life for too long."""
        return asyncio.get_running_loop().time() >= self._spoke_at + self._dispatch.timeouts.quiet

    def _limit(self) -> float:
        """Until when the next byte must be here. The time a slow reader takes is not the upstream's."""
        timeouts = self._dispatch.timeouts
        if not self._received:
            return self._started + timeouts.first_byte
        idle = asyncio.get_running_loop().time() + timeouts.idle
        limit = min(idle, self._spoke_at + timeouts.quiet)
        return limit if self._stop_limit is None else min(limit, self._stop_limit)

    def _took(self, size: int) -> None:
        progress = self._run.progress
        self._received += size
        progress.step = "reading"
        progress.received += size
        progress.last_byte_at = asyncio.get_running_loop().time()

    def _on_sending(self) -> None:
        self._step("waiting")

    async def _refusal(self, response: httpx.Response, exchange: Exchange) -> VendorError:
        """What an answer that is no success says."""
        if response.status_code < 400:
            return failures.redirected(response)
        seconds = min(self._dispatch.timeouts.idle, _ERROR_BODY_SECONDS)
        body = await _head(response, exchange, seconds)
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


async def _head(response: httpx.Response, exchange: Exchange, seconds: float) -> bytes:
    """The beginning of an error's body; what cannot be read, or comes too late, is left out."""
    until = asyncio.get_running_loop().time() + seconds
    body = bytearray()
    with suppress(ValueError, *failures.NETWORK):
        decoder = Decoder(response.headers.get("content-encoding", ""))
        while len(body) < MAX_ERROR_BODY and (chunk := await exchange.read(until)):
            for piece in decoder.pieces(chunk):
                body += piece
                if len(body) >= MAX_ERROR_BODY:
                    break
    return bytes(body[:MAX_ERROR_BODY])


def _patched(dispatch: Dispatch, pause: Continue) -> Dispatch:
    body = continued(jsontext.loads(dispatch.request.body), pause.patch)
    return replace(dispatch, request=replace(dispatch.request, body=jsontext.dump_bytes(body)))
