"""One HTTP request and its response: ASGI's `receive` and `send` over the Runtime API.

Must never end a response without a byte of body: the platform then keeps the client waiting until the
function's time is over (aws/aws-lambda-nodejs-runtime-interface-client#95). The platform does not tell that a
client has gone, so `http.disconnect` means that the platform itself takes nothing more.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from starlette.types import Message, Scope

from motes.api.envelope import REQUEST_ID, envelope_headers
from motes.api.logline import logline
from motes.hosts.exchange import RuntimeGone
from motes.hosts.farewell import Ending
from motes.hosts.runtime import Failure, Invocation, RuntimeAPI, RuntimeRefused, StreamedResponse, prelude

Headers: TypeAlias = list[tuple[bytes, bytes]]

_log = logging.getLogger("motes.host")

# These statuses allow no body, and a response without one is not possible here.
_BODILESS: Final = frozenset({204, 205})


class Cycle:
    """The response to one invocation. `has_ended`: its last byte was sent, or nobody takes it any more."""

    def __init__(self, api: RuntimeAPI, invocation: Invocation, scope: Scope, body: bytes) -> None:
        self._api = api
        self._invocation = invocation
        self._scope = scope
        self._body: bytes | None = body
        self._head: tuple[int, Headers] | None = None
        self._response: StreamedResponse | None = None
        self._is_empty = True
        self.has_ended = False
        self._over = asyncio.Event()

    async def receive(self) -> Message:
        """See ASGI, "HTTP", "Request" and "Disconnect"."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """See ASGI, "HTTP", "Response Start" and "Response Body". What nobody takes any more is dropped."""
        if self.has_ended:
            return
        if message["type"] == "http.response.start" and self._head is None:
            self._head = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body" and self._head is not None:
            data = b"" if self._scope["method"] == "HEAD" else message.get("body", b"")
            with self._as_long_as_it_is_taken():
                await (self._piece(data) if message.get("more_body") else self._complete(data))
        else:
            raise RuntimeError(f"{message['type']!r} has no place here")

    async def conclude(self, ending: Ending) -> None:
        """End the response, if the app did not."""
        if self.has_ended:
            return
        with self._as_long_as_it_is_taken():
            if self._response is None:
                self._head = ending.status, self._headers_of_our_own()
                await self._complete(ending.json)
            else:
                words = ending.last_words(self._scope["path"], self._content_type())
                await self._complete(words, Failure(ending.type, ending.error.message))

    def close(self) -> None:
        """Let go of the connection."""
        self.has_ended = True
        self._over.set()
        if self._response is not None:
            self._response.close()

    async def _piece(self, data: bytes) -> StreamedResponse:
        self._is_empty = self._is_empty and not data
        if self._response is None:
            assert self._head is not None  # noqa: S101 (whoever has a body to send has set the head)
            self._response = await self._api.stream(self._invocation, prelude(*self._head), data)
        elif data:
            await self._response.write(data)
        return self._response

    async def _complete(self, last: bytes, failure: Failure | None = None) -> None:
        self.has_ended = True
        if self._is_empty and not last:
            last = self._something()
        response = await self._piece(last)
        await response.finish(failure)
        self._over.set()

    def _something(self) -> bytes:
        """One byte, and a head that goes with it."""
        if self._head is not None:
            status, headers = self._head
            length = [(name, value) for name, value in headers if name.lower() != b"content-length"]
            self._head = 200 if status in _BODILESS else status, length
        return b"\n"

    @contextmanager
    def _as_long_as_it_is_taken(self) -> Iterator[None]:
        try:
            yield
        except (RuntimeGone, RuntimeRefused) as error:
            _log.warning(logline("response_refused", reason=str(error)))
            self.has_ended = True
            self._over.set()

    def _headers_of_our_own(self) -> Headers:
        id = self._scope.get(REQUEST_ID, self._invocation.request_id)
        told = {"content-type": "application/json", **envelope_headers(id)}
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told.items()]

    def _content_type(self) -> str:
        headers = self._head[1] if self._head else []
        return b"".join(value for name, value in headers if name.lower() == b"content-type").decode("latin-1")
