"""OpenAI's endpoint for chat completions.

Must never answer a stream request with one JSON body, nor a failed run with 200: clients take both for an
empty answer.
"""

from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from motes import jsontext
from motes import particles as p
from motes.api.asking import Asked, ask
from motes.api.commit import Refused, commit
from motes.api.envelope import DEPARTURE, REQUEST_ID
from motes.api.errors import run_failed
from motes.api.gateway import Gateway
from motes.api.headers import forget_headers
from motes.api.streaming import Encoder, StreamWriter, while_present
from motes.egress.completion import completion
from motes.egress.openai_chat import ChunkEncoder
from motes.executor.run import Lane
from motes.reassembly import Reassembler

EVENT_STREAM = "text/event-stream; charset=utf-8"


class ChatCompletions:
    """`POST /v1/chat/completions`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        asked = await ask(self._gateway, scope, receive)
        forget_headers(scope)
        answer = _stream if asked.is_stream else _whole
        await while_present(
            receive, answer(asked, scope, receive, send), scope[REQUEST_ID], scope.get(DEPARTURE)
        )


async def _stream(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    lane = Lane()
    source = asked.batches(lane)
    try:
        # Made while the vendor thinks.
        writer = StreamWriter(send, _encoder(asked), asked.gateway.silence, scope)
        outcome = await commit(source, asked.commit_until, asked.confirm)
        if isinstance(outcome, Refused):
            await run_failed(outcome.issue)(scope, receive, send)
            return
        await writer.start(EVENT_STREAM, outcome.held)
        asked.look_up_price()
        await writer.pour(source, lane)
    finally:
        await source.aclose()


def _encoder(asked: Asked) -> Encoder:
    """A stream that can be joined again says with each event how far it comes."""
    chunks = ChunkEncoder(asked.reply)
    if not asked.terms.is_resumable:
        return chunks
    from motes.egress.numbers import NumberedChunks

    return NumberedChunks(chunks)


async def _whole(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    reply, reassembler = asked.reply, Reassembler()
    is_confirmed = visible = False
    async with aclosing(asked.batches()) as source:
        async for batch in source:
            if not is_confirmed:
                await asked.confirm()
                is_confirmed = True
            for particle in batch:
                reassembler.feed(particle)
            if not visible and any(map(p.is_visible, batch)):
                visible = True
                asked.look_up_price()
    message = reassembler.finalize()
    if not message.is_whole:
        failed = run_failed(message.issue, partial=message.text, visible=visible)
        await failed(scope, receive, send)
        return
    body = jsontext.dump_bytes(completion(message, reply))
    await Response(body, media_type="application/json")(scope, receive, send)
