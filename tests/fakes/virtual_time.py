"""An event loop whose clock jumps to the next timer whenever there is nothing to do.

Five minutes of silence pass in a moment, and always in the same order. For tests without sockets.
"""

import asyncio
import functools
import selectors

_DEADLOCK_SECONDS = 2.0


class _JumpingSelector:
    """Never sleeps: it moves the loop's clock by what it was asked to sleep."""

    def __init__(self):
        self.loop = None
        self._real = selectors.DefaultSelector()

    def select(self, timeout=None):
        if timeout is None:
            ready = self._real.select(_DEADLOCK_SECONDS)
            if not ready:
                raise RuntimeError("nothing is scheduled, so nothing will ever happen")
            return ready
        ready = self._real.select(0)
        if not ready and timeout > 0:
            self.loop.now += timeout
        return ready

    def __getattr__(self, name):
        return getattr(self._real, name)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """`now` is the loop's clock, in seconds."""

    def __init__(self):
        selector = _JumpingSelector()
        self.now = 1000.0
        super().__init__(selector)
        selector.loop = self

    def time(self):
        return self.now


def in_virtual_time(test):
    """Run an `async def` test on a loop of its own, in virtual time."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            return runner.run(test(*args, **kwargs))

    return run
