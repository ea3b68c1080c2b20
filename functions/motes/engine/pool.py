"""The connections of one client: which are open, and which can serve again.

Must never give out a connection that its server has closed, as far as that can be known, and never let one
wait for a request longer than `expiry` seconds.
"""

import asyncio
from collections import defaultdict
from typing import Final

from motes.engine.connection import Connection
from motes.engine.opening import Route

KEPT: Final = 64
EXPIRY: Final = 30.0


class Pool:
    """At most `kept` idle connections, the latest used first; there is no limit to those in use."""

    def __init__(self, kept: int = KEPT, expiry: float = EXPIRY) -> None:
        self.connections: set[Connection] = set()
        """All that are open, idle or not."""
        self._kept = kept
        self._expiry = expiry
        self._idle: defaultdict[Route, list[Connection]] = defaultdict(list)
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def take(self, route: Route) -> Connection | None:
        """A connection that was used before, if there is one that is still good."""
        waiting = self._idle.get(route)
        while waiting:
            connection = waiting.pop()
            self._count -= 1
            if not connection.is_closed and not connection.has_word():
                return connection
            connection.close()
        return None

    def add(self, route: Route, connection: Connection) -> None:
        """A new connection, for the request it was made for."""

        def on_idle(connection: Connection) -> None:
            self._keep(route, connection)

        connection.on_idle = on_idle
        connection.on_lost = self.connections.discard
        if not connection.is_closed:
            self.connections.add(connection)

    def close(self) -> None:
        """Close them all."""
        if self._timer is not None:
            self._timer.cancel()
        for connection in tuple(self.connections):
            connection.close()

    def _keep(self, route: Route, connection: Connection) -> None:
        if self._count >= self._kept:
            self._drop_closed()
        if self._count >= self._kept:
            connection.close()
            return
        self._idle[route].append(connection)
        self._count += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._expiry, self._expire)

    def _drop_closed(self) -> None:
        for waiting in self._idle.values():
            waiting[:] = [connection for connection in waiting if not connection.is_closed]
        self._count = sum(map(len, self._idle.values()))

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        for waiting in self._idle.values():
            while waiting and waiting[0].idle_since + self._expiry <= loop.time():
                waiting.pop(0).close()
        self._drop_closed()
        rest = [waiting[0].idle_since for waiting in self._idle.values() if waiting]
        self._timer = loop.call_at(min(rest) + self._expiry, self._expire) if rest else None
