"""The conversation with the table about runs: what is asked and written, in which conditional writes.

Every change is one conditional write, so that of two processes one is heard; a page and the lease it renews
are one transaction. What the index `due` tells is only where to look: the runs themselves are read as they
are now. Blocks: it is held in a thread. Must never change a run without a condition.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from heapq import merge
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, get_args

from motes.particles import UpstreamHandle
from motes.store import dynamo_run_items as items
from motes.store.dynamo_calls import READS, Unmet, patiently, query, read_all, write_all
from motes.store.run_fields import all_flags, flags_of, postponed, runs_of
from motes.store.runs import LOST, Page, RunFlags, RunState, StoredRun

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

_ABSENT: Final = "attribute_not_exists(pk)"
_PRESENT: Final = "attribute_exists(pk)"
_MINE: Final = "#worker = :mine"
_NEXT: Final = f"{_MINE} AND #last_seq = :before"
_NEXT_IF_WANTED: Final = f"{_NEXT} AND #is_cancelled = :no"
_FREE: Final = (
    f"{_PRESENT} AND (attribute_not_exists(#lease_until) OR #lease_until <= :now OR #worker = :mine)"
)
_NO_LATER: Final = (
    f"{_PRESENT} AND (attribute_not_exists(#handle)"
    " OR (#handle.#type = :type AND #handle.#run_id = :run) OR #handle.#created_at > :created)"
)
_ALL_OLD: Final = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}

_STAYING: Final = frozenset({"id", "owner", "caller", "created", "last_seq", "is_cancelled"})
_POSTPONED: Final = ("state", "worker", "lease_until", "due_at", "tries", "problem")
_DUE_STATES: Final = tuple(state for state in get_args(RunState) if state != "parked")
# Of what was created at no known time: it takes nobody's place.
_NEVER_MS: Final = 10**15
# What a query looks at together: some of it may not be what is looked for.
_LEAST: Final = 25


class RunTable:
    """The table, for one piece of work. `now` gives epoch seconds."""

    def __init__(self, client: "DynamoDBClient", name: str, now: Callable[[], float]) -> None:
        self._client = client
        self._name = name
        self._now = now

    def put(self, run: StoredRun) -> bool:
        """See `RunStore`. One transaction of three items: no run is missing from a list."""
        now = self._now()
        puts = self._puts([items.run_item(run, now), *items.list_items(run, now)])
        puts[0]["Put"] |= {"ConditionExpression": _ABSENT, **_ALL_OLD}
        try:
            self._transact(puts)
        except Unmet as unmet:
            # Where an answer is lost on its way, botocore asks twice.
            return unmet.item is not None and items.run_from(unmet.item) == run
        return True

    def update(self, run: StoredRun, worker: str) -> RunFlags:
        """See `RunStore`."""
        change = {name: value for name, value in asdict(run).items() if name not in _STAYING}
        return self._as_worker(run.id, worker, change)

    def read(self, id: str) -> StoredRun | None:
        """The run as it is now, whoever's it is."""
        asked: Any = {"TableName": self._name, "Key": items.run_key(id), "ConsistentRead": True}
        found = patiently(lambda: self._client.get_item(**asked)).get("Item")
        return None if found is None else items.run_from(found)

    def renew(self, id: str, worker: str, until: float) -> RunFlags:
        """See `RunStore`."""
        return self._as_worker(id, worker, {"lease_until": until})

    def flags(self, ids: Sequence[str], worker: str) -> dict[str, RunFlags]:
        """See `RunStore`."""
        there = {
            item["pk"]["S"]: item for item in read_all(self._client, self._name, [*map(items.run_key, ids)])
        }
        found = {id: there.get(items.partition(id)) for id in ids}
        return all_flags(found, items.run_from, worker)

    def claim(self, id: str, worker: str, until: float, now: float) -> StoredRun | None:
        """See `RunStore`."""
        told = {":mine": worker, ":now": now}
        return self._changed(id, {"worker": worker, "lease_until": until}, _FREE, told)

    def cancel(self, id: str, owner: str | None) -> StoredRun | None:
        """See `RunStore`."""
        condition, told = (_PRESENT, {}) if owner is None else ("#owner = :owner", {":owner": owner})
        return self._changed(id, {"is_cancelled": True}, condition, told)

    def postpone(self, run: StoredRun, until: float, problem: str, is_parked: bool) -> bool:
        """See `RunStore`."""
        then = asdict(postponed(run, until, problem, is_parked))
        flags = self._as_worker(run.id, run.worker or "", {name: then[name] for name in _POSTPONED})
        return not flags.is_lost

    def set_handle(
        self, id: str, handle: UpstreamHandle, first_seq: int, due_at: float
    ) -> UpstreamHandle | None:
        """See `RunStore`."""
        change = {"handle": asdict(handle), "first_seq": first_seq, "due_at": due_at}
        created = _NEVER_MS if handle.created_at is None else handle.created_at
        told = {":type": handle.type, ":run": handle.run_id, ":created": created}
        try:
            return self._write(id, change, _NO_LATER, told).handle
        except Unmet as unmet:
            return None if unmet.item is None else items.run_from(unmet.item).handle

    def append(self, id: str, page: Page, worker: str, until: float) -> RunFlags:
        """See `RunStore`. Where the page is written at once, nobody had asked for a cancel; where somebody
        had, it is written by a second transaction.
        """
        try:
            self._append(id, page, worker, until, _NEXT_IF_WANTED)
            return RunFlags()
        except Unmet as unmet:
            there = None if unmet.item is None else items.run_from(unmet.item)
        flags = flags_of(there, worker)
        if there is None or flags.is_lost:
            return LOST
        if there.last_seq != page.first - 1:
            found = self.pages(id, page.last - 1, 1)
            return flags if [(one.first, one.last) for one in found] == [(page.first, page.last)] else LOST
        try:
            self._append(id, page, worker, until, _NEXT)
        except Unmet:
            return LOST
        return flags

    def pages(self, id: str, after: int, limit: int) -> list[Page]:
        """The pages that end beyond a particle, in order, at most `limit`."""
        bounds = {":from": items.page_name(max(0, after) + 1), ":to": items.LAST_PAGE}
        found = self._query(
            "pk = :pk AND sk BETWEEN :from AND :to",
            {":pk": items.partition(id), **bounds},
            ConsistentRead=True,
            Limit=max(1, limit),
        )
        return [*islice(items.pages_from(chain.from_iterable(found)), max(0, limit))]

    def drop_pages(self, id: str) -> None:
        """See `RunStore`."""
        self._remove(self._page_keys(id))

    def delete(self, id: str) -> None:
        """See `RunStore`. Whoever is killed in the middle leaves a run that is due, and is found again."""
        lost = {"worker": None, "lease_until": None, "handle": None}
        there = self._changed(id, {"state": "deleting", "due_at": self._now(), **lost}, _PRESENT, {})
        if there is None or there.last_seq:
            self._remove(self._page_keys(id))
        self._remove([*(items.list_keys(there) if there else ()), items.run_key(id)])

    def listed(self, owner: str | None, limit: int, before: float | None) -> list[StoredRun]:
        """See `RunStore.list`."""
        told = {":pk": items.RUNS if owner is None else items.of_owner(owner)}
        until = {} if before is None else {":before": items.list_name(before)}
        words = "pk = :pk AND sk < :before" if until else "pk = :pk"
        found = self._query(words, told | until, ScanIndexForward=False, Limit=_at_once(limit))
        runs = (run for names in found for run in self._runs([items.run_key(n["id"]["S"]) for n in names]))
        return [*islice((run for run in runs if run.is_listed), max(0, limit))]

    def due(self, now: float, limit: int) -> list[StoredRun]:
        """See `RunStore`."""
        by_state = [self._due_in(state, now, limit) for state in _DUE_STATES]
        return [*islice(merge(*by_state, key=lambda run: run.due_at or now), max(0, limit))]

    def _due_in(self, state: str, now: float, limit: int) -> Iterator[StoredRun]:
        found = self._query(
            "#state = :state AND due_at <= :now",
            {":state": state, ":now": now},
            IndexName="due",
            Limit=_at_once(limit),
        )
        for names in found:
            runs = self._runs([{"pk": name["pk"], "sk": name["sk"]} for name in names])
            yield from (run for run in runs if run.state == state and _is_due(run, now))

    def _runs(self, keys: Sequence[items.Key]) -> Iterator[StoredRun]:
        return runs_of(map(items.fields_from, read_all(self._client, self._name, keys)))

    def _query(self, words: str, told: Mapping[str, Any], **options: Any) -> Iterator[Sequence[items.Item]]:
        return query(
            self._client,
            TableName=self._name,
            KeyConditionExpression=words,
            ExpressionAttributeValues=items.attributes(told),
            **options,
            **_names(words),
        )

    def _page_keys(self, id: str) -> Iterator[items.Key]:
        told = {":pk": items.partition(id), ":page": items.PAGE}
        found = self._query("pk = :pk AND begins_with(sk, :page)", told, ProjectionExpression="pk, sk")
        return ({"pk": name["pk"], "sk": name["sk"]} for name in chain.from_iterable(found))

    def _remove(self, keys: Iterable[items.Key]) -> None:
        write_all(self._client, self._name, ({"DeleteRequest": {"Key": key}} for key in keys))

    def _append(self, id: str, page: Page, worker: str, until: float, condition: str) -> None:
        told = {":mine": worker, ":before": page.first - 1, ":no": False}
        if condition == _NEXT:
            del told[":no"]
        change = {"last_seq": page.last, "lease_until": until}
        update = {"Update": self._update(id, change, condition, told)}
        self._transact([update, *self._puts(items.page_items(id, page, self._now()))])

    def _as_worker(self, id: str, worker: str, change: Mapping[str, Any]) -> RunFlags:
        try:
            there = self._write(id, change, _MINE, {":mine": worker})
        except Unmet as unmet:
            return _refused(unmet.item, change)
        return RunFlags(is_cancelled=there.is_cancelled)

    def _changed(
        self, id: str, change: Mapping[str, Any], condition: str, told: Mapping[str, Any]
    ) -> StoredRun | None:
        try:
            return self._write(id, change, condition, told)
        except Unmet:
            return None

    def _write(
        self, id: str, change: Mapping[str, Any], condition: str, told: Mapping[str, Any]
    ) -> StoredRun:
        """The run as it stands then. Raises Unmet."""
        asked = {**self._update(id, change, condition, told), "ReturnValues": "ALL_NEW"}
        return items.run_from(patiently(lambda: self._client.update_item(**asked))["Attributes"])

    def _update(
        self, id: str, change: Mapping[str, Any], condition: str, told: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A conditional write. What is None is removed, and a time to be due at moves the backstop."""
        if "due_at" in change:
            change = {**change, "ttl": items.ttl_of(change["due_at"], self._now())}
        known = {name: value for name, value in change.items() if value is not None}
        words = "SET " + ", ".join(f"#{name} = :{name}" for name in known)
        if len(known) < len(change):
            words += " REMOVE " + ", ".join(f"#{name}" for name in change if name not in known)
        values = {f":{name}": value for name, value in known.items()} | dict(told)
        return {
            "TableName": self._name,
            "Key": items.run_key(id),
            "UpdateExpression": words,
            "ConditionExpression": condition,
            "ExpressionAttributeValues": items.attributes(values),
            **_names(f"{words} {condition}"),
            **_ALL_OLD,
        }

    def _puts(self, kept: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{"Put": {"TableName": self._name, "Item": item}} for item in kept]

    def _transact(self, asked: list[Any]) -> None:
        patiently(lambda: self._client.transact_write_items(TransactItems=asked))


def _names(words: str) -> dict[str, Any]:
    """What an expression names by placeholders: many of our names are words of DynamoDB's own."""
    named = set(re.findall(r"#([a-z_]+)", words))
    return {"ExpressionAttributeNames": {f"#{name}": name for name in named}} if named else {}


def _refused(item: items.Item | None, change: Mapping[str, Any]) -> RunFlags:
    """What a worker hears whose write was refused. Its write may stand there already, and with it that the
    lease is given up: where an answer is lost on its way, botocore asks twice.
    """
    if item is None or "worker" not in change:
        return LOST
    there = items.run_from(item)
    fields = asdict(there)
    is_written = all(fields[name] == value for name, value in change.items())
    return RunFlags(is_cancelled=there.is_cancelled) if is_written else LOST


def _at_once(limit: int) -> int:
    return min(READS, max(limit, _LEAST))


def _is_due(run: StoredRun, now: float) -> bool:
    is_held = run.lease_until is not None and run.lease_until > now
    return run.due_at is not None and run.due_at <= now and not is_held
