"""The client of the Lambda Runtime API: take an invocation, answer it whole or as a stream.

Must never wait on `next` with a time-out, nor say anything about an invocation twice: the platform answers a
second word with 403.

Source: AWS Lambda developer guide, "Using the Lambda runtime API" and "Building a custom runtime" with
"Response streaming" (read 2026-11-29).
"""

import asyncio
import base64
import json
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import field
from typing import Final

from motes import __version__
from motes.dataclass import dataclass
from motes.hosts.exchange import Answer, Exchange, RuntimeGone, chunk, connect, connected, head, last_chunk

_ROOT: Final = "/2018-06-01/runtime"
_ACCEPTED: Final = 202
_JSON: Final = "application/json"
_HTTP_RESPONSE: Final = "application/vnd.awslambda.http-integration-response"
_ERROR_TYPE: Final = "Lambda-Runtime-Function-Error-Type"
_ERROR_BODY: Final = "Lambda-Runtime-Function-Error-Body"
_INVOCATION_ID: Final = "Lambda-Runtime-Invocation-Id"
# Between the prelude, which is JSON and so without a NUL, and the body.
_PRELUDE_END: Final = bytes(8)
# They speak of one connection, and ours is not the client's.
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)


class RuntimeRefused(Exception):
    """The Runtime API did not accept what it was told."""

    def __init__(self, what: str, answer: Answer) -> None:
        super().__init__(f"{what}: status {answer.status}: {answer.body[:200]!r}")
        self.status = answer.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One invocation. `deadline`, when the platform kills it, is a time of the event loop's clock."""

    request_id: str
    deadline: float
    event: bytes = field(repr=False)
    arn: str | None = None
    trace_id: str | None = None
    tenant_id: str | None = None
    invocation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, for the platform. It shows this to whoever invoked the function, so no secrets."""

    type: str
    message: str

    @property
    def json(self) -> bytes:
        """As the platform reads it. The stack is for the log alone."""
        told = {"errorMessage": self.message, "errorType": self.type, "stackTrace": []}
        return json.dumps(told).encode()


class RuntimeAPI:
    """The API at `host:port`. Every method raises RuntimeGone or RuntimeRefused."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def next(self) -> Invocation:
        """Wait for an invocation."""
        answer = await self._get("/invocation/next")
        try:
            return _invocation(answer)
        except (KeyError, ValueError) as error:
            raise RuntimeGone(f"an invocation that cannot be read: {error!r}") from error

    async def restored(self) -> None:
        """Say that a snapshot may be taken; returns in the life after it."""
        await self._get("/restore/next")

    async def respond(self, invocation: Invocation, body: bytes) -> None:
        """Answer with one JSON text: what is due to an event that is not HTTP."""
        headers = [("Content-Type", _JSON), *_echo(invocation)]
        await self._post(f"/invocation/{invocation.request_id}/response", headers, body)

    async def fail(self, invocation: Invocation, failure: Failure) -> None:
        """Answer with an error. Only as long as nothing else was answered."""
        path = f"/invocation/{invocation.request_id}/error"
        await self._post(path, [*_told(failure), *_echo(invocation)], failure.json)

    async def init_failed(self, failure: Failure) -> None:
        """Say that this process will never take an invocation."""
        await self._post("/init/error", _told(failure), failure.json)

    async def restore_failed(self, failure: Failure) -> None:
        """Say that this process did not come back from its snapshot."""
        await self._post("/restore/error", _told(failure), failure.json)

    async def stream(self, invocation: Invocation, prelude: bytes, first: bytes) -> "StreamedResponse":
        """Begin a streamed HTTP answer with these first bytes of its body, if any."""
        exchange = await connect(self._address)
        headers = [
            *self._addressed(),
            ("Content-Type", _HTTP_RESPONSE),
            ("Lambda-Runtime-Function-Response-Mode", "streaming"),
            ("Transfer-Encoding", "chunked"),
            ("Trailer", f"{_ERROR_TYPE}, {_ERROR_BODY}"),
            *_echo(invocation),
        ]
        opening = head("POST", f"{_ROOT}/invocation/{invocation.request_id}/response", headers)
        with ExitStack() as undo:
            undo.callback(exchange.close)
            await exchange.send(opening + chunk(prelude) + chunk(first))
            undo.pop_all()
        return StreamedResponse(exchange)

    async def _get(self, path: str) -> Answer:
        async with connected(self._address) as exchange:
            await exchange.send(head("GET", _ROOT + path, self._addressed()))
            answer = await exchange.answer()
        if answer.status != 200:
            raise RuntimeRefused(path, answer)
        return answer

    async def _post(self, path: str, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        sent = [*self._addressed(), ("Content-Length", str(len(body))), *headers]
        async with connected(self._address) as exchange:
            await exchange.send(head("POST", _ROOT + path, sent) + body)
            _accepted(path, await exchange.answer())

    def _addressed(self) -> list[tuple[str, str]]:
        agent = f"motes/{__version__}"
        return [("Host", self._address), ("User-Agent", agent), ("Connection", "close")]


class StreamedResponse:
    """A streamed answer on its way. One message of the app is one chunk; the borders carry no meaning."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def write(self, data: bytes) -> None:
        """Send a piece of the body; waits while the client is slower than we are."""
        await self._exchange.send(chunk(data))

    async def finish(self, failure: Failure | None = None) -> None:
        """End the body, with the reason where it did not come to its proper end.

        The reason goes into trailers: the status is long with the client, and only a caller who invokes the
        function through the AWS API can read them.
        """
        trailers = [] if failure is None else [(_ERROR_TYPE, failure.type), (_ERROR_BODY, _armoured(failure))]
        await self._exchange.send(last_chunk(trailers))
        _accepted("response", await self._exchange.answer())

    def close(self) -> None:
        """Let go of it, finished or not."""
        self._exchange.close()


def prelude(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Status, headers and cookies of a streamed HTTP answer, as the platform wants them before the body."""
    cookies: list[str] = []
    fields: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name == "set-cookie":
            cookies.append(value)
        elif name not in _HOP_BY_HOP:
            fields[name] = f"{fields[name]}, {value}" if name in fields else value
    fields.setdefault("content-type", "application/octet-stream")
    told: dict[str, object] = {"statusCode": status, "headers": fields}
    if cookies:
        told["cookies"] = cookies
    return json.dumps(told).encode() + _PRELUDE_END


def _invocation(answer: Answer) -> Invocation:
    told = answer.headers
    left = int(told["lambda-runtime-deadline-ms"]) / 1000 - time.time()
    return Invocation(
        request_id=told["lambda-runtime-aws-request-id"],
        deadline=asyncio.get_running_loop().time() + left,
        event=answer.body,
        arn=told.get("lambda-runtime-invoked-function-arn"),
        trace_id=told.get("lambda-runtime-trace-id"),
        tenant_id=told.get("lambda-runtime-aws-tenant-id"),
        invocation_id=told.get("lambda-runtime-invocation-id"),
    )


def _told(failure: Failure) -> list[tuple[str, str]]:
    return [("Content-Type", _JSON), (_ERROR_TYPE, failure.type)]


def _echo(invocation: Invocation) -> list[tuple[str, str]]:
    """An id that the platform gives with an invocation and wants back with the answer."""
    given = invocation.invocation_id
    return [] if given is None else [(_INVOCATION_ID, given)]


def _armoured(failure: Failure) -> str:
    """Base64, since a line break would end the trailer."""
    return base64.b64encode(failure.json).decode()


def _accepted(what: str, answer: Answer) -> None:
    if answer.status != _ACCEPTED:
        raise RuntimeRefused(what, answer)
