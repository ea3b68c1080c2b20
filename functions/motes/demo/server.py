"""The demo vendor's socket, on loopback: asyncio moves the bytes, `motes.demo.speaker` makes them.

Must never listen on anything but loopback, never outlive its context (leaving it closes every connection),
and load nothing of the vendor before somebody asks it.
"""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from motes.demo.rows import BASES

if TYPE_CHECKING:
    from motes.demo.speaker import Speaker

_HOST: Final = "127.0.0.1"


class DemoServer:
    """`async with DemoServer() as vendor:` serves on `vendor.port` until the block is left.

    `port` 0 takes a free one. `pace` stretches every pause: 0 makes the scripts run at once.
    """

    def __init__(self, *, port: int = 0, pace: float = 1.0) -> None:
        self.port = port
        self._pace = pace
        self._speaker: Speaker | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_urls(self) -> Mapping[str, str]:
        """The base URL of every row of `motes.demo.rows`, by vendor id."""
        return {id: f"http://{_HOST}:{self.port}{path}" for id, path in BASES.items()}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, _HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._attend(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from motes.demo.speaker import Speaker

        self._speaker = self._speaker or Speaker(self._pace)
        try:
            await self._speaker.attend(reader, writer)
        finally:
            writer.close()
