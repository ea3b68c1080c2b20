"""Gateways to measure beside: the limit, the least a translator can be, and what people write in an afternoon.

    python -m tests.bench.references NAME PORT VENDOR_PORT

`raw_pass` moves bytes between two protocols, `raw_template` fills them into a template on the way (both need
`Connection: keep-alive` and nothing else of HTTP), `aiohttp_template` is bare ASGI with aiohttp, and
`httpx_translator` Starlette, httpx and the json module.
"""

import asyncio
import json
import sys
from typing import Any

import uvloop
from tests.bench.wires import DIALECTS, PATHS, text_in

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
END = b"0\r\n\r\n"
SSE = [(b"content-type", b"text/event-stream; charset=utf-8")]
JSON = {"content-type": "application/json"}


class Upstream(asyncio.Protocol):
    """A connection to the vendor, kept for the next request."""

    def __init__(self, idle: "list[Upstream]", is_translator: bool) -> None:
        self.idle, self.is_translator = idle, is_translator

    def connection_made(self, transport) -> None:
        self.transport = transport

    def begin(self, down: "Downstream", dialect: str, request: bytes) -> None:
        from tests.bench.template import Template

        self.down, self.rest, self.has_head = down, b"", False
        self.template = Template(dialect) if self.is_translator else None
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        is_over = data.endswith(END)
        self.down.transport.write(self.translated(data) if self.template else data)
        if is_over:
            self.idle.append(self)
            self.down.upstream = None

    def translated(self, data: bytes) -> bytes:
        out = b""
        self.rest += data
        if not self.has_head:
            head, end, self.rest = self.rest.partition(b"\r\n\r\n")
            if not end:
                self.rest = head
                return b""
            self.has_head, out = True, HEAD
        body, rest, at = [], self.rest, 0
        while (line_end := rest.find(b"\r\n", at)) >= 0:
            size = int(rest[at:line_end], 16)
            end_of_chunk = line_end + 2 + size
            if len(rest) < end_of_chunk + 2:
                break
            body.append(rest[line_end + 2 : end_of_chunk])
            at = end_of_chunk + 2
            if not size:
                break
        self.rest = rest[at:]
        made = self.template.feed(b"".join(body))
        out += b"%x\r\n%b\r\n" % (len(made), made) if made else b""
        return out + END if body and not body[-1] else out


class Downstream(asyncio.Protocol):
    """A connection of a caller; the dialect stands first in its path."""

    def __init__(self, vendor_port: int, idle: list[Upstream], is_translator: bool) -> None:
        self.vendor_port, self.idle, self.is_translator = vendor_port, idle, is_translator
        self.received, self.upstream = b"", None

    def connection_made(self, transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        low = head.lower()
        size = int(low.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in low else 0
        if len(body) < size:
            return
        self.received = b""
        dialect = head.split(b" ", 2)[1].decode().split("/")[1]
        if dialect not in DIALECTS:
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            return
        lines = f"POST {PATHS[dialect]} HTTP/1.1\r\nhost: v\r\ncontent-length: {len(body)}\r\n\r\n"
        request = lines.encode() + body
        if self.idle:
            self.upstream = self.idle.pop()
            self.upstream.begin(self, dialect, request)
        else:
            self.task = asyncio.create_task(self.connect(dialect, request))

    async def connect(self, dialect: str, request: bytes) -> None:
        loop = asyncio.get_running_loop()
        _, self.upstream = await loop.create_connection(
            lambda: Upstream(self.idle, self.is_translator), "127.0.0.1", self.vendor_port
        )
        self.upstream.begin(self, dialect, request)


async def serve_raw(port: int, vendor_port: int, is_translator: bool) -> None:
    idle: list[Upstream] = []
    server = await asyncio.get_running_loop().create_server(
        lambda: Downstream(vendor_port, idle, is_translator), "127.0.0.1", port, backlog=2048
    )
    await server.serve_forever()


def aiohttp_template(vendor: str) -> Any:
    """Bare ASGI, aiohttp, and the template."""
    import aiohttp
    from tests.bench.template import Template

    sessions: list[aiohttp.ClientSession] = []

    async def app(scope, receive, send) -> None:
        if scope["method"] == "GET":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})
            return
        dialect, body, more = scope["path"].split("/")[1], b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if not sessions:
            timeout = aiohttp.ClientTimeout(total=None)
            connector = aiohttp.TCPConnector(limit=0)
            sessions.append(
                aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False)
            )
        await send({"type": "http.response.start", "status": 200, "headers": SSE})
        template = Template(dialect)
        async with sessions[0].post(vendor + PATHS[dialect], data=body, headers=JSON) as response:
            async for data in response.content.iter_any():
                if out := template.feed(data):
                    await send({"type": "http.response.body", "body": out, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    return app


def httpx_translator(vendor: str) -> Any:
    """Starlette, httpx and json, line by line."""
    import httpx
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, StreamingResponse
    from starlette.routing import Route

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    client = httpx.AsyncClient(timeout=None, limits=limits, trust_env=False)  # noqa: S113

    async def chat(request: Request) -> StreamingResponse:
        dialect, body = request.path_params["dialect"], await request.body()

        async def events():
            url = vendor + PATHS[dialect]
            about = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            async with client.stream("POST", url, content=body, headers=JSON) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: {"):
                        continue
                    if text := text_in(json.loads(line[6:]), dialect):
                        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
                        yield f"data: {json.dumps({**about, 'choices': [choice]})}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    async def health(_: Request) -> PlainTextResponse:
        return PlainTextResponse("ok")

    return Starlette(
        routes=[
            Route("/{dialect}/v1/chat/completions", chat, methods=["POST"]),
            Route("/healthz", health),
        ]
    )


def main(name: str, port: int, vendor_port: int) -> None:
    if name.startswith("raw_"):
        uvloop.run(serve_raw(port, vendor_port, name == "raw_template"))
        return
    import uvicorn

    app = {"aiohttp_template": aiohttp_template, "httpx_translator": httpx_translator}[name]
    uvicorn.run(
        app(f"http://127.0.0.1:{vendor_port}"),
        port=port,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
