"""A citation of the Messages API, of whichever kind, as one particle.

A web page has an address; a document has a name and a place in it. Must never invent either.
Source: "Citations" and "Web search tool" (platform.claude.com/docs, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final

from motes import particles as p
from motes.dialects.anthropic_messages.events import Json, text

# The place in the source, by the names the vendor uses; the rest of a citation is opaque or said elsewhere.
_PLACE: Final = (
    "document_index",
    "search_result_index",
    "start_char_index",
    "end_char_index",
    "start_page_number",
    "end_page_number",
    "start_block_index",
    "end_block_index",
)


def citation(raw: Json, start: int | None = None, end: int | None = None) -> p.Citation:
    """The particle; `start` and `end` are the cited passage's place in the answer, in characters."""
    url, title = _address(raw), text(raw.get("title")) or text(raw.get("document_title"))
    return p.Citation(
        title=title or url,
        url=url,
        start=start,
        end=end,
        text=text(raw.get("cited_text")) or None,
        document=None if url else title or text(raw.get("source")) or None,
        location=_location(raw),
    )


def _address(raw: Json) -> str:
    """A web result's URL; a search result's source where it is one."""
    source = text(raw.get("source"))
    return text(raw.get("url")) or (source if "://" in source else "")


def _location(raw: Json) -> Mapping[str, Any] | None:
    known = {name: raw[name] for name in _PLACE if isinstance(raw.get(name), int)}
    return {"type": text(raw.get("type")), **known} if known else None
