"""An answer by the vendor's search, where that is all that was asked: no model is, and nothing is counted.

Must never fail a run: where there is no result, the model is asked as if nothing had been. What is found goes
out as text with its sources; `Metrics` say that there is no usage to tell.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from motes import particles as p
from motes.dispatch import Search
from motes.executor.fetch import FetchFailed, fetch
from motes.executor.run import Batch, Run

NOT_FOUND: Final = "the vendor's search gave no result, so the model was asked"
SYNTHETIC: Final = "this is the result of the vendor's search; no model was asked"
_MAX_BYTES: Final = 1024 * 1024
_MAX_RESULTS: Final = 50
_SECONDS: Final = 30.0


async def search_first(
    search: Search, source: AsyncGenerator[Batch, None], run: Run
) -> AsyncGenerator[Batch, None]:
    """What the search found; else the source, which is asked only then."""
    async with aclosing(source):
        found = await _found(search, run)
        yield found or [p.Warn(NOT_FOUND, "search_failed")]
        if not found:
            async for batch in source:
                yield batch


async def _found(search: Search, run: Run) -> Batch:
    """The whole answer, its `End` included; empty where the search failed or found nothing."""
    seconds = min(_SECONDS, run.dispatch.timeouts.first_byte)
    run.progress.step = "waiting"
    try:
        answer = await fetch(run.http, search.errand, limit=_MAX_BYTES, seconds=seconds)
        results = list(_results(answer.json()))
    except FetchFailed:
        return []
    return _told(results) if results else []


def _results(answer: Any) -> Iterator[p.Citation]:
    """What can be told of a result: its address, and its title or what is said of it."""
    rows = answer.get("results") if isinstance(answer, Mapping) else None
    for row in rows[:_MAX_RESULTS] if isinstance(rows, list) else ():
        if isinstance(row, Mapping):
            title, snippet, url = (_text(row, name) for name in ("title", "snippet", "url"))
            if url and (title or snippet):
                yield p.Citation(title or url, url, text=snippet or None)


def _told(results: list[p.Citation]) -> Batch:
    blocks = [
        "\n".join(filter(None, (f"{number}. {result.title}", result.url, result.text)))
        for number, result in enumerate(results, 1)
    ]
    return [
        p.Warn(SYNTHETIC, "synthetic"),
        p.Text("\n\n".join(blocks)),
        *results,
        p.Metrics(source="none"),
        p.End("done-dialect", "ok"),
    ]


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""
