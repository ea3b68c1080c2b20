"""Runs and their journals in the DynamoDB table: a `RunStore`.

Must never block the event loop: every conversation with the table (`RunTable`) is held in a thread.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from motes.aws import AWS
from motes.errors import StoreError
from motes.particles import UpstreamHandle
from motes.store.run_fields import checked, without_gap
from motes.store.runs import Page, RunFlags, StoredRun

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

    from motes.store.dynamo_run_table import RunTable

T = TypeVar("T")


class DynamoRuns:
    """A `RunStore`."""

    def __init__(self, table: str, aws: AWS, now: Callable[[], float] = time.time) -> None:
        self._table = table
        self._aws = aws
        self._now = now

    async def put(self, run: StoredRun) -> bool:
        """See `RunStore`."""
        return await self._do(lambda table: table.put(run))

    async def put_all(self, runs: Sequence[StoredRun]) -> Mapping[str, StoreError]:
        """See `RunStore`."""
        failures: dict[str, StoreError] = {}

        async def put(run: StoredRun) -> None:
            try:
                await self.put(run)
            except StoreError as error:
                failures[run.id] = error

        await asyncio.gather(*map(put, runs))
        return failures

    async def update(self, run: StoredRun, *, worker: str) -> RunFlags:
        """See `RunStore`."""
        return await self._do(lambda table: table.update(run, worker))

    async def get(self, id: str, *, owner: str | None) -> StoredRun | None:
        """See `RunStore`."""
        there = await self._do(lambda table: table.read(id))
        return there if there is not None and owner in (None, there.owner) else None

    async def list(
        self, *, owner: str | None, limit: int, before: float | None = None
    ) -> Sequence[StoredRun]:
        """See `RunStore`."""
        return await self._do(lambda table: table.listed(owner, limit, before))

    async def set_handle(
        self, id: str, handle: UpstreamHandle, *, first_seq: int, due_at: float
    ) -> UpstreamHandle | None:
        """See `RunStore`."""
        return await self._do(lambda table: table.set_handle(id, handle, first_seq, due_at))

    async def renew(self, id: str, *, worker: str, until: float) -> RunFlags:
        """See `RunStore`."""
        return await self._do(lambda table: table.renew(id, worker, until))

    async def flags(self, ids: Sequence[str], *, worker: str) -> Mapping[str, RunFlags]:
        """See `RunStore`."""
        return await self._do(lambda table: table.flags(ids, worker))

    async def claim(self, run: StoredRun, *, worker: str, until: float, now: float) -> StoredRun | None:
        """See `RunStore`."""
        return await self._do(lambda table: table.claim(run.id, worker, until, now))

    async def append(self, id: str, page: Page, *, worker: str, until: float) -> RunFlags:
        """See `RunStore`."""
        checked(page)
        return await self._do(lambda table: table.append(id, page, worker, until))

    async def pages(self, id: str, *, after: int, limit: int) -> Sequence[Page]:
        """See `RunStore`."""
        return without_gap(await self._do(lambda table: table.pages(id, after, limit)), after)

    async def cancel(self, id: str, *, owner: str | None) -> StoredRun | None:
        """See `RunStore`."""
        return await self._do(lambda table: table.cancel(id, owner))

    async def due(self, now: float, limit: int) -> Sequence[StoredRun]:
        """See `RunStore`."""
        return await self._do(lambda table: table.due(now, limit))

    async def postpone(self, run: StoredRun, *, until: float, problem: str, is_parked: bool = False) -> bool:
        """See `RunStore`."""
        return await self._do(lambda table: table.postpone(run, until, problem, is_parked))

    async def drop_pages(self, id: str) -> None:
        """See `RunStore`."""
        await self._do(lambda table: table.drop_pages(id))

    async def delete(self, id: str) -> None:
        """See `RunStore`."""
        await self._do(lambda table: table.delete(id))

    async def _do(self, work: "Callable[[RunTable], T]") -> T:
        def done(client: "DynamoDBClient") -> T:
            # In the thread: a process that keeps no run never loads it.
            from motes.store.dynamo_run_table import RunTable

            return work(RunTable(client, self._table, self._now))

        return await self._aws.dynamodb(done)
