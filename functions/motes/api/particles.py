"""`POST /v1/particles`: the same request body, answered in particles.

A run that fails before anything of it can be seen is an HTTP error here too, in the shape that all errors
have; its particles stand beside the error, so that a reader of particles loses nothing.

Must never leave a particle out but heartbeats, which are sent by time.
"""

from contextlib import aclosing

from starlette.types import Receive, Scope, Send

from motes.api.asking import Asked, ask
from motes.api.commit import Refused, commit
from motes.api.envelope import DEPARTURE, REQUEST_ID
from motes.api.errors import run_failed
from motes.api.gateway import Gateway
from motes.api.headers import forget_headers, headers_of
from motes.api.streaming import StreamWriter, while_present
from motes.egress.particles import EventEncoder, LineEncoder
from motes.executor.run import Lane


class ParticleStream:
    """Newline-delimited JSON, or server-sent events for who accepts those."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        asked = await ask(self._gateway, scope, receive)
        await while_present(
            receive, _stream(asked, scope, receive, send), scope[REQUEST_ID], scope.get(DEPARTURE)
        )


async def _stream(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    events = "text/event-stream" in headers_of(scope).get("accept", "").lower()
    forget_headers(scope)
    lane = Lane()
    async with aclosing(asked.batches(lane)) as source:
        # Made while the vendor thinks.
        encoder = EventEncoder() if events else LineEncoder(0 if asked.terms.is_resumable else None)
        writer = StreamWriter(send, encoder, asked.gateway.silence, scope)
        outcome = await commit(source, asked.commit_until, asked.confirm)
        if isinstance(outcome, Refused):
            await run_failed(outcome.issue, run=outcome.run)(scope, receive, send)
            return
        await writer.start(encoder.media_type, outcome.held)
        asked.look_up_price()
        await writer.pour(source, lane)
