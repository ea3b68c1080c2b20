"""Where an answer comes from: citations of pages and files, and the tools the vendor ran for it.

Must never tell a source twice: vendors repeat their whole list in every chunk.
Sources: OpenAI (`annotations`), Perplexity (`search_results`, `citations`), xAI (`citations`), Z.ai
(`web_search`), Groq (`executed_tools`) API references, read 2026-11-29.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.dialects.openai_chat.fields import count, inner, rows, text
from motes.transmitter import Emitter

_LISTS: Final = frozenset({"search_results", "web_search", "citations"})


class Sources:
    """The sources of one answer, in order, each once."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, int | None, int | None]] = set()
        self._number = 0
        self._operations: dict[str, p.Operation] = {}
        self.files: list[Mapping[str, Any]] = []
        """Parsed files the vendor gives back, to be sent again instead of the file."""

    def read(self, chunk: Mapping[str, Any], out: Emitter) -> None:
        """The sources beside the choices: search results, else bare addresses."""
        if _LISTS.isdisjoint(chunk):
            return
        for title, url, date in _results(chunk):
            if self._first_time(url):
                self._number += 1
                out.add(p.Citation(title, url, number=self._number, published_at=_epoch_ms(date)))

    def annotate(self, source: Mapping[str, Any], out: Emitter) -> None:
        """The annotations of a delta or a message."""
        for note in rows(source, "annotations"):
            kind = note.get("type")
            if kind == "file":
                self.files.append(note)
            elif kind in ("file_citation", "file_path"):
                self._add(_file_citation(note), out)
            else:
                self._add(_url_citation(note), out)

    def refer(self, id: str, out: Emitter) -> None:
        """Mistral: the answer refers to a result that a tool gave."""
        self._add(p.Citation("", "", document=id, location={"reference": id}), out)

    def run(self, source: Mapping[str, Any], out: Emitter) -> None:
        """Groq: tools the vendor ran itself, told when they start and when they are done."""
        for at, tool in enumerate(rows(source, "executed_tools")):
            index = count(tool, "index")
            operation = _operation(f"executed_{at if index is None else index}", tool)
            if self._operations.get(operation.id) != operation:
                self._operations[operation.id] = operation
                out.add(operation)

    def _add(self, citation: p.Citation | None, out: Emitter) -> None:
        if citation is None:
            out.warn("unknown_annotation", "an annotation that names no source was skipped")
        elif self._first_time(citation.url or citation.document or "", citation.start, citation.end):
            out.add(citation)

    def _first_time(self, name: str, start: int | None = None, end: int | None = None) -> bool:
        key = (name, start, end)
        if not name or key in self._seen:
            return False
        self._seen.add(key)
        return True


def _results(chunk: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(title, address, date) of every result; the bare list only where there are no results."""
    found = rows(chunk, "search_results") or rows(chunk, "web_search")
    for row in found or rows(chunk, "citations"):
        yield text(row, "title"), text(row, "url", "link"), text(row, "date", "publish_date")
    bare = chunk.get("citations")
    if not found and isinstance(bare, list):
        yield from (("", url, "") for url in bare if isinstance(url, str))


def _url_citation(note: Mapping[str, Any]) -> p.Citation | None:
    place = inner(note, "url_citation") or note
    url = text(place, "url")
    if not url:
        return None
    return p.Citation(
        text(place, "title"),
        url,
        start=count(place, "start_index"),
        end=count(place, "end_index"),
        text=text(place, "content", "quote") or None,
    )


def _file_citation(note: Mapping[str, Any]) -> p.Citation | None:
    place = inner(note, "file_citation") or inner(note, "file_path") or note
    name, id = text(place, "filename", "name"), text(place, "file_id")
    if not (name or id):
        return None
    index = count(note, "index", "start_index")
    return p.Citation(name, "", document=name or id, start=index, location={"file_id": id} if id else None)


def _operation(id: str, tool: Mapping[str, Any]) -> p.Operation:
    kind, arguments, output = text(tool, "type"), tool.get("arguments"), text(tool, "output")
    given = arguments if isinstance(arguments, str) else jsontext.dumps(arguments) if arguments else ""
    computes = any(word in kind for word in ("python", "code"))
    return p.Operation(
        id,
        kind or "tool",
        "code-exec" if computes else "search-web",
        state="done" if output else None,
        inputs=(given,) if given else (),
        outputs=(output,) if output else (),
    )


def _epoch_ms(date: str) -> int | None:
    """A date, or a date and time, in epoch milliseconds; a time without zone is in UTC."""
    try:
        at = datetime.fromisoformat(date)
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
