"""Apps for the streaming host that do what ours never should, run as `python lambda_apps.py <service>`.

Plain ASGI, so that nothing stands between what they do and the host.
"""

import asyncio
import gc
import json
import logging
import random
import ssl
import sys
import time
from typing import Any

import httpx

from motes.api.logline import logline
from motes.hosts.stream import Service, gateway_service, main

_SSE = "text/event-stream"
_LINES = "application/x-ndjson"


class Odd:
    """Each path is another way to answer."""

    def __init__(self) -> None:
        self.startups = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
            return
        name = scope["path"].strip("/").split("/")[0].replace("-", "_")
        await getattr(self, f"_{name}")(scope, receive, send)

    async def _lifespan(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        self.startups += 1
        scope["state"]["startups"] = self.startups
        await send({"type": "lifespan.startup.complete"})
        await receive()
        logging.getLogger("odd").warning(logline("shut_down"))
        await send({"type": "lifespan.shutdown.complete"})

    async def _echo(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        told = {
            name: scope[name]
            for name in ("method", "path", "scheme", "client", "server", "state", "type", "http_version")
        }
        told["query_string"] = scope["query_string"].decode()
        told["raw_path"] = scope["raw_path"].decode()
        told["headers"] = [[name.decode(), value.decode()] for name, value in scope["headers"]]
        told["body"] = message["body"].hex()
        told["left"] = scope["extensions"]["motes.deadline"]["at"] - asyncio.get_running_loop().time()
        told["names"] = sorted(scope)
        await _whole(send, 200, json.dumps(told).encode())

    async def _cookies(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [
            (b"Set-Cookie", b"a=1; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT"),
            (b"x-twice", b"one"),
            (b"set-cookie", b"b=2"),
            (b"X-Twice", b"two"),
            (b"connection", b"keep-alive"),
        ]
        await _whole(send, 201, b"baked", headers)

    async def _nothing(self, scope: Any, receive: Any, send: Any) -> None:
        """No body, with the status that stands in the path."""
        status = int(scope["path"].rpartition("/")[2])
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async def _nothing_slowly(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _raise(self, scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a private word")

    async def _raise_after_the_head(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("a private word")

    async def _raise_in_a_stream(self, scope: Any, receive: Any, send: Any) -> None:
        await _part(send, _SSE, b'data: {"n":1}\n\n')
        raise RuntimeError("a private word")

    async def _raise_in_lines(self, scope: Any, receive: Any, send: Any) -> None:
        await _part(send, _LINES, b'{"t":"so far"}\n')
        raise RuntimeError("a private word")

    async def _events(self, scope: Any, receive: Any, send: Any) -> None:
        """Under a path that ends in /particles."""
        await _part(send, _SSE, b'id: 1\ndata: {"t":"so far"}\n\n')
        raise RuntimeError("a private word")

    async def _raise_in_text(self, scope: Any, receive: Any, send: Any) -> None:
        await _part(send, "text/plain", b"so far")
        raise RuntimeError("a private word")

    async def _say_nothing(self, scope: Any, receive: Any, send: Any) -> None:
        return

    async def _leave(self, scope: Any, receive: Any, send: Any) -> None:
        await _part(send, _SSE, b'data: {"n":1}\n\n')

    async def _misspeak(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.body", "body": b"before the head"})

    async def _hang(self, scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3600)

    async def _hang_in_a_stream(self, scope: Any, receive: Any, send: Any) -> None:
        await _part(send, _SSE, b'data: {"n":1}\n\n')
        await asyncio.sleep(3600)

    async def _block(self, scope: Any, receive: Any, send: Any) -> None:
        """Nothing of the process lives on while this runs."""
        await _part(send, _SSE, b'data: {"n":1}\n\n')
        time.sleep(3600)  # noqa: ASYNC251

    async def _flood(self, scope: Any, receive: Any, send: Any) -> None:
        """So many MiB as the path says, until nobody takes them."""
        log = logging.getLogger("odd")
        await receive()
        gone = asyncio.create_task(receive())
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}
        )
        for _ in range(16 * int(scope["path"].rpartition("/")[2])):
            await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
            await asyncio.sleep(0)
            if gone.done():
                log.warning(logline("departed", type=gone.result()["type"]))
                return
        gone.cancel()
        await send({"type": "http.response.body"})

    async def _tail(self, scope: Any, receive: Any, send: Any) -> None:
        """Work after the last byte."""
        await _whole(send, 200, b"done")
        await asyncio.sleep(0.5)
        logging.getLogger("odd").warning(logline("tail_over"))

    async def _dice(self, scope: Any, receive: Any, send: Any) -> None:
        await _whole(send, 200, json.dumps(random.random()).encode())


async def _whole(send: Any, status: int, body: bytes, headers: Any = ()) -> None:
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def _part(send: Any, kind: str, data: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})
    await send({"type": "http.response.body", "body": data, "more_body": True})


def odd() -> Service:
    return Service(Odd(), 0.5)


def loaded_dice() -> Service:
    """The first life fixes the dice."""
    logging.getLogger("odd").warning(logline("built"))
    if not _built:
        random.seed(7)
    _built.append(True)
    return odd()


def broken_by_the_restore() -> Service:
    _built.append(True)
    if len(_built) > 1:
        raise OSError("the disk is not what it was")
    return odd()


_built: list[bool] = []


def counted() -> Service:
    """Our own app, and `/census`: what there is once a process."""
    service = gateway_service()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") != "/census":
            await service.app(scope, receive, send)
            return
        kinds = {"clients": httpx.AsyncClient, "contexts": ssl.SSLContext, "tasks": asyncio.Task}
        # The host took what its start made out of the collector's sight.
        gc.unfreeze()
        gc.collect()
        things = gc.get_objects()
        census = {name: sum(isinstance(thing, kind) for thing in things) for name, kind in kinds.items()}
        houses = [name for name in sys.modules if name.startswith("motes.dialects.")]
        await _whole(send, 200, json.dumps(census | {"houses": houses}).encode())

    return Service(app, service.last_call)


if __name__ == "__main__":
    sys.exit(main(globals()[sys.argv[1]]))
