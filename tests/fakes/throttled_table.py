"""DynamoDB that refuses one request in so many: a real server of its protocol, behind a gate."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from fakes.http_server import Answer, Asked, answering

_REFUSAL = (
    b'{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"no"}'
)
_HOP_BY_HOP = frozenset({"connection", "host", "content-length", "expect", "accept-encoding"})


@contextmanager
def throttled(address: str, share: float, seed: int) -> Iterator[str]:
    """The gate to that address; gives its own. `share` of the requests go no further."""
    chance = random.Random(seed)
    clients: list[httpx.AsyncClient] = []

    async def answer(asked: Asked) -> Answer:
        if chance.random() < share:
            return 400, _REFUSAL
        if not clients:
            clients.append(httpx.AsyncClient(trust_env=False, timeout=30))
        headers = {name: value for name, value in asked.headers.items() if name not in _HOP_BY_HOP}
        passed = await clients[0].request(
            asked.method, f"{address}{asked.path}", content=asked.body, headers=headers
        )
        return passed.status_code, passed.content

    async def close() -> None:
        for client in clients:
            await client.aclose()

    with answering(answer, close) as port:
        yield f"http://127.0.0.1:{port}"
