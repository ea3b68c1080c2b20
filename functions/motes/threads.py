"""Threads of one's own, for work that blocks.

The event loop has a few threads for everybody, and they resolve the vendors' host names: a store that is
locked or down would hold every new connection up with them. Must never be more threads than was said, nor
begin work that nobody waits for any more.
"""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")


class Threads:
    """At most `most` of them, made when they are first wanted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work in one of them; it keeps the context of whoever asks. Raises what the work raises."""
        from concurrent.futures import ThreadPoolExecutor

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._most, "motes")
        return await asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, work)
