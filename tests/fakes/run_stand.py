"""A gateway in this process whose store of runs lies in memory and counts its questions, and two callers."""

import asyncio
import json
from copy import copy

from fakes.memory_runs import MemoryRuns
from fakes.stored_vendor import StoredVendor
from motes.api.app import create_app
from motes.api.gateway import Backing, open_gateway
from motes.settings import load_settings

USER = [{"role": "user", "content": "Hi"}]
BACKGROUND = {"model": "openai/m", "messages": USER, "stream": True, "motes": {"background": True}}


class Stand:
    """Make it, then `open` it on the loop it is to run on."""

    def __init__(self, home):
        self.vendor, self.store = StoredVendor(), MemoryRuns()
        (home / "motes.toml").write_text(self.vendor.toml())
        environ = {"MOTES_HOME": str(home)}
        self.settings = load_settings(environ, home)
        self.environ = environ

    async def open(self):
        backing = Backing(http=self.vendor.client(), store=self.store)
        self.gateway = open_gateway(self.settings, self.environ, backing=backing)
        self.app = create_app(self.gateway)
        self.owner = (await self.gateway.keys.new("owner"))[1]
        self.stranger = (await self.gateway.keys.new("stranger"))[1]
        return self

    async def again(self):
        """Another process: a gateway with the same settings, keys, store and vendor."""
        other = copy(self)
        backing = Backing(http=self.vendor.client(), store=self.store)
        other.gateway = open_gateway(self.settings, self.environ, backing=backing)
        other.app = create_app(other.gateway)
        return other

    async def ask(self, method, path, key, body=None, heard=None):
        path, _, query = path.partition("?")
        headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "root_path": "",
            "scheme": "http",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        incoming, status, got, head = asyncio.Queue(), 0, b"", {}
        raw = json.dumps(body).encode() if body else b""
        incoming.put_nowait({"type": "http.request", "body": raw, "more_body": False})

        async def send(message):
            nonlocal status, got, head
            if message["type"] == "http.response.start":
                status, head = message["status"], dict(message["headers"])
            got += message.get("body", b"")
            if heard is not None and message.get("body"):
                heard(message["body"])

        await self.app(scope, incoming.get, send)
        return status, head, got

    async def run(self):
        _, head, _ = await self.ask("POST", "/v1/particles", self.owner, BACKGROUND)
        return head[b"x-motes-run-id"].decode()
