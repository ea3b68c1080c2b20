"""Where an answer comes from: the annotations of one block of text as particles.

Google counts bytes of UTF-8 within the block, we count characters of the whole answer. Must never give a
place outside of the block, nor an address that the vendor did not. Source: google-genai 3.6.1,
`URLCitation`, `FileCitation`, `PlaceCitation` (read 2026-11-29).
"""

from typing import Final

from motes import particles as p
from motes.dialects.gemini_interactions.fields import Json, count, text
from motes.jsontext import mend_surrogates

NO_SOURCES: Final = frozenset({"word_info", "speech_metadata"})
"""Annotations that tell of the sound of a word and not where it comes from."""

_WEB: Final = ("https://", "http://")
_FILES: Final = ("document_uri", "source")


class Places:
    """The places of one block of text."""

    def __init__(self, words: str, start: int) -> None:
        self._bytes = mend_surrogates(words).encode()
        self._start = start

    def of(self, note: Json) -> tuple[int | None, int | None]:
        """First character and the one behind the last, in the whole answer."""
        start, end = count(note, "start_index") or 0, count(note, "end_index")
        if end is None or not start < end <= len(self._bytes):
            return None, None
        return self._characters(start), self._characters(end)

    def _characters(self, offset: int) -> int:
        return self._start + len(self._bytes[:offset].decode("utf-8", "ignore"))


def source_of(note: Json, places: Places) -> p.Citation | None:
    """The source an annotation names; None where it names none."""
    url = text(note, "url", "uri") or next(
        (found for name in _FILES if (found := text(note, name)).startswith(_WEB)), ""
    )
    document = "" if url else text(note, "file_name", *_FILES)
    title = text(note, "title", "name", "file_name") or url or document
    if not title:
        return None
    start, end = places.of(note)
    page = count(note, "page_number")
    return p.Citation(
        title,
        url,
        start=start,
        end=end,
        document=document or None,
        location=None if page is None else {"page": page},
    )
