"""One request to several models at once, read as one stream.

Must never let one run wait for another, nor one that fails end the others.

```python
from motes.client import AsyncClient

async with AsyncClient() as client:
    models = ["demo/hello", "demo-anthropic/hello", "demo/cut"]
    async with client.scatter("What is a mote?", models) as scatter:
        async for index, particle in scatter:
            print(models[index], particle)
    assert [message.outcome for message in scatter.messages] == ["completed", "completed", "failed"]
```
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from types import TracebackType
from typing import Final, Self

from motes import particles as p
from motes.client.stream import Stream
from motes.fragments import Message

_AT_ONCE: Final = 32


class Scatter:
    """Iterate for `(index, particle)`, in the order of arrival; `messages` grow meanwhile.

    `index` is the model's place in `models`. Every run ends with an `End` of its own.
    """

    def __init__(self, models: Sequence[str], streams: Sequence[Stream]) -> None:
        self.models = tuple(models)
        self.streams = tuple(streams)
        self._stirred = asyncio.Event()

    @property
    def messages(self) -> list[Message]:
        """The messages as far as they came, in the order of `models`."""
        return [stream.message for stream in self.streams]

    async def result(self) -> list[Message]:
        """The messages when all runs are over, whatever their outcomes."""
        await asyncio.gather(*(stream.result() for stream in self.streams))
        return self.messages

    async def abort(self) -> list[Message]:
        """Stop all that still run; what came is kept."""
        await asyncio.gather(*(stream.abort() for stream in self.streams))
        return self.messages

    async def __aenter__(self) -> Self:
        for stream in self.streams:
            stream.begin(self._stirred.set)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.abort()

    async def __aiter__(self) -> AsyncGenerator[tuple[int, p.Particle], None]:
        async with self:
            left = dict(enumerate(self.streams))
            while left:
                self._stirred.clear()
                came = False
                for index, stream in list(left.items()):
                    # A few of each at a time, so that a long answer does not hold up the others.
                    for particle in stream.take(_AT_ONCE):
                        came = True
                        yield index, particle
                    if stream.is_drained:
                        del left[index]
                if left and not came:
                    await self._stirred.wait()
