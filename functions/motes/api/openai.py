"""OpenAI's endpoints: chat completions, and the list of models.

Must never answer a stream request with one JSON body, nor a failed run with 200: clients take both for an
empty answer.
"""

from contextlib import aclosing

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from motes import jsontext
from motes.api.asking import Asked, ask
from motes.api.auth import authenticate
from motes.api.commit import Refused, commit
from motes.api.envelope import REQUEST_ID
from motes.api.errors import run_failed
from motes.api.gateway import Gateway
from motes.api.streaming import StreamWriter, while_present
from motes.egress.completion import completion
from motes.egress.openai_chat import ChunkEncoder
from motes.reassembly import Reassembler

EVENT_STREAM = "text/event-stream; charset=utf-8"


class ChatCompletions:
    """`POST /v1/chat/completions`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        asked = await ask(self._gateway, scope, receive)
        answer = _stream if asked.request.stream else _whole
        await while_present(receive, answer(asked, scope, receive, send), scope[REQUEST_ID])


async def _stream(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    encoder = ChunkEncoder(asked.reply())
    async with aclosing(asked.particles()) as source:
        outcome = await commit(source, asked.commit_until)
        if isinstance(outcome, Refused):
            await run_failed(outcome.issue)(scope, receive, send)
            return
        writer = StreamWriter(send, encoder, asked.silence)
        await writer.start(EVENT_STREAM, outcome.held)
        await writer.pour(source)


async def _whole(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    reply, reassembler = asked.reply(), Reassembler()
    async with aclosing(asked.particles()) as source:
        async for particle in source:
            reassembler.feed(particle)
    message = reassembler.finalize()
    if message.outcome != "completed":
        await run_failed(message.issue, partial=message.text)(scope, receive, send)
        return
    body = jsontext.dump_bytes(completion(message, reply))
    await Response(body, media_type="application/json")(scope, receive, send)


class Models:
    """`GET /v1/models` and `/v1/models/{id}`; in Anthropic's shape for a client that speaks it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._created = int(gateway.now())

    async def list(self, request: Request) -> Response:
        """Every alias, and every listed model of the vendors that can be asked."""
        await authenticate(request.headers, self._gateway.keys)
        names = self._gateway.catalogue.names(await self._gateway.usable())
        if _is_anthropic(request.headers):
            return _json(_anthropic_page([name for name, _ in names]))
        return _json({"object": "list", "data": [self._model(name, owner) for name, owner in names]})

    async def get(self, request: Request) -> Response:
        """One model, listed or not: a vendor serves whatever name it knows."""
        await authenticate(request.headers, self._gateway.keys)
        name = request.path_params["id"]
        route = self._gateway.catalogue.resolve(name)
        if _is_anthropic(request.headers):
            return _json(_anthropic_model(name))
        return _json(self._model(name, route.vendor.id))

    def _model(self, name: str, owner: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": self._created, "owned_by": owner}


def _json(value: dict[str, object]) -> Response:
    return Response(jsontext.dump_bytes(value), media_type="application/json")


def _is_anthropic(headers: Headers) -> bool:
    return "anthropic-version" in headers


def _anthropic_model(name: str) -> dict[str, object]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _anthropic_page(names: list[str]) -> dict[str, object]:
    return {
        "data": [_anthropic_model(name) for name in names],
        "has_more": False,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }
