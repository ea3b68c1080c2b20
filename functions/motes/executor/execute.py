"""One attempt at one dispatch: open, pump, finish.

The boundary between the network and the pure wing. No exception leaves it (cancellation excepted), and it
never says `End` itself: how it came out stands in `outcome`, because the layer above decides whether
there is another attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from math import inf
from typing import Final, TypeAlias

import httpx

from motes import jsontext
from motes import particles as p
from motes.continuation import continued
from motes.dataclass import dataclass
from motes.dispatch import Dispatch, unsigned
from motes.errors import VendorError
from motes.executor import failures
from motes.executor.decoding import MAX_PIECE, NOT_ENCODED, Decoder, unread
from motes.executor.exchange import Exchange
from motes.executor.policy import is_refusal
from motes.executor.refusal import Refusal
from motes.executor.run import NO_LANE, Batch, Lane, Run, Turn
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
    """Call `turn` until it is over, when `on_over` is called; then read `outcome`. `close` it whatever
    happened. `ahead` is its request, where that is on its way.

    It goes from stage to stage. Each is a method that gives one batch, or what it waits for: send and ask,
    then refuse, or read and unpack.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        run: Run,
        on_over: Callable[[], None],
        part: int = 0,
        lane: Lane = NO_LANE,
        ahead: Exchange | None = None,
    ) -> None:
        self._dispatch, self._timeouts = dispatch, dispatch.timeouts
        self._run, self._on_over, self._lane = run, on_over, lane
        self._transmitter = Transmitter(run.options.ids_of(part))
        self._pump: Pump
        self._exchange = ahead or Exchange(run.http, run.progress.on_sending)
        self._is_ahead = ahead is not None
        self._stage: Callable[[Attempt], Turn] = Attempt._send
        self._clock = run.clock
        self._started = self._clock()
        self._told_at = self._started
        """When the upstream showed more than signs of life for the last time."""
        self._progress, self._pulse = run.progress, run.pulse
        self._refusal: Refusal | None = None
        self._decoder = NOT_ENCODED
        self._pieces: Iterator[bytes] = iter(())
        self._since = self._started
        """When this read began, unless bytes came later that have passed."""
        self._look_at = 0.0
        """Before this nothing can be too late, as the limits and the pulse stood at a look: they move on."""
        self._stop_limit = inf
        self._cut: VendorError | None = None
        self._issue: p.Issue | None = None
        self._paused: Paused | None = None
        self._bug: Exception | None = None
        self._has_bytes = self._is_over = False

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
        assert end is not None  # noqa: S101 (it is over, and `Pump.close` always gives one)
        return end if self._issue is None else Held(self._issue, end)

    def turn(self) -> Turn:
        """What the next read gave, without the `End` and without an issue that is held. Empty where the pulse
        was due first, or the end has nothing more to say. Or what there is to wait for: should that raise,
        call `fail`.
        """
        try:
            turn = self._stage(self)
        except Exception as bug:
            # The boundary: a bug of ours ends one run with an issue, and not the process.
            self.fail(bug)
            turn = self._stage(self)
        return self._last(turn) if self._is_over and isinstance(turn, list) else turn

    def fail(self, bug: Exception) -> None:
        """A bug of ours: the next turns end the attempt."""
        self._stage = Attempt._break_off if self._bug is None else Attempt._on_bug
        self._bug = self._bug or bug
        self._is_over = False

    async def leave(self) -> None:
        """The answer is over and told: wait for the end of the HTTP body, which is near. Who does not want to
        wait closes at once, and the connection waits by itself.
        """
        if not self._cut:
            await self._exchange.drain(_LINGER_SECONDS)

    def close(self) -> Awaitable[None]:
        """Let go of the connection, and of who waits for the end."""
        self._on_over = _nobody
        return self._exchange.close(_LINGER_SECONDS if self._is_over and not self._cut else 0.0)

    def _send(self) -> Turn:
        self._pump = Pump(self._dispatch.demuxer(), self._dispatch.parser(), self._transmitter)
        self._progress.on_reading(self._pump)
        self._stage = Attempt._ask
        if self._is_ahead:
            return self._ask()
        self._progress.step = "connecting"
        try:
            wire, sign = self._dispatch.request, self._dispatch.sign
            if sign is not unsigned:
                wire = sign(wire, self._run.options.now())
            self._exchange.send(wire, self._timeouts.connect)
        except failures.NETWORK as failure:
            return self._unanswered(failure)
        return self._ask()

    def _ask(self) -> Turn:
        """Wait for the head of the answer."""
        exchange = self._exchange
        try:
            if not exchange.has_answered():
                return self._waiting(self._started + self._timeouts.first_byte)
        except failures.NETWORK as failure:
            return self._unanswered(failure)
        self._progress.on_sending()
        if not 200 <= exchange.status < 300:
            self._refusal = Refusal(exchange, self._dispatch, self._run)
            self._stage = Attempt._refuse
            return self._refuse()
        if encoding := exchange.encoding:
            try:
                decoder = Decoder(encoding)
            except ValueError:
                self._cut = unread(encoding)
                return self._closed()
            if not decoder.is_plain:
                self._decoder = decoder
                self._progress.on_reading(decoder)
        return self._listen()

    def _refuse(self) -> Turn:
        """Read what an answer that is no success says."""
        assert self._refusal is not None  # noqa: S101 (`_ask` came before)
        try:
            if not self._refusal.is_read():
                return self._waiting(self._refusal.until)
        except TimeoutError:
            # What has come by now is all.
            pass
        return self._failed("dispatch-fetch", self._refusal.error())

    def _listen(self) -> Turn:
        """A read begins. The time a slow reader takes is not the upstream's."""
        now = self._since = self._clock()
        self._stage = Attempt._read
        if now < self._look_at and self._transmitter.stopped is None:
            waiting = self._exchange.waiting(self._look_at)
            return self._read() if waiting is None else waiting
        return self._broken(TimeoutError()) if self._is_overdue(now) else self._read()

    def _read(self) -> Turn:
        """Take the next bytes of the answer."""
        try:
            chunk = self._exchange.take()
            if chunk is None:
                return self._waiting(self._limit())
        except failures.NETWORK as failure:
            return self._broken(failure)
        if not chunk:
            return self._closed()
        self._stage, progress = Attempt._listen, self._progress
        now = progress.last_byte_at = self._clock()
        if not self._has_bytes:
            # The limit of the first byte was another one.
            self._has_bytes, progress.step, self._look_at = True, "reading", 0.0
            if self._lane is not NO_LANE and self._decoder is NOT_ENCODED:
                self._exchange.tap(self._has_passed)
        if self._decoder is not NOT_ENCODED:
            self._pieces = self._decoder.pieces(chunk)
            return self._unpack()
        batch, said = self._pump.feed(chunk), self._transmitter
        if batch:
            self._told_at = now
        # What is asked first saves a frame: this is what most reads come to.
        return batch if said.verdict is None and said.upstream_handle is None else self._told(batch)

    def _has_passed(self, chunk: bytes) -> bool:
        """Whether bytes need nobody to be woken. As `_read`, within a callback of the connection."""
        try:
            said, progress, lane = self._transmitter, self._progress, self._lane
            now = progress.last_byte_at = self._clock()
            self._pump.hear(chunk)
            # What has more to say than words is heard by the layers above.
            if said.stopped is None and said.verdict is None and said.upstream_handle is progress.handle:
                if said.queue:
                    batch = said.queue = said.drain()
                    if lane.passes(batch, now):
                        said.queue = []
                        return True
                elif not said.words or lane.says(said.words, now):
                    said.words = ""
                    return True
            self._stage = Attempt._give
        except Exception as bug:
            # The boundary: see `turn`.
            self.fail(bug)
        return False

    def _give(self) -> Batch:
        self._stage = Attempt._listen
        batch = self._transmitter.drain()
        if batch:
            self._told_at = self._progress.last_byte_at or self._told_at
        return self._told(batch)

    def _unpack(self) -> Turn:
        """Take the next piece of what the bytes stand for."""
        self._stage = Attempt._unpack
        try:
            piece = next(self._pieces, b"")
        except httpx.DecodingError as failure:
            return self._broken(failure)
        if len(piece) >= MAX_PIECE:
            # A few bytes may become very many: others have their turn in between.
            self._stage = Attempt._give_way
        elif not piece:
            self._stage = Attempt._listen
        if batch := self._pump.feed(piece):
            self._told_at = self._clock()
        return self._told(batch)

    def _give_way(self) -> Turn:
        self._stage = Attempt._unpack
        return asyncio.sleep(0)

    def _unanswered(self, failure: Exception) -> Batch:
        return self._failed("dispatch-fetch", failures.before_the_answer(failure, self._timeouts))

    def _failed(self, phase: p.Phase, error: VendorError) -> Batch:
        self._is_over = True
        return self._pump.fail(phase, error)

    def _told(self, batch: Batch) -> Batch:
        """What the pump gave, after what else it says was heard."""
        self._progress.handle = self._transmitter.upstream_handle or self._progress.handle
        return batch if self._transmitter.verdict is None else batch + self._settled()

    def _broken(self, failure: Exception) -> Batch:
        if isinstance(failure, TimeoutError) and self._has_bytes and self._clock() >= self._quiet_at():
            self._cut = failures.quiet(self._timeouts)
        else:
            received = self._progress.received - self._progress.earlier
            self._cut = failures.while_reading(failure, received, self._timeouts)
        return self._closed()

    def _closed(self) -> Batch:
        return self._told(self._pump.close(self._cut))

    def _settled(self) -> Batch:
        """A verdict that is not an `End` becomes one, or the request that goes on from here."""
        self._is_over = True
        verdict = self._transmitter.verdict
        if isinstance(verdict, Retry):
            return self._pump.fail("dialect-issue", verdict.error)
        if isinstance(verdict, Continue):
            self._paused = Paused(_patched(self._dispatch, verdict), verdict.reason)
        return []

    def _waiting(self, limit: float) -> Turn:
        """Wait for what is to come until then, and no longer than until the layers above have a turn. Raises
        TimeoutError where it is too late for anything.
        """
        due = self._pulse.due
        until = due if due < limit else limit
        if self._clock() < until:
            self._look_at = until
            # None has nobody to wait for: look again.
            return self._exchange.waiting(until) or []
        if due >= limit:
            raise TimeoutError
        return []

    def _is_overdue(self, now: float) -> bool:
        """Whether the upstream has said nothing for too long, or what comes after the finish reason has had
        its time, however much of it there is.
        """
        if self._transmitter.stopped is not None and self._stop_limit == inf:
            self._stop_limit = now + min(self._timeouts.idle, _AFTER_STOP_SECONDS)
        return now >= min(self._quiet_at(), self._stop_limit)

    def _limit(self) -> float:
        """Until when this read must give something."""
        if not self._has_bytes:
            return self._started + self._timeouts.first_byte
        since = max(self._since, self._progress.last_byte_at or 0.0)
        return min(since + self._timeouts.idle, self._quiet_at(), self._stop_limit)

    def _quiet_at(self) -> float:
        """When the upstream has shown no more than signs of life for too long."""
        return max(self._told_at, self._lane.at) + self._timeouts.quiet

    def _last(self, batch: Batch) -> Batch:
        """The last particles to give on: all but an issue that another attempt may make unsaid."""
        self._on_over()
        issue = self._transmitter.failed_with
        if issue is None or not self._may_hold(issue):
            return batch
        self._issue = issue
        return [particle for particle in batch if particle is not issue]

    def _may_hold(self, issue: p.Issue) -> bool:
        """Nothing was seen, and no run lives on at the vendor that a second request would double."""
        retryable = issue.error is not None and issue.error.retryable
        if self._dispatch.credential is not None:
            retryable = retryable or is_refusal(issue.error)
        return retryable and not self.said_anything and self._progress.handle is None

    def _break_off(self) -> Turn:
        self._stage = Attempt._on_bug
        return self._exchange.close()

    def _on_bug(self) -> Batch:
        bug = self._bug
        assert bug is not None  # noqa: S101 (for the type: `fail` came before)
        self._run.observer.bug(self._dispatch.label, bug)
        self._is_over, self._paused = True, None
        error = VendorError(
            message=f"the gateway failed to read the upstream's answer ({type(bug).__name__})",
            kind="protocol",
            code="internal_error",
        )
        self._transmitter.fail("dispatch-parse", error)
        return self._transmitter.drain()


async def waited(turn: Awaitable[object], fail: Callable[[Exception], None]) -> None:
    """Wait for what a turn gave to be awaited."""
    try:
        await turn
    except Exception as bug:
        # The boundary, as for what gave it.
        fail(bug)


def _nobody() -> None:
    """Nobody wants to know."""


def _patched(dispatch: Dispatch, pause: Continue) -> Dispatch:
    body = continued(jsontext.loads(dispatch.request.body), pause.patch)
    return replace(dispatch, request=replace(dispatch.request, body=jsontext.dump_bytes(body)))
