"""A citation of Cohere as particles: one for each source that a passage rests on.

A place in the answer's text is told as such; one in the reasoning or the plan only in `location`. Must never
invent a title or an address: what a tool gave has none. Source: "RAG citations" and "Tool use citations"
(docs.cohere.com, read 2026-11-29).
"""

from collections.abc import Iterator
from typing import Any

from motes import particles as p
from motes.dialects.cohere_chat.events import Json, count, obj, objects, text

_IN_TEXT = ("", "TEXT_CONTENT")


def particles(citation: Json, before: int | None) -> Iterator[p.Citation]:
    """The particles. `before` is how much of the answer's text stands before the cited block, in characters;
    None where that is not known.
    """
    shift = before if text(citation.get("type")) in _IN_TEXT else None
    for source in objects(citation.get("sources")):
        document = obj(source.get("document"))
        id = text(source.get("id")) or text(document.get("id"))
        url = text(document.get("url"))
        title = text(document.get("title"))
        yield p.Citation(
            title=title or url,
            url=url,
            start=_shifted(citation.get("start"), shift),
            end=_shifted(citation.get("end"), shift),
            document=id or title or None,
            location=_location(citation, source, id),
        )


def _shifted(place: object, shift: int | None) -> int | None:
    found = count(place)
    return None if found is None or shift is None else found + shift


def _location(citation: Json, source: Json, id: str) -> dict[str, Any]:
    """Which source it is, and where the passage is, in the vendor's own words."""
    place = {
        "type": text(source.get("type")),
        "id": id,
        "in": text(citation.get("type")),
        "contentIndex": count(citation.get("content_index")),
        "start": count(citation.get("start")),
        "end": count(citation.get("end")),
    }
    return {name: value for name, value in place.items() if value not in (None, "")}
