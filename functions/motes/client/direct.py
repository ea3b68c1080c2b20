"""The vendors asked from the caller's own process: the same dispatch, houses and executor, and no gateway.

The only room of the client that knows them. Keys come from the environment and `motes.toml`. Must never serve
anything, and keep no state but the connections.

```python
from motes.client import AsyncClient

async with AsyncClient(direct=True, model="demo/hello") as client:  # the demo needs no key
    message = await client.generate("What is a mote?")
    assert message.outcome == "completed"
```
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

from motes.client.desk import Model
from motes.client.line import Batch, Broken
from motes.credentials import vendor_key
from motes.dispatch import Dispatch, Plan
from motes.errors import ErrorKind, MotesError, RunNotFound, VendorError
from motes.executor import pipeline
from motes.executor.connection import open_client
from motes.executor.policy import DEFAULT_POLICY, Policy
from motes.executor.run import Options
from motes.intake import parse_request
from motes.settings import load_settings
from motes.transforms import with_transforms
from motes.vendors.catalogue import build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

_NO_RUNS = "there is no gateway that keeps runs: this client asks the vendors directly"


class DirectDesk:
    """See `Desk`. `rows` are added to the built-in vendors. Raises PrepareError for bad settings."""

    def __init__(
        self, environ: Mapping[str, str], rows: Iterable[Vendor] = (), policy: Policy = DEFAULT_POLICY
    ) -> None:
        self._environ = environ
        self._policy = policy
        self._settings = load_settings(environ, Path.cwd())
        self._catalogue = build_catalogue(VENDORS, ALIASES, self._settings).with_rows(rows)
        self._http = open_client()
        self._demo = AsyncExitStack()
        self._has_demo = "demo" in self._catalogue.vendors
        self._starting = asyncio.Lock()
        self.line = self

    def start(self, body: Mapping[str, Any], meet: Callable[[str], None]) -> AsyncGenerator[Batch, None]:
        """See `Line`; no run of it can be joined again."""
        del meet
        return self._particles(body)

    def rejoin(self, run_id: str, after: int) -> AsyncGenerator[Batch, None]:
        """See `Line`."""
        del run_id, after
        raise _refused(RunNotFound(_NO_RUNS))

    async def cancel(self, run_id: str) -> None:
        """See `Desk`."""
        raise RunNotFound(_NO_RUNS, param=run_id)

    async def delete(self, run_id: str) -> bool:
        """See `Desk`."""
        raise RunNotFound(_NO_RUNS, param=run_id)

    async def models(self) -> list[Model]:
        """See `Desk`: the aliases, and what the rows name themselves."""
        rows = [row for row in self._catalogue.vendors.values() if row.base_url and self._is_usable(row)]
        listed = [Model(f"{row.id}/{name}", {"owned_by": row.id}) for row in rows for name in row.models]
        ids = [row.id for row in rows]
        return [Model(alias) for alias, _, _ in self._catalogue.aliased(ids)] + listed

    async def aclose(self) -> None:
        """See `Desk`."""
        await self._demo.aclose()
        await self._http.aclose()

    async def _particles(self, body: Mapping[str, Any]) -> AsyncGenerator[Batch, None]:
        if str(body.get("model")).startswith("demo"):
            await self._start_demo()
        try:
            dispatch = self._dispatch(body)
        except MotesError as error:
            raise _refused(error) from None
        started = asyncio.get_running_loop().time()
        limit = self._settings.deadline_s
        options = Options(
            heartbeat=self._settings.heartbeat_s,
            deadline=None if limit is None else started + limit,
            warn_margin=self._settings.deadline_warn_s,
            stop_margin=self._settings.deadline_stop_s,
            policy=self._policy,
        )
        async with aclosing(pipeline.batches(dispatch, self._http, options)) as batches:
            async for batch in batches:
                yield [(None, particle) for particle in batch]

    async def _start_demo(self) -> None:
        """The demo vendor, in this process and for as long as the client is open."""
        from motes.demo.rows import demo_rows
        from motes.demo.server import DemoServer

        async with self._starting:
            if not self._has_demo:
                self._has_demo = True
                vendor = await self._demo.enter_async_context(DemoServer())
                self._catalogue = self._catalogue.with_rows(demo_rows(vendor.base_urls).values())

    def _dispatch(self, body: Mapping[str, Any]) -> Dispatch:
        request = parse_request(body)
        route = self._catalogue.resolve(request.model)
        vendor = speaking(route.vendor, request.motes.dialect, route.model)
        plan = Plan(vendor, route.model, self._key_of(vendor))
        dispatch = plan.dispatch(request, max_event_bytes=self._settings.max_event_bytes)
        return with_transforms(dispatch, request, plan)

    def _key_of(self, vendor: Vendor) -> str | None:
        if vendor.auth.kind == "none":
            return None
        return vendor_key(vendor.id, vendor.key_name, self._settings, self._environ)

    def _is_usable(self, row: Vendor) -> bool:
        return not row.key_required or self._key_of(row) is not None


_KINDS: Mapping[int, ErrorKind] = {401: "authentication", 500: "server_error"}


def _refused(error: MotesError) -> Broken:
    """A request that cannot be sent."""
    said = VendorError(
        message=error.message,
        kind=_KINDS.get(error.status_hint, "invalid_request"),
        http_status=error.status_hint,
        code=error.code,
    )
    return Broken(said, "dispatch-prepare", sent=False, is_final=True)
