"""A store of runs in this process's memory, for loops in virtual time; it counts what it is asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from motes.errors import StoreError
from motes.particles import UpstreamHandle
from motes.store.run_fields import flags_of
from motes.store.runs import LOST, Page, RunFlags, StoredRun


class MemoryRuns:
    def __init__(self):
        self.runs: dict[str, StoredRun] = {}
        self.kept: dict[str, list[Page]] = {}
        self.calls: Counter[str] = Counter()
        self.log: list[tuple[str, str]] = []

    def _note(self, name: str, id: str) -> None:
        self.calls[name] += 1
        self.log.append((name, id))

    async def put(self, run: StoredRun) -> bool:
        self._note("put", run.id)
        if run.id in self.runs:
            return False
        self.runs[run.id] = run
        return True

    async def put_all(self, runs: Sequence[StoredRun]) -> Mapping[str, StoreError]:
        failures = {}
        for run in runs:
            try:
                await self.put(run)
            except StoreError as error:
                failures[run.id] = error
        return failures

    async def update(self, run: StoredRun, *, worker: str) -> RunFlags:
        self._note("update", run.id)
        known = self.runs.get(run.id)
        if known is None or known.worker != worker:
            return LOST
        self.runs[run.id] = replace(run, is_cancelled=known.is_cancelled, last_seq=known.last_seq)
        return RunFlags(is_cancelled=known.is_cancelled)

    async def get(self, id: str, *, owner: str | None) -> StoredRun | None:
        self._note("get", id)
        run = self.runs.get(id)
        return run if run is not None and owner in (None, run.owner) else None

    async def list(
        self, *, owner: str | None, limit: int, before: float | None = None
    ) -> Sequence[StoredRun]:
        self._note("list", "")
        found = [
            run
            for run in self.runs.values()
            if run.is_listed and owner in (None, run.owner) and (before is None or run.created < before)
        ]
        return sorted(found, key=lambda run: -run.created)[:limit]

    async def set_handle(
        self, id: str, handle: UpstreamHandle, *, first_seq: int, due_at: float
    ) -> UpstreamHandle | None:
        self._note("set_handle", id)
        run = self.runs.get(id)
        if run is None:
            return None
        if run.handle is None or run.handle == handle:
            self.runs[id] = replace(run, handle=handle, first_seq=first_seq, due_at=due_at)
        return self.runs[id].handle

    async def renew(self, id: str, *, worker: str, until: float) -> RunFlags:
        self._note("renew", id)
        return self._held(id, worker, until)

    def _held(self, id: str, worker: str, until: float) -> RunFlags:
        run = self.runs.get(id)
        if run is None or run.worker != worker:
            return LOST
        self.runs[id] = replace(run, lease_until=until)
        return RunFlags(is_cancelled=run.is_cancelled)

    async def flags(self, ids: Sequence[str], *, worker: str) -> Mapping[str, RunFlags]:
        self._note("flags", ",".join(ids))
        return {id: flags_of(self.runs.get(id), worker) for id in ids}

    async def claim(self, run: StoredRun, *, worker: str, until: float, now: float) -> StoredRun | None:
        self._note("claim", run.id)
        known = self.runs.get(run.id)
        if known is None or (known.lease_until is not None and known.lease_until > now):
            return None
        self.runs[run.id] = replace(known, worker=worker, lease_until=until)
        return self.runs[run.id]

    async def append(self, id: str, page: Page, *, worker: str, until: float) -> RunFlags:
        self._note("append", id)
        flags = self._held(id, worker, until)
        if not flags.is_lost:
            pages = self.kept.setdefault(id, [])
            assert not pages or page.first == pages[-1].last + 1
            pages.append(page)
            self.runs[id] = replace(self.runs[id], last_seq=page.last)
        return flags

    async def pages(self, id: str, *, after: int, limit: int) -> Sequence[Page]:
        self._note("pages", id)
        return [page for page in self.kept.get(id, []) if page.last > after][:limit]

    async def cancel(self, id: str, *, owner: str | None) -> StoredRun | None:
        self._note("cancel", id)
        run = self.runs.get(id)
        if run is None or owner not in (None, run.owner):
            return None
        self.runs[id] = replace(run, is_cancelled=True)
        return self.runs[id]

    async def due(self, now: float, limit: int) -> Sequence[StoredRun]:
        return [run for run in self.runs.values() if run.due_at is not None and run.due_at <= now][:limit]

    async def postpone(self, run: StoredRun, *, until: float, problem: str, is_parked: bool = False) -> bool:
        self._note("postpone", run.id)
        self.runs[run.id] = replace(run, due_at=until, problem=problem, tries=run.tries + 1)
        return True

    async def drop_pages(self, id: str) -> None:
        self.kept.pop(id, None)

    async def delete(self, id: str) -> None:
        self._note("delete", id)
        self.kept.pop(id, None)
        self.runs.pop(id, None)
