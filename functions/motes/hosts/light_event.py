"""What a server has for each connection and each request, and uses next to never: without the queues.

An empty deque takes three quarters of a kilobyte, and asyncio's events have one each. Must never behave other
than what it stands for.
"""

import asyncio
from typing import Any


class LightEvent:
    """Stands for an `asyncio.Event`."""

    __slots__ = ("_is_set", "_waiters")

    def __init__(self, *, is_set: bool = False) -> None:
        self._is_set = is_set
        self._waiters: list[asyncio.Future[None]] | None = None

    def is_set(self) -> bool:
        """See asyncio."""
        return self._is_set

    def set(self) -> None:
        """See asyncio."""
        self._is_set = True
        for waiter in self._waiters or ():
            if not waiter.done():
                waiter.set_result(None)

    def clear(self) -> None:
        """See asyncio."""
        self._is_set = False

    async def wait(self) -> bool:
        """See asyncio."""
        if self._is_set:
            return True
        waiter = asyncio.get_running_loop().create_future()
        if self._waiters is None:
            self._waiters = []
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            self._waiters.remove(waiter)
        return True


class LightQueue(list[Any]):
    """Stands for the deque of requests that came before their turn: most connections never have any."""

    __slots__ = ()

    def appendleft(self, one: Any) -> None:
        """See collections.deque."""
        self.insert(0, one)
