"""`AsyncClient`: messages and streams, out of a gateway or of the vendors themselves.

Must never ask anything before it is used, nor let a key into an error or a repr.

```python
from motes.client import AsyncClient

tools = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}]
request = {"messages": [{"role": "user", "content": "What time is it?"}], "tools": tools}

async with AsyncClient(aliases={"quick": "demo/hello"}) as client:
    message = await client.generate(request, model="quick")
    assert message.outcome == "completed", message.error
    for call in message.tool_calls:
        print(call.name, call.arguments)
    print(message.metrics, message.cost)

    # A run that the gateway keeps is read to its end however often the line breaks, and later again.
    stream = client.stream("What is a mote?", model="quick", resumable=True)
    await stream.result()
    again = await client.resume(stream.run_id).result()
    assert again.text == stream.message.text
    await client.delete(stream.run_id)
```
"""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from motes.client.desk import Desk, Model
from motes.client.loop import Task
from motes.client.request import Request, body_of
from motes.client.retry import Patience, Restart
from motes.client.scatter import Scatter
from motes.client.stream import Stream
from motes.fragments import Message

LOCAL: Final = "http://127.0.0.1:8000/v1"
"""Where `motes serve` listens unless it is told otherwise."""
DEFAULT_PATIENCE: Final = Patience()


class AsyncClient:
    """One client, for any number of runs at once.

    `base_url` and `api_key` are the gateway's and the caller's own; without them MOTES_BASE_URL and
    MOTES_API_KEY are read, and `motes serve` on this machine is asked. With `direct` there is no gateway: the
    vendors are asked from this process, with their keys from the environment. `model` is asked where a
    request names none; `aliases` are names of your own.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        direct: bool = False,
        model: str | None = None,
        aliases: Mapping[str, str] | None = None,
        patience: Patience = DEFAULT_PATIENCE,
    ) -> None:
        desk = _desk(base_url, api_key, os.environ, direct=direct)
        self._settle(desk, model, aliases, patience)

    @classmethod
    def at(
        cls,
        desk: Desk,
        *,
        model: str | None = None,
        aliases: Mapping[str, str] | None = None,
        patience: Patience = DEFAULT_PATIENCE,
    ) -> Self:
        """A client that does its business at a desk of your own making; it closes it."""
        client = cls.__new__(cls)
        client._settle(desk, model, aliases, patience)
        return client

    def _settle(
        self, desk: Desk, model: str | None, aliases: Mapping[str, str] | None, patience: Patience
    ) -> None:
        self._desk = desk
        self._model = model
        self._aliases = dict(aliases or {})
        self._patience = patience

    def stream(
        self,
        request: Request,
        *,
        model: str | None = None,
        resumable: bool = False,
        restart: Restart = "never",
    ) -> Stream:
        """The answer as it comes. `resumable` asks the gateway to keep it, so that it can be joined again;
        what else may be done where the line breaks, `restart` says. Raises InvalidRequest for no request.
        """
        return self._stream(request, model, restart, resumable=resumable)

    async def generate(
        self,
        request: Request,
        *,
        model: str | None = None,
        resumable: bool = False,
        restart: Restart = "never",
    ) -> Message:
        """The whole answer. It says itself how it ended (`outcome`, `error`), and holds what came."""
        stream = self._stream(request, model, restart, resumable=resumable, keeps=False)
        async with stream:
            return await stream.result()

    def scatter(
        self,
        request: Request,
        models: Sequence[str],
        *,
        resumable: bool = False,
        restart: Restart = "never",
    ) -> Scatter:
        """One request to several models at once; one that fails does not disturb the others."""
        streams = [self._stream(request, model, restart, resumable=resumable) for model in models]
        return Scatter(models, streams)

    def resume(self, run_id: str, *, after: int = 0) -> Stream:
        """A run that the gateway keeps, from its beginning, or from the particle after that number."""
        return Stream(self._task(run_id=run_id, after=after))

    async def cancel(self, run_id: str) -> None:
        """Stop a run at the gateway and at its vendor. Raises RunNotFound, GatewayError, Unauthenticated."""
        await self._desk.cancel(run_id)

    async def delete(self, run_id: str) -> bool:
        """Have a run forgotten by the gateway and its vendor. False where the vendor does not obey yet: the
        gateway goes on trying. Raises as `cancel` does.
        """
        return await self._desk.delete(run_id)

    async def models(self) -> list[Model]:
        """What can be asked for. Raises GatewayError or Unauthenticated."""
        return await self._desk.models()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._desk.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _stream(
        self, request: Request, model: str | None, restart: Restart, *, resumable: bool, keeps: bool = True
    ) -> Stream:
        body = body_of(request, model or self._model, self._aliases, resumable=resumable)
        return Stream(self._task(body=body, is_kept=resumable), restart, keeps=keeps)

    def _task(self, **what: Any) -> Task:
        return Task(line=self._desk.line, patience=self._patience, **what)


def _desk(base_url: str | None, api_key: str | None, environ: Mapping[str, str], *, direct: bool) -> Desk:
    if direct:
        from motes.client.direct import DirectDesk

        return DirectDesk(environ)
    from motes.client.gateway import GatewayDesk

    return GatewayDesk(
        base_url or environ.get("MOTES_BASE_URL") or LOCAL, api_key or environ.get("MOTES_API_KEY")
    )
