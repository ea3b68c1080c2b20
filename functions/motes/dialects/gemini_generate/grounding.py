"""Sources of an answer: grounding, recitation and fetched addresses, each told once, at the end.

They wait for the end because their places refer to the whole text, and because a thought signature that
comes after them belongs to the text and not to a source. Google counts bytes of UTF-8, we count characters;
where the bytes do not fit the quoted words, the words decide. Must never give a place outside of the text.

Source: ai.google.dev/api/generate-content (GroundingMetadata, Segment, CitationMetadata) and
ai.google.dev/gemini-api/docs/url-context, read 2026-11-29.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import date
from typing import Final

from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.gemini_generate.events import CitationSource, GroundingMetadata, Segment
from motes.dialects.gemini_generate.fields import an_object, count, member, objects, text
from motes.jsontext import mend_surrogates
from motes.kept_text import KeptText
from motes.transmitter import Emitter

_MAX_SUPPORTS: Final = 2_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAY_MS: Final = 86_400_000

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Source:
    """One source. Two that agree in all of this are one."""

    url: str
    title: str
    document: str = ""
    text: str = ""


@dataclass(slots=True)
class _Uses:
    """Where a source is used in the answer, and when it was published."""

    places: dict[Place, None] = field(default_factory=dict)
    published_at: int | None = None


class Sources:
    """Collects the sources of one answer."""

    def __init__(self) -> None:
        self._chunks: list[_Source | None] = []
        self._supports: list[tuple[Segment, list[object]]] = []
        self._cited: list[CitationSource] = []
        self._fetched: list[str] = []

    def grounding(self, metadata: GroundingMetadata) -> None:
        """Grounding of one datum. Indices count the chunks of all data; chunks told again add none."""
        chunks = [_source(chunk) for chunk in objects(member(metadata, "groundingChunks"))]
        if chunks[: len(self._chunks)] == self._chunks:
            self._chunks = chunks
        elif self._chunks[: len(chunks)] != chunks:
            self._chunks += chunks
        for support in objects(member(metadata, "groundingSupports")):
            indices = member(support, "groundingChunkIndices")
            if isinstance(indices, list) and len(self._supports) < _MAX_SUPPORTS:
                self._supports.append((an_object(member(support, "segment")), indices))

    def citations(self, metadata: Mapping[str, object]) -> None:
        """Recited sources; the Gemini API and Vertex call the list differently."""
        for name in ("citations", "citationSources"):
            self._cited += objects(member(metadata, name))

    def addresses(self, metadata: Mapping[str, object]) -> None:
        """Addresses that were fetched; those that could not be are no sources."""
        for entry in objects(member(metadata, "urlMetadata")):
            url = text(member(entry, "retrievedUrl"))
            if url and text(member(entry, "urlRetrievalStatus")).endswith("SUCCESS"):
                self._fetched.append(url)

    def close(self, answer: KeptText, out: Emitter) -> None:
        """Tell every source once for each place it supports, or once without a place; numbers from 1."""
        if not (self._chunks or self._cited or self._fetched):
            return
        if answer.is_lost:
            out.warn(
                "sources_without_places",
                "in an answer as long as this the places of its sources are not found",
            )
        uses = self._collected(_Answer(answer.whole()))
        for number, (source, use) in enumerate(uses.items(), 1):
            plain = p.Citation(
                source.title,
                source.url,
                number,
                text=source.text or None,
                published_at=use.published_at,
                document=source.document or None,
            )
            for start, end in use.places:
                out.add(replace(plain, start=start, end=end))
            if not use.places:
                out.add(plain)

    def _collected(self, answer: "_Answer") -> dict[_Source, _Uses]:
        uses = {chunk: _Uses() for chunk in self._chunks if chunk is not None}
        for segment, indices in self._supports:
            place = answer.place(segment)
            for index in indices:
                source = self._chunk(index)
                if source is not None and place is not None:
                    uses[source].places[place] = None
        for cited in self._cited:
            _add_cited(cited, answer, uses)
        known = {source.url for source in uses}
        for url in dict.fromkeys(self._fetched):
            if url not in known:
                uses[_Source(url, "")] = _Uses()
        return uses

    def _chunk(self, index: object) -> _Source | None:
        number = count(index)
        return self._chunks[number] if number is not None and number < len(self._chunks) else None


class _Answer:
    """The answer's text, with its places in bytes and in characters."""

    def __init__(self, answer: str) -> None:
        self._text = mend_surrogates(answer)
        self._bytes = self._text.encode()

    def place(self, segment: Segment | CitationSource) -> Place | None:
        """The characters a segment covers, or None where it covers none of this text."""
        start = count(member(segment, "startIndex")) or 0
        end = count(member(segment, "endIndex"))
        words = mend_surrogates(text(member(segment, "text")))
        if end is not None and start < end <= len(self._bytes):
            place = self._characters(start), self._characters(end)
            if not words or self._text[place[0] : place[1]] == words:
                return place
        return self._find(words, start)

    def _characters(self, offset: int) -> int:
        if len(self._bytes) == len(self._text):
            return offset
        return len(self._bytes[:offset].decode("utf-8", "ignore"))

    def _find(self, words: str, offset: int) -> Place | None:
        if not words:
            return None
        start = self._text.find(words, self._characters(offset))
        if start < 0:
            start = self._text.find(words)
        return (start, start + len(words)) if start >= 0 else None


def _source(chunk: Mapping[str, object]) -> _Source | None:
    """The source a chunk names, whatever kind it is; None keeps its index where it names none."""
    for value in chunk.values():
        if isinstance(value, dict):
            found = _named(value)
            if found is not None:
                return found
    return None


def _named(value: Mapping[str, object]) -> _Source | None:
    url = text(member(value, "uri")) or text(member(value, "sourceUri"))
    title = text(member(value, "title"))
    if url:
        return _Source(url, title)
    document = text(member(value, "documentName")) or title or text(member(value, "fileSearchStore"))
    return _Source("", title or document, document, text(member(value, "text"))) if document else None


def _add_cited(cited: CitationSource, answer: _Answer, uses: dict[_Source, _Uses]) -> None:
    url, title = text(member(cited, "uri")), text(member(cited, "title"))
    if not url and not title:
        return
    use = uses.setdefault(_Source(url, title, "" if url else title), _Uses())
    place = answer.place(cited)
    if place is not None:
        use.places[place] = None
    use.published_at = _epoch_ms(an_object(member(cited, "publicationDate")))


def _epoch_ms(day: Mapping[str, object]) -> int | None:
    """Midnight UTC of a google.type.Date; a missing month or day is the first."""
    year, month, of_month = (count(day.get(name)) for name in ("year", "month", "day"))
    try:
        return (date(year or 0, month or 1, of_month or 1).toordinal() - _EPOCH) * _DAY_MS
    except (ValueError, OverflowError):
        return None
