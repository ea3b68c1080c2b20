"""Turns: one question to every model, its answers watched to their ends, and what each hears of it later.

Every model has a history of its own. Must never put into it what its model did not say.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from motes.cli.pane import Pane
from motes.cli.savings import saved
from motes.cli.transcript import Transcript
from motes.cli.views import View
from motes.client import AsyncClient, Scatter, Stream
from motes.dataclass import dataclass

Outcome = Literal["completed", "failed", "interrupted"]
_BETWEEN_LOOKS: Final = 0.1
_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a chat is shown and kept. `directory` is for what is no text, `word` makes a remark.
    `is_resumable`: the gateway is asked to keep its runs.
    """

    view: View
    word: Callable[[str], None]
    directory: Path
    transcript: Transcript | None = None
    is_resumable: bool = False


class Conversation:
    """One chat with one or several models."""

    def __init__(
        self, client: AsyncClient, models: Sequence[str | None], base: Mapping[str, Any], manner: Manner
    ) -> None:
        self._client = client
        self._models = models
        self._base = base
        self._histories: list[list[dict[str, Any]]] = [list(base.get("messages", [])) for _ in models]
        self._manner = manner

    async def ask(self, question: str) -> Outcome:
        """One turn."""
        turn = {"role": "user", "content": question}
        if self._manner.transcript is not None:
            self._manner.transcript.asked(question, datetime.now())
        streams = [
            self._client.stream(
                {**self._base, "messages": [*history, turn]}, model=model, resumable=self._manner.is_resumable
            )
            for model, history in zip(self._models, self._histories, strict=True)
        ]
        names = [model or "the gateway's default model" for model in self._models]
        outcome = await self._watch(names, streams)
        for history, stream in zip(self._histories, streams, strict=True):
            if text := stream.message.text:
                history.extend((turn, {"role": "assistant", "content": text}))
        return outcome

    async def resume(self, run_id: str) -> Outcome:
        """Read a run that the gateway keeps."""
        return await self._watch([run_id], [self._client.resume(run_id)])

    async def _watch(self, names: Sequence[str], streams: Sequence[Stream]) -> Outcome:
        clock = asyncio.get_running_loop().time
        panes = [
            Pane(name, _message_of(stream), clock()) for name, stream in zip(names, streams, strict=True)
        ]
        self._manner.view.begin(panes)
        files: list[list[str]] = [[] for _ in panes]
        try:
            interrupted = await self._read(Scatter(names, streams), panes)
            for pane in panes:
                pane.close(clock())
            stem = datetime.now().strftime("motes-%Y%m%d-%H%M%S")
            files = [list(saved(pane.message, self._manner.directory, stem)) for pane in panes]
        finally:
            self._manner.view.end(files)
        self._tell(panes, streams, files)
        if interrupted:
            return "interrupted"
        return "failed" if any(pane.message.outcome != "completed" for pane in panes) else "completed"

    async def _read(self, scatter: Scatter, panes: Sequence[Pane]) -> bool:
        """Feed the panes to the end of all runs. Whether the user broke off."""
        clock = asyncio.get_running_loop().time
        looks = asyncio.create_task(self._look(clock))
        try:
            async with scatter:
                async for index, particle in scatter:
                    panes[index].feed(particle, clock())
                    self._manner.view.feed(index, particle)
        except asyncio.CancelledError:
            for index, stream in enumerate(scatter.streams):
                # What had come and was not shown yet, and the end.
                while late := stream.take(_AT_ONCE):
                    for particle in late:
                        panes[index].feed(particle, clock())
                        self._manner.view.feed(index, particle)
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            return True
        finally:
            looks.cancel()
            with suppress(asyncio.CancelledError):
                await looks
        return False

    async def _look(self, clock: Callable[[], float]) -> None:
        while True:
            self._manner.view.tick(clock())
            await asyncio.sleep(_BETWEEN_LOOKS)

    def _tell(self, panes: Sequence[Pane], streams: Sequence[Stream], files: Sequence[Sequence[str]]) -> None:
        for pane, stream, told in zip(panes, streams, files, strict=True):
            if self._manner.transcript is not None:
                self._manner.transcript.answered(pane, told, pane.numbers())
            if self._manner.is_resumable and stream.run_id:
                self._manner.word(f"{pane.name}: `motes chat --resume {stream.run_id}` reads this run again")


def _message_of(stream: Stream) -> Callable[[], Any]:
    return lambda: stream.message
