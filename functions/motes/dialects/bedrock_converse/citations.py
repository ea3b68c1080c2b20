"""A citation of Converse, of whichever kind, as one particle.

A web page has an address; a document has a name and a place in it. Must never invent either.
Source: Amazon Bedrock API reference, "Citation" and "CitationLocation" (read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

from motes import particles as p
from motes.dialects.bedrock_converse.events import Citation, count, obj, objects, text

_PLACES: Final = ("documentChar", "documentPage", "documentChunk", "searchResultLocation")


def continues(citation: Citation) -> bool:
    """Whether a delta only adds to the source told before it."""
    return not any(citation.get(name) for name in ("title", "source", "location"))


def particle(citation: Citation, quoted: str, start: int | None, end: int | None) -> p.Citation:
    """The particle; `start` and `end` are the cited passage's place in the answer, in characters."""
    location = obj(citation.get("location"))
    source, web = text(citation.get("source")), obj(location.get("web"))
    url = text(web.get("url")) or (source if source.startswith(("https://", "http://")) else "")
    title = text(citation.get("title")) or text(web.get("domain"))
    return p.Citation(
        title=title or url or source,
        url=url,
        start=start,
        end=end,
        text=quoted or None,
        document=None if url else title or source or None,
        location=_place(location),
    )


def quoted(citation: Citation) -> str:
    """The words of the source that were cited."""
    return "".join(text(part.get("text")) for part in objects(citation.get("sourceContent")))


def _place(location: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for kind in _PLACES:
        numbers = {name: value for name, value in obj(location.get(kind)).items() if count(value) is not None}
        if numbers:
            return {"type": kind, **numbers}
    return None
