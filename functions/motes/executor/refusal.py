"""What an answer that is no success says: its status, and the head of its body.

Must never hold more of the body than `MAX_BODY`, nor wait for it for long.
"""

import asyncio
from typing import Final

import httpx

from motes.dispatch import Dispatch
from motes.errors import VendorError
from motes.executor import failures
from motes.executor.decoding import Decoder
from motes.executor.exchange import Exchange
from motes.executor.run import Run
from motes.vendor_errors import read_failure

MAX_BODY: Final = 64 * 1024
# The status is known; its words are worth waiting for, but not for long.
_SECONDS: Final = 5.0


class Refusal:
    """Call `next` until it gives the error."""

    def __init__(self, response: httpx.Response, exchange: Exchange, dispatch: Dispatch, run: Run) -> None:
        self._response = response
        self._exchange = exchange
        self._dispatch = dispatch
        self._run = run
        self._body = bytearray()
        self._decoder: Decoder | None = None
        self._until = asyncio.get_running_loop().time() + min(dispatch.timeouts.idle, _SECONDS)

    async def next(self) -> VendorError | None:
        """One read. None where the pulse was due first, or where there is more to read."""
        if self._response.status_code < 400:
            return failures.redirected(self._response)
        try:
            if await self._reads_on():
                return None
        except (ValueError, *failures.NETWORK):
            # What cannot be read is left out.
            pass
        status, headers = self._response.status_code, self._response.headers
        body = bytes(self._body[:MAX_BODY])
        return read_failure(status, headers, body, self._run.options.now(), self._dispatch.error_kinds)

    async def _reads_on(self) -> bool:
        due = self._run.pulse.due
        if self._decoder is None:
            self._decoder = Decoder(self._response.headers.get("content-encoding", ""))
        chunk = await self._exchange.read(min(self._until, due))
        if chunk is None:
            return due < self._until
        for piece in self._decoder.pieces(chunk):
            self._body += piece
            if len(self._body) >= MAX_BODY:
                return False
        return bool(chunk)
