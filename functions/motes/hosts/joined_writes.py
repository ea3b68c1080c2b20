"""A transport that holds what begins an answer until the turn of the event loop is over.

A server writes the head of an answer, the first piece and often the rest one by one, and each write is a call
of the kernel and a packet. Must never change the order, nor keep anything longer than that one turn.
"""

import asyncio
from collections.abc import Callable
from typing import Any


class Outlet:
    """Where bytes go now. It has no `__getattr__`, which makes each look at any attribute dear."""

    __slots__ = ("write",)

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.write = write


class JoinedWrites:
    """Stands for a transport of asyncio's. Call `join` before an answer begins."""

    __slots__ = ("_loop", "_parts", "_transport", "outlet", "write")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._parts: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self.write: Callable[[bytes], None] = transport.write
        """See asyncio. Mostly the transport's own: the pieces of a stream that is on its way lose no time."""
        self.outlet = Outlet(self.write)
        """The same `write`, for who writes often."""

    # What is not about writing is the transport's own: all that uvicorn asks of one that stays its own. With
    # `__getattr__` each of these would be looked up, and so would all else.

    def is_closing(self) -> bool:
        """See asyncio."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """See asyncio."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """See asyncio."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """See asyncio."""
        self._transport.resume_reading()

    def join(self) -> None:
        """What is written next goes out together with all that is written in the same turn."""
        self.write = self.outlet.write = self._hold

    def close(self) -> None:
        """See asyncio. What was written before is sent."""
        self.flush()
        self._transport.close()

    def _hold(self, data: bytes) -> None:
        if not self._parts:
            if self._transport.is_closing():
                # The client has left: when the turn is over the transport may be gone.
                self.flush()
                self.write(data)
                return
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Send what is held now, and hold nothing more."""
        self.write = self.outlet.write = self._transport.write
        parts, self._parts = self._parts, []
        if parts:
            self._transport.writelines(parts)
