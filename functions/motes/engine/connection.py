"""One connection: requests out, one at a time, and the answers in as they come off the socket.

Everything happens in the callbacks of the event loop: a reader takes what has come, and awaits one future
where nothing has. So a read costs one turn of his own task, and leaving at any moment leaves nothing behind.
Must never hold more of a body than `_ENOUGH` and one read, nor more than `_MAX_HEAD` of what is no body; what
a server does wrong is told in httpx's own classes.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Final, cast

import httptools
import httpx

from motes.chunks import CRLF, SMALL, heads_behind
from motes.engine.alarm import Alarm

_ENOUGH: Final = 64 * 1024
# As h11 has it: heads, trailers and chunk extensions without end are no answer.
_MAX_HEAD: Final = 100 * 1024
_OF_THE_LENGTH: Final = (b"content-length", b"transfer-encoding")

Header = tuple[bytes, bytes]


class Connection(asyncio.Protocol):
    """Made by `opening`; then for each request `send`, `has_answered` until it has, `take` until it gives
    nothing, and `leave`. Where nothing has come, await what `waiting` gives, and look again.

    `on_idle` is called when it can serve again, `on_lost` once when it cannot any more.
    """

    def __init__(self) -> None:
        self.on_idle: Callable[[Connection], None] = _nothing
        self.on_lost: Callable[[Connection], None] = _nothing
        self.idle_since = 0.0
        self.is_closed = False
        self.is_encoded = False
        """Whether the head of the answer names a content-encoding."""
        self.status = 0
        self.reason = b""
        self.headers: list[Header] = []
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._poll: select.poll | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._early: bytes | None = b""
        """What came before the first request; None from then on."""
        self._is_head_request = False
        self._has_head = False
        self._is_complete = False
        self._is_reusable = False
        self._is_until_close = False
        self._is_left = False
        self._parts: list[bytes] = []
        self.on_body: Callable[[bytes], None] = self._parts.append
        """A piece of the body, as the parser says it: no frame a piece."""
        self.on_data: Callable[[bytes], bool] | None = None
        """Takes what has come of the body where somebody waits for it; gives whether he need not be woken."""
        self._size = 0
        """Bytes of the parts, with their framing."""
        self._silent = 0
        """Bytes that came since parts were taken, and held none."""
        self._is_paused = False
        self._failure: httpx.TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._alarm = Alarm(self._loop, self._wake)
        self._lingering: asyncio.TimerHandle | None = None
        self._heads: tuple[bytes, ...] | None = None
        """Those of chunks, by their length, where the parser stands between two of them."""

    # What the pool and the transport do.

    def is_idle(self) -> bool:
        """Whether no request is on its way."""
        return self._parser is None and not self.is_closed

    def has_word(self) -> bool:
        """Whether its server said anything that was not read yet: that it closes, mostly."""
        if self._transport.is_closing():
            return True
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(self._poll.poll(0))

    def send(self, head: bytes, body: bytes, *, is_head_request: bool = False) -> None:
        """One request. The connection must be idle."""
        self.on_body = self._on_unwanted if is_head_request else self._parts.append
        parser = self._parser = httptools.HttpResponseParser(self)
        # What other clients read from a vendor is read here: bare LF, folded lines, a length beside chunks,
        # blanks behind a chunk's size.
        parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
            lenient_version=True,
        )
        self._is_head_request = is_head_request
        self._has_head = self._is_complete = self._is_reusable = self._is_left = False
        self._is_until_close, self._heads = True, None
        self._size, self._silent, self._failure = 0, 0, None
        self.status, self.headers, self.reason, self.is_encoded = 0, [], b"", False
        if not self.is_closed:
            self._transport.writelines([head, body] if body else [head])
        early, self._early = self._early, None
        if early:
            # A server that is too busy to listen answers all the same.
            self.data_received(early)
        if self.is_closed:
            self._let_go()
            if not self._is_complete and self._failure is None:
                self._failure = self._cut(None)

    async def head(self) -> None:
        """Wait for the head of the answer. Raises httpx.TransportError."""
        while not self.has_answered():
            if (waiting := self.waiting(None)) is not None:
                await waiting

    def has_answered(self) -> bool:
        """Whether the head of the answer is there. Raises httpx.TransportError."""
        if not self._has_head and self._failure is not None:
            raise self._failure
        return self._has_head

    def take(self) -> bytes | None:
        """What has come of the body since the last time, nothing at the end, or None where nothing has come
        yet. Raises httpx.TransportError.
        """
        parts = self._parts
        if parts:
            data = b"".join(parts)
            parts.clear()
            self._size = self._silent = 0
            if self._is_paused:
                self._read_on()
            return data
        if self._is_complete:
            return b""
        if self._failure is not None:
            raise self._failure
        return None

    def waiting(self, until: float | None) -> asyncio.Future[None] | None:
        """Done as soon as something comes, or at that time of the loop's clock; None where something is
        there. One timer serves many reads, and the next request's: it is moved on when it comes.
        """
        if self._parts or self._is_complete or self._failure is not None:
            return None
        if until is not None:
            self._alarm.set(until)
        waiter = self._waiter = self._loop.create_future()
        return waiter

    def leave(self, linger: float = 0.0) -> None:
        """The reader is done: serve again where the answer came to its end, else close. For `linger` seconds
        that end may still come; nobody waits for it.
        """
        if self._is_left or self.is_closed:
            return
        self._is_left = True
        if self._is_complete or not linger:
            self._serve_again()
            return
        self.on_data = None
        self._parts.clear()
        self._read_on()
        self._alarm.stop()
        self._lingering = self._loop.call_later(linger, self._on_no_end)

    def close(self) -> None:
        """Close it at once, whatever is on its way."""
        if not self.is_closed:
            self._transport.abort()
            self._lose(None)

    # What the event loop says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        # uvloop's are no subclass of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        size, heads, on_data, waiter = len(data), self._heads, self.on_data, self._waiter
        if heads is not None and size < SMALL:
            head = heads[size]
            body = data.removeprefix(head).removesuffix(CRLF)
            if len(head) + len(body) + 2 == size and on_data is not None and waiter and not waiter.done():
                # One chunk, as of a vendor that takes its time: the parser needs not know of it.
                self._silent = 0
                if not on_data(body):
                    self._wake()
                return
        parser, self._heads = self._parser, None
        if parser is None:
            self._on_unasked(data)
        else:
            self._parse(parser, data, size)

    def eof_received(self) -> bool:
        """See asyncio: what is open at one side only is closed."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        if not self.is_closed:
            self._lose(exc)

    # What the parser says.

    def on_message_begin(self) -> None:
        """An answer begins."""
        if self._is_complete:
            # One after the whole answer is none of ours: nothing of it may be read.
            raise _Unasked
        self.headers, self.reason, self.is_encoded = [], b"", False
        self._is_until_close = True

    def on_status(self, status: bytes) -> None:
        """The words of the status line, maybe in pieces."""
        if not self._has_head:
            self.reason += status

    def on_header(self, name: bytes, value: bytes) -> None:
        """One line of the head, or a trailer."""
        if not self._has_head:
            self.headers.append((name, value))
            if (name := name.lower()) in _OF_THE_LENGTH:
                self._is_until_close = False
            elif name == b"content-encoding":
                self.is_encoded = True

    def on_headers_complete(self) -> None:
        """The head is there, unless it is an interim one (RFC 9110, 15.2)."""
        assert self._parser is not None  # noqa: S101 (it is the one that calls)
        status = self._parser.get_status_code()
        if 100 <= status < 200:
            return
        self.status, self._has_head = status, True
        if self._is_head_request:
            # It has the head of an answer with a body, and no body; the parser would wait for it.
            self._is_complete, self._is_reusable = True, self._parser.should_keep_alive()

    def on_message_complete(self) -> None:
        """The answer is whole."""
        if self._has_head and not self._is_complete:
            assert self._parser is not None  # noqa: S101 (it is the one that calls)
            self._is_complete = True
            self._is_reusable = self._parser.should_keep_alive()
            if self._is_left:
                # Not before all that came with it is read.
                self._loop.call_soon(self._on_late_end)

    # How it is done.

    def _parse(self, parser: httptools.HttpResponseParser, data: bytes, size: int) -> None:
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail(httpx.RemoteProtocolError("the server switched protocols unasked"))
        except httptools.HttpParserError as error:
            self._on_nonsense(error)
        parts, waiter, on_data = self._parts, self._waiter, self.on_data
        if waiter is not None and waiter.done():
            waiter = None
        if not parts:
            self._on_silence(size)
        elif waiter is not None and on_data is not None:
            # Who waits has taken all that came before.
            if size < SMALL:
                self._heads = heads_behind(data, parts[-1])
            body = b"".join(parts)
            parts.clear()
            self._silent = 0
            if on_data(body) and not self._is_complete and self._failure is None:
                return
        else:
            self._size += size
            if self._size >= _ENOUGH:
                self._pause()
        if waiter is not None:
            waiter.set_result(None)

    def _on_no_end(self) -> None:
        # Where the process stood still meanwhile, the end may have come in this very turn.
        if not self._is_complete:
            self.close()

    def _on_late_end(self) -> None:
        if not self.is_closed:
            self._stop_lingering()
            self._serve_again()

    def _serve_again(self) -> None:
        # An answer to a request that is still being sent leaves its rest on the line.
        is_sent = not self._transport.get_write_buffer_size()
        if not (self._is_complete and self._is_reusable and is_sent):
            self.close()
            return
        self._let_go()
        self._parts.clear()
        self._read_on()
        self.idle_since = self._loop.time()
        self.on_idle(self)

    def _on_silence(self, size: int) -> None:
        """Bytes came and none of them was an answer's body."""
        self._silent += size
        if self._silent > _MAX_HEAD and not self._is_complete:
            self._fail(httpx.RemoteProtocolError("more than 100 KiB that are no body"))

    def _pause(self) -> None:
        if not self._is_paused and not self.is_closed:
            self._is_paused = True
            self._transport.pause_reading()

    def _read_on(self) -> None:
        if self._is_paused:
            self._is_paused = False
            if not self.is_closed:
                self._transport.resume_reading()

    def _wake(self) -> None:
        """Whoever waits. He may have been cancelled, or woken before."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _stop_lingering(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None

    def _let_go(self) -> None:
        """Of what holds this connection as this one holds it."""
        self._parser, self.on_body, self.on_data = None, self._parts.append, None
        self._heads = None

    def _on_unwanted(self, _: bytes) -> None:
        """There is a body where none was asked for."""
        self._is_reusable = False

    def _on_unasked(self, data: bytes) -> None:
        """Nobody asked: an answer before the first question is kept for it, all else is a farewell."""
        if self._early is None or len(self._early) + len(data) > _ENOUGH:
            self.close()
        else:
            self._early += data

    def _on_nonsense(self, error: httptools.HttpParserError) -> None:
        if self._is_complete:
            self._is_reusable = False
        elif self.status == 0 and not self.headers and not self.reason:
            self._fail(httpx.RemoteProtocolError("illegal status line"))
        else:
            self._fail(httpx.RemoteProtocolError(str(error)))

    def _fail(self, failure: httpx.TransportError) -> None:
        if self._failure is None:
            self._failure = failure
        self.close()

    def _lose(self, exc: Exception | None) -> None:
        self.is_closed = True
        self._alarm.close()
        self._stop_lingering()
        if self._parser is not None and not self._is_complete and self._failure is None:
            self._failure = self._cut(exc)
        self._let_go()
        self.on_lost(self)
        self._wake()

    def _cut(self, exc: Exception | None) -> httpx.TransportError | None:
        """What it means that the connection is gone; nothing, where the body goes on until then."""
        if exc is not None:
            failure: httpx.TransportError = httpx.ReadError("the connection broke")
            failure.__cause__ = exc
            return failure
        if not self._has_head:
            return httpx.RemoteProtocolError("server disconnected without sending a response")
        if self._is_until_close:
            self._is_complete = True
            return None
        return httpx.RemoteProtocolError("peer closed connection without sending the complete body")


class _Unasked(Exception):
    """Ends the parser's work."""


def _nothing(_: Connection) -> None:
    """Nobody listens."""
