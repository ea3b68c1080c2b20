"""One attempt at one dispatch: open, pump, finish.

The boundary between the network and the pure wing. No exception leaves it (cancellation excepted), and it
never says `End` itself: how it came out stands in `outcome`, because the layer above decides whether
there is another attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
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
from motes.executor.decoding import MAX_PIECE, NOT_ENCODED, Decoder, unread
from motes.executor.exchange import Exchange
from motes.executor.policy import is_refusal
from motes.executor.refusal import Refusal
from motes.executor.run import Batch, Run
from motes.pump import Pump
from motes.transmitter import Continue, Retry, Transmitter

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
    """Call `next` until it gives None, then read `outcome`; `close` it whatever happened.

    It goes from stage to stage. Each is a method that gives one batch: send and ask, then refuse, or read
    and unpack.
    """

    def __init__(self, dispatch: Dispatch, run: Run, part: int = 0) -> None:
        self._dispatch = dispatch
        self._run = run
        self._transmitter = Transmitter(run.options.ids_of(part))
        self._pump: Pump
        self._exchange = Exchange(run.http, run.progress.on_sending)
        self._stage: Callable[[Attempt], Awaitable[Batch | None]] = Attempt._send
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._spoke_at = self._started
        self._received = 0
        self._refusal: Refusal | None = None
        self._decoder = NOT_ENCODED
        self._pieces: Iterator[bytes] = iter(())
        self._waits_until: float | None = None
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
        assert end is not None  # noqa: S101 (`next` gave None, and `Pump.close` always gives one)
        return end if self._issue is None else Held(self._issue, end)

    async def next(self) -> Batch | None:
        """What the next read gave, without the `End` and without an issue that is held. Empty where the pulse
        was due first, None at the end.
        """
        try:
            batch = await self._stage(self)
        except Exception as bug:
            # The boundary: a bug of ours ends one run with an issue, and not the process.
            await self._exchange.close()
            self._stage, batch = Attempt._over, self._on_bug(bug)
        return batch and self._kept(batch)

    async def leave(self) -> None:
        """The answer is over and told: wait for the end of the HTTP body, which is near."""
        if not self._cut:
            await self._exchange.drain(_LINGER_SECONDS)

    async def close(self) -> None:
        """Let go of the connection."""
        await self._exchange.close()

    async def _send(self) -> Batch:
        self._run.progress.step = "connecting"
        self._pump = Pump(self._dispatch.demuxer(), self._dispatch.parser(), self._transmitter)
        self._stage = Attempt._ask
        try:
            wire = self._dispatch.sign(self._dispatch.request, self._run.options.now())
            self._exchange.send(wire, self._dispatch.timeouts.connect)
        except failures.NETWORK as failure:
            return self._unanswered(failure)
        return await self._ask()

    async def _ask(self) -> Batch:
        """Wait for the head of the answer."""
        limit = self._limit()
        try:
            response = await self._exchange.response(self._until(limit))
            if response is None:
                return self._in_time(limit)
        except failures.NETWORK as failure:
            return self._unanswered(failure)
        self._run.progress.on_sending()
        if not response.is_success:
            self._refusal = Refusal(response, self._exchange, self._dispatch, self._run)
            self._stage = Attempt._refuse
            return await self._refuse()
        encoding = response.headers.get("content-encoding", "")
        try:
            self._decoder = Decoder(encoding)
        except ValueError:
            self._cut = unread(encoding)
            return self._closed()
        self._stage = Attempt._read
        return await self._read()

    async def _refuse(self) -> Batch:
        """Read what an answer that is no success says."""
        assert self._refusal is not None  # noqa: S101 (`_ask` came before)
        error = await self._refusal.next()
        if error is None:
            return []
        self._stage = Attempt._over
        return self._pump.fail("dispatch-fetch", error)

    async def _read(self) -> Batch:
        """Take the next bytes of the answer."""
        try:
            if self._is_overdue():
                raise TimeoutError
            limit = self._waits_until or self._limit()
            chunk = await self._exchange.read(self._until(limit))
            if chunk is None:
                self._waits_until = limit
                return self._in_time(limit)
        except failures.NETWORK as failure:
            self._cut = self._while_reading(failure)
            return self._closed()
        if not chunk:
            return self._closed()
        self._waits_until = None
        self._took(len(chunk))
        if self._decoder.is_plain:
            return self._fed(chunk)
        self._pieces = self._decoder.pieces(chunk)
        self._stage = Attempt._unpack
        return await self._unpack()

    async def _unpack(self) -> Batch:
        """Take the next piece of what the bytes stand for."""
        try:
            piece = next(self._pieces, b"")
        except httpx.DecodingError as failure:
            self._cut = self._while_reading(failure)
            return self._closed()
        if len(piece) >= MAX_PIECE:
            # A few bytes may become very many: others have their turn in between.
            await asyncio.sleep(0)
        elif not piece:
            self._stage = Attempt._read
        return self._fed(piece)

    async def _over(self) -> None:
        """Nothing more."""

    def _unanswered(self, failure: Exception) -> Batch:
        self._stage = Attempt._over
        return self._pump.fail("dispatch-fetch", failures.before_the_answer(failure, self._dispatch.timeouts))

    def _fed(self, data: bytes) -> Batch:
        batch = self._pump.feed(data)
        if batch:
            self._spoke_at = self._clock()
        return batch if self._pump.verdict is None else batch + self._settled()

    def _closed(self) -> Batch:
        return self._pump.close(self._cut) + self._settled()

    def _settled(self) -> Batch:
        """A verdict that is not an `End` becomes one, or the request that goes on from here."""
        self._stage = Attempt._over
        verdict = self._pump.verdict
        if isinstance(verdict, Retry):
            return self._pump.fail("dialect-issue", verdict.error)
        if isinstance(verdict, Continue):
            self._paused = Paused(_patched(self._dispatch, verdict), verdict.reason)
        return []

    def _until(self, limit: float) -> float:
        """How long to wait for the next byte before the layers above have a turn."""
        return min(limit, self._run.pulse.due)

    def _in_time(self, limit: float) -> Batch:
        """Nothing came. Raises TimeoutError where it is too late for anything."""
        if self._run.pulse.due >= limit:
            raise TimeoutError
        return []

    def _while_reading(self, failure: Exception) -> VendorError:
        if isinstance(failure, TimeoutError) and self._received and self._is_quiet():
            return failures.quiet(self._dispatch.timeouts)
        return failures.while_reading(failure, self._received, self._dispatch.timeouts)

    def _is_overdue(self) -> bool:
        """Whether what comes after the finish reason has had its time, however much of it there is."""
        now = self._clock()
        if self._transmitter.stopped is not None and self._stop_limit is None:
            self._stop_limit = now + min(self._dispatch.timeouts.idle, _AFTER_STOP_SECONDS)
        return self._is_quiet() or (self._stop_limit is not None and now >= self._stop_limit)

    def _is_quiet(self) -> bool:
        """Whether the upstream has shown no more than signs of life for too long."""
        return self._clock() >= self._spoke_at + self._dispatch.timeouts.quiet

    def _limit(self) -> float:
        """Until when the next byte must be here. The time a slow reader takes is not the upstream's."""
        timeouts = self._dispatch.timeouts
        if not self._received:
            return self._started + timeouts.first_byte
        idle = self._clock() + timeouts.idle
        limit = min(idle, self._spoke_at + timeouts.quiet)
        return limit if self._stop_limit is None else min(limit, self._stop_limit)

    def _took(self, size: int) -> None:
        progress = self._run.progress
        self._received += size
        progress.step = "reading"
        progress.received += size
        progress.last_byte_at = self._clock()

    def _kept(self, batch: Batch) -> Batch:
        """The particles to give on: all but an issue that another attempt may make unsaid."""
        for particle in batch:
            if type(particle) is p.Text:
                continue
            if isinstance(particle, p.HandleSet):
                self._run.progress.handle = particle.handle
            elif isinstance(particle, p.Issue) and self._may_hold(particle):
                self._issue = particle
        return batch if self._issue is None else [item for item in batch if item is not self._issue]

    def _may_hold(self, issue: p.Issue) -> bool:
        """Nothing was seen, and no run lives on at the vendor that a second request would double."""
        retryable = issue.error is not None and issue.error.retryable
        if self._dispatch.credential is not None:
            retryable = retryable or is_refusal(issue.error)
        return retryable and not self.said_anything and self._run.progress.handle is None

    def _on_bug(self, bug: Exception) -> Batch:
        self._run.observer.bug(self._dispatch.label, bug)
        self._paused = None
        error = VendorError(
            message=f"the gateway failed to read the upstream's answer ({type(bug).__name__})",
            kind="protocol",
            code="internal_error",
        )
        self._transmitter.fail("dispatch-parse", error)
        return self._transmitter.drain()


def _patched(dispatch: Dispatch, pause: Continue) -> Dispatch:
    body = continued(jsontext.loads(dispatch.request.body), pause.patch)
    return replace(dispatch, request=replace(dispatch.request, body=jsontext.dump_bytes(body)))
