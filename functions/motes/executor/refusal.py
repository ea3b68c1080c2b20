"""What an answer that is no success says: its status, and the head of its body.

Must never hold more of the body than `MAX_BODY`, nor wait for it for long.
"""

import asyncio
from typing import Final

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
    """Call `is_read` whenever something has come, and no later than `until`; then `error`."""

    def __init__(self, exchange: Exchange, dispatch: Dispatch, run: Run) -> None:
        self.until = asyncio.get_running_loop().time() + min(dispatch.timeouts.idle, _SECONDS)
        self._response = exchange.response
        self._exchange = exchange
        self._dispatch = dispatch
        self._run = run
        self._body = bytearray()
        self._decoder: Decoder | None = None

    def is_read(self) -> bool:
        """Whether there is nothing more to wait for. What cannot be read is left out."""
        if self._response.status_code < 400:
            return True
        try:
            return self._is_read()
        except (ValueError, *failures.NETWORK):
            return True

    def error(self) -> VendorError:
        """What it says, as far as it was read."""
        status, headers = self._response.status_code, self._response.headers
        if status < 400:
            return failures.redirected(self._response)
        body = bytes(self._body[:MAX_BODY])
        return read_failure(status, headers, body, self._run.options.now(), self._dispatch.error_kinds)

    def _is_read(self) -> bool:
        if self._decoder is None:
            self._decoder = Decoder(self._exchange.encoding)
        while chunk := self._exchange.take():
            for piece in self._decoder.pieces(chunk):
                self._body += piece
                if len(self._body) >= MAX_BODY:
                    return True
        return chunk is not None
