"""L2 of one run: the pending message, and whoever reads it.

The loop runs in a task of its own and feeds the message whether or not anybody reads. Must never lose what
came: also a reader that stops, or fails, leaves a message that says how it ended.

```python
from motes.client import AsyncClient, ReasoningFragment, RunFailed, TextFragment

async with AsyncClient(model="demo/hello") as client:
    async with client.stream("What is a mote?") as stream:
        async for particle in stream:  # Text, Reasoning, ToolCall, …, and one End
            print(type(particle).__name__, len(stream.message.text))
    assert stream.message.outcome == "completed"

    async for fragment in client.stream("What is a mote?").fragments:
        if isinstance(fragment, TextFragment | ReasoningFragment):
            print(fragment.text)

    try:
        async for text in client.stream("What is a mote?", model="demo/cut").text:
            print(text, end="")
    except RunFailed as failed:  # a cut is never a success
        print(failed.error, failed.answer.text)
```
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Final, Self

from motes import particles as p
from motes.client.backlog import Backlog
from motes.client.failure import RunFailed
from motes.client.loop import Loop, Task
from motes.client.retry import Restart
from motes.fragments import Fragment, Message
from motes.reassembly import Reassembler

_ABORTED: Final = p.End("done-dispatch-aborted")


class Stream:
    """One answer as it comes. Nothing is asked before the first of its methods is used.

    Iterate over it for particles, over `text` or `fragments` for those; `message` grows meanwhile. It closes
    itself at the end; `async with` closes it also where the reader stops before. Without `keeps` nothing is
    kept for a reader, and there is only the message.
    """

    def __init__(self, task: Task, restart: Restart = "never", *, keeps: bool = True) -> None:
        self._reassembler = Reassembler()
        self._backlog = Backlog()
        self._stirred = asyncio.Event()
        self._restart: Restart = restart
        self._keeps = keeps
        self._was_seen = False
        self._was_left = False
        self._is_whole = False
        self._loop = Loop(task, self._take, self._may_restart)
        self._task: asyncio.Task[None] | None = None
        self._on_arrival: Callable[[], None] | None = None

    @property
    def message(self) -> Message:
        """The message as far as it came. Its `outcome` is None until the run is over."""
        return self._reassembler.message

    @property
    def run_id(self) -> str | None:
        """The gateway's id of the run, where it can be joined again; known once the answer begins."""
        return self._loop.run_id

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, in whatever way."""
        return self._is_whole

    @property
    def text(self) -> AsyncGenerator[str, None]:
        """The answer's text, piece by piece. Raises RunFailed at the end of an answer that is not whole."""
        return self._texts()

    @property
    def fragments(self) -> AsyncGenerator[Fragment, None]:
        """The answer's fragments, each when the next one begins. Raises RunFailed as `text` does."""
        return self._fragments()

    def begin(self, on_arrival: Callable[[], None] | None = None) -> None:
        """Ask, if that is not done yet. `on_arrival` is called whenever something came, or all has come."""
        self._on_arrival = on_arrival
        self._started()

    def take(self, most: int) -> list[p.Particle]:
        """What has come and was not handed over yet, without waiting; at most so many particles."""
        return [self._hand_over() for _ in range(min(most, len(self._backlog)))]

    @property
    def is_drained(self) -> bool:
        """Whether all of it has been handed over. Raises what ended the loop, where that was a bug."""
        if self._task is None or not self._task.done() or self._backlog:
            return False
        if not self._task.cancelled():
            self._task.result()
        return True

    async def result(self) -> Message:
        """The message when the run is over, whatever its outcome."""
        task = self._started()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()
        self._settle()
        return self.message

    async def abort(self) -> Message:
        """Stop here. What came is kept, and its outcome is `aborted`.

        A run that can be joined again goes on at the gateway: see `AsyncClient.cancel`.
        """
        if self._task is None:
            self._task = asyncio.create_task(_nothing())
        try:
            if not self._task.done():
                # Once: a second one would interrupt what httpcore does to clean up after the first.
                self._was_left = self._was_left or self._task.cancel()
                await asyncio.wait({self._task})
        finally:
            self._settle()
        return self.message

    async def __aenter__(self) -> Self:
        self._started()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.abort()

    def __aiter__(self) -> AsyncGenerator[p.Particle, None]:
        return self._particles()

    def _started(self) -> "asyncio.Task[None]":
        if self._task is None:
            self._task = asyncio.create_task(self._loop.run())
            self._task.add_done_callback(self._on_done)
        return self._task

    def _take(self, particle: p.Particle) -> None:
        """One particle, from the loop; nothing here waits."""
        if self._is_whole:
            return
        self._reassembler.feed(particle)
        if isinstance(particle, p.End):
            self._reassembler.finalize()
            self._is_whole = True
        if self._keeps:
            self._backlog.put(particle)
        self._stir()

    def _settle(self) -> None:
        """What was left before its end is marked."""
        if not self._is_whole:
            self._take(_ABORTED)

    def _stir(self) -> None:
        self._stirred.set()
        if self._on_arrival is not None:
            self._on_arrival()

    def _on_done(self, _: "asyncio.Task[None]") -> None:
        self._stir()

    def _may_restart(self) -> bool:
        return self._restart == "always" or (self._restart == "unseen" and not self._was_seen)

    async def _particles(self) -> AsyncGenerator[p.Particle, None]:
        try:
            while batch := await self.arrivals(1):
                yield batch[0]
        finally:
            await self.abort()

    async def arrivals(self, most: int) -> list[p.Particle]:
        """The next particles that the reader has not had yet, at most so many; none at the end."""
        self._started()
        while not self._backlog:
            if self.is_drained:
                break
            self._stirred.clear()
            await self._stirred.wait()
        return self.take(most)

    def _hand_over(self) -> p.Particle:
        particle = self._backlog.take()
        self._was_seen = self._was_seen or p.is_visible(particle)
        return particle

    async def _texts(self) -> AsyncGenerator[str, None]:
        self._cannot_go_back()
        is_open = False
        async with aclosing(self._particles()) as particles:
            async for particle in particles:
                if isinstance(particle, p.Text) and particle.text:
                    yield particle.text
                    is_open = True
                elif isinstance(particle, p.Note):
                    is_open = False
                elif is_open and isinstance(particle, p.RetryReset) and particle.clear != "none":
                    raise RunFailed(await self.abort())
        self.check()

    async def _fragments(self) -> AsyncGenerator[Fragment, None]:
        self._cannot_go_back()
        given = 0
        async with aclosing(self._particles()) as particles:
            async for _ in particles:
                settled = self._reassembler.count - 1
                while given < settled:
                    given += 1
                    yield self.message.fragments[given - 1]
        for fragment in self.message.fragments[given:]:
            yield fragment
        self.check()

    def check(self) -> None:
        """Raises RunFailed where the answer is not whole, and it was not the reader who left it."""
        if self.message.outcome != "completed" and not self._was_left:
            raise RunFailed(self.message)

    def _cannot_go_back(self) -> None:
        """A reader of text alone would take a second answer for the rest of the first."""
        if self._restart == "always":
            self._restart = "unseen"


async def _nothing() -> None:
    """The task of a stream that is given up before it was used."""
