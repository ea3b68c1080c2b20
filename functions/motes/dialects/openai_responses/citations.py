"""Where an answer comes from: one annotation of a text as a particle.

Must never raise, and never give an address that the vendor did not. Source: OpenAI API reference,
"Responses", annotations of `output_text` (read 2026-11-29).
"""

from motes import particles as p
from motes.dialects.openai_responses.fields import Json, count, inner, text

CONTAINER_FILE = "vnd.oai.container_file"


def source_of(note: Json, index: int | None, shift: int) -> p.Citation | p.HostedResource | None:
    """A page or a file the answer is based on, or a file it made; None where the annotation names nothing.

    `index` is the annotation's number in its part, `shift` where the part begins in the whole text.
    """
    kind = text(note, "type")
    if kind == "container_file_citation":
        return _made(note)
    if kind in ("file_citation", "file_path"):
        return _file(note)
    place = inner(note, "url_citation") or note
    url = text(place, "url")
    if not url:
        return None
    return p.Citation(
        text(place, "title") or url,
        url,
        number=index,
        start=_shifted(count(place, "start_index"), shift),
        end=_shifted(count(place, "end_index"), shift),
        text=text(place, "text", "quote", "content") or None,
    )


def _made(note: Json) -> p.HostedResource | None:
    """A file that the answer's code left in its container."""
    id = text(note, "file_id")
    if not id:
        return None
    return p.HostedResource(
        CONTAINER_FILE,
        file_id=id,
        container_id=text(note, "container_id") or None,
        filename=text(note, "filename") or None,
    )


def _file(note: Json) -> p.Citation | None:
    name, id = text(note, "filename"), text(note, "file_id")
    if not (name or id):
        return None
    at = count(note, "index")
    return p.Citation(name, "", document=name or id, start=at, location={"file_id": id} if id else None)


def _shifted(place: int | None, shift: int) -> int | None:
    return None if place is None else place + shift
