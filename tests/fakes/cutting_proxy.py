"""A proxy that lets so many bytes of each answer through and then breaks the line, by a plan."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class CuttingProxy:
    """`cuts` are the bytes of the answers to come, one a connection; None, or no plan, lets all through."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path
        self.cuts: list[int | None] = []
        self.base_url = ""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["CuttingProxy"]:
        tasks = set[asyncio.Task[None]]()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._attend(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{self._path}"
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection(self._host, self._port)
        left = self.cuts.pop(0) if self.cuts else None
        sending = asyncio.create_task(_copied(reader, outer))
        try:
            while left != 0 and (data := await inner.read(4096 if left is None else min(left, 4096))):
                writer.write(data)
                await writer.drain()
                left = None if left is None else left - len(data)
        except ConnectionError:
            pass
        finally:
            sending.cancel()
            outer.close()
            writer.close()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(4096):
        writer.write(data)
        await writer.drain()
