"""Perplexity's agent at work: searches and pages it reads, told in events of their own between the items.

Must never show more of a page than its address. Source: Perplexity API reference, "Agent API", streaming
events (read 2026-11-29).
"""

from typing import Final

from motes import particles as p
from motes.dialects.openai_responses.fields import Json, rows, strings, text
from motes.dialects.openai_responses.outcomes import address
from motes.transmitter import Emitter

PREFIX: Final = "response.reasoning."
STEPS: Final = frozenset(
    {"started", "search_queries", "search_results", "fetch_url_queries", "fetch_url_results", "stopped"}
)
_MOST: Final = 32


class Research:
    """The steps of one answer; results belong to the queries before them."""

    def __init__(self) -> None:
        self._steps = 0
        self._inputs: tuple[str, ...] = ()

    @property
    def told(self) -> bool:
        """Whether any step was told; then the items that repeat them say nothing new."""
        return self._steps > 0

    def step(self, name: str, event: Json, out: Emitter) -> None:
        """One event, by the last word of its type."""
        thought = text(event, "thought")
        if thought:
            out.reasoning(thought, restart=self._steps > 0)
        match name:
            case "search_queries":
                self._begin("Searching the web", strings(event, "queries"), out)
            case "fetch_url_queries":
                self._begin("Reading web pages", [address(url) for url in strings(event, "urls")], out)
            case "search_results" | "fetch_url_results":
                found = [*rows(event, "results"), *rows(event, "contents")]
                self._end([address(url) for row in found if (url := text(row, "url"))], out)

    def _begin(self, label: str, inputs: list[str], out: Emitter) -> None:
        self._steps += 1
        self._inputs = tuple(inputs[:_MOST])
        out.add(p.Operation(self._id, label, "search-web", inputs=self._inputs))

    def _end(self, urls: list[str], out: Emitter) -> None:
        self._steps = self._steps or 1
        words = f"Found {len(urls)} page{'' if len(urls) == 1 else 's'}"
        out.add(
            p.Operation(
                self._id, words, "search-web", "done", inputs=self._inputs, outputs=tuple(urls[:_MOST])
            )
        )

    @property
    def _id(self) -> str:
        return f"research_{self._steps}"
