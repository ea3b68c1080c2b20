"""A vendor that keeps runs: what was cancelled and deleted there, how often, and who may not be."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fakes.http_server import Answer, Asked, answering

PREFIX = "/v1/responses/"


class RunVendor:
    """`there` are the runs that live on here. `fails` says of an id with what status a request for it is
    answered, and how often (a status of 0 breaks the connection).
    """

    def __init__(self, there: set[str], fails: dict[str, tuple[int, int]] | None = None) -> None:
        self.there = there
        self.fails = dict(fails or {})
        self.cancelled: Counter[str] = Counter()
        self.deleted: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.keys: set[str | None] = set()
        self.at_once = self.most_at_once = 0
        self.delay = 0.0
        self.base_url = ""
        self.progress = threading.Condition()

    @contextmanager
    def serving(self) -> Iterator["RunVendor"]:
        with answering(self._answer) as port:
            self.base_url = f"http://127.0.0.1:{port}/v1"
            yield self

    def wait_until_deleted(self, count: int, seconds: float = 1200.0) -> bool:
        with self.progress:
            return self.progress.wait_for(lambda: len(self.deleted) >= count, seconds)

    async def _answer(self, asked: Asked) -> Answer:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.delay)
            self.keys.add(asked.headers.get("authorization"))
            status = self._done(asked)
        finally:
            self.at_once -= 1
        return status, json.dumps({"status": status}).encode()

    def _done(self, asked: Asked) -> int:
        id, _, action = asked.path.removeprefix(PREFIX).partition("/")
        status, times = self.fails.get(id, (0, 0))
        if times > 0 and asked.method == "DELETE":
            self.fails[id] = (status, times - 1)
            return status
        if id not in self.there:
            if asked.method == "DELETE":
                self.missed[id] += 1
            return 404
        if (asked.method, action) == ("POST", "cancel"):
            self.cancelled[id] += 1
            return 200
        if (asked.method, action) != ("DELETE", ""):
            return 405
        with self.progress:
            self.there.discard(id)
            self.deleted[id] += 1
            self.progress.notify_all()
        return 200
