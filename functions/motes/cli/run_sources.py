"""Where `motes runs` finds runs: at a gateway, as its caller; or in this machine's store, as operator.

Must never ask both.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from motes import particles as p
from motes.errors import InvalidRequest, MotesError

if TYPE_CHECKING:
    from motes.api.gateway import Gateway
    from motes.client.gateway import GatewayLine


class RunSource(Protocol):
    """Runs, as the surface shows them. Every method raises MotesError for what cannot be."""

    async def list(self, limit: int) -> list[dict[str, Any]]:
        """The newest."""
        ...

    async def show(self, id: str) -> dict[str, Any]:
        """One."""
        ...

    async def cancel(self, id: str) -> dict[str, Any]:
        """Stop one."""
        ...

    async def delete(self, id: str) -> bool:
        """Remove one, at its vendor too; False where that is tried again later."""
        ...

    def follow(self, id: str, after: int) -> AsyncGenerator[p.Particle, None]:
        """What it says after that particle, to its end."""
        ...


@asynccontextmanager
async def run_source(
    url: str | None, key: str | None, environ: Mapping[str, str]
) -> AsyncIterator[RunSource]:
    """The source for as long as the block lasts. Raises PrepareError."""
    if url is not None:
        from motes.client.gateway import GatewayLine, open_http

        async with open_http() as http:
            yield AtGateway(GatewayLine(http, url.rstrip("/"), key))
        return
    from pathlib import Path

    from motes.api.gateway import open_gateway
    from motes.settings import load_settings

    gateway = open_gateway(load_settings(environ, Path.cwd()), environ)
    try:
        yield InStore(gateway)
    finally:
        await gateway.runs.close()
        await gateway.http.aclose()


class AtGateway:
    """Over HTTP."""

    def __init__(self, line: "GatewayLine") -> None:
        self._line = line

    async def list(self, limit: int) -> list[dict[str, Any]]:
        """See `RunSource`."""
        rows: list[dict[str, Any]] = (await self._asked("GET", f"?limit={limit}"))["data"]
        return rows

    async def show(self, id: str) -> dict[str, Any]:
        """See `RunSource`."""
        return await self._asked("GET", f"/{quote(id, safe='')}")

    async def cancel(self, id: str) -> dict[str, Any]:
        """See `RunSource`."""
        return await self._asked("POST", f"/{quote(id, safe='')}/cancel")

    async def delete(self, id: str) -> bool:
        """See `RunSource`."""
        return bool((await self._asked("DELETE", f"/{quote(id, safe='')}"))["deleted"])

    async def follow(self, id: str, after: int) -> AsyncGenerator[p.Particle, None]:
        """See `RunSource`."""
        from motes.client.line import Broken

        try:
            async with aclosing(self._line.rejoin(id, after)) as batches:
                async for batch in batches:
                    for _, particle in batch:
                        yield particle
        except Broken as broken:
            raise InvalidRequest(broken.error.message) from None

    async def _asked(self, method: str, path: str) -> dict[str, Any]:
        from motes.client.line import Broken

        try:
            answer: dict[str, Any] = await self._line.call(method, f"/runs{path}")
        except Broken as broken:
            raise InvalidRequest(broken.error.message) from None
        return answer


class InStore:
    """In the store itself: every caller's."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway

    async def list(self, limit: int) -> list[dict[str, Any]]:
        """See `RunSource`."""
        from motes.api.runs import shown

        return [
            shown(run) | {"caller": run.caller} for run in await self._gateway.runs.list(None, limit, None)
        ]

    async def show(self, id: str) -> dict[str, Any]:
        """See `RunSource`."""
        from motes.api.runs import shown

        run = await self._gateway.runs.get(id, None)
        return shown(run) | {"caller": run.caller}

    async def cancel(self, id: str) -> dict[str, Any]:
        """See `RunSource`."""
        from motes.api.runs import means_of, shown

        return shown(await self._gateway.runs.cancel(id, None, means_of(self._gateway, id)))

    async def delete(self, id: str) -> bool:
        """See `RunSource`."""
        from motes.api.runs import means_of

        return await self._gateway.runs.delete(id, None, means_of(self._gateway, id))

    async def follow(self, id: str, after: int) -> AsyncGenerator[p.Particle, None]:
        """See `RunSource`."""
        from motes.api.runs import means_of
        from motes.runs.following import Follower

        run = await self._gateway.runs.get(id, None)
        if not run.is_resumable and run.handle is None:
            raise MotesError(f"nothing is kept of what run {id} said: it had no journal")
        follower = Follower(self._gateway.runs, run, after, means_of(self._gateway, id))
        async with aclosing(follower.batches()) as batches:
            async for batch in batches:
                for particle in batch:
                    yield particle
