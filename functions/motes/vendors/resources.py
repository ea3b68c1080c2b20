"""Files that lie at vendors: what their names look like, and where they are had.

Pure. Must never let anything into a path but a name that matches its kind whole: a name comes from a caller
or from a model. Sources: the Files API of Anthropic and of Google, the Containers API of OpenAI (read
2026-11-29).
"""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from motes import particles as p
from motes.dataclass import dataclass
from motes.vendors.vendor import ResourceKind

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePlace:
    """One kind of file. `name` matches the whole of a name; `content` and `about` are paths below the
    vendor's address, with the parts of the name in them. `max_bytes` is the most that is passed on.
    """

    name: re.Pattern[str]
    content: str
    about: str
    max_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict)


_ID: Final = "[A-Za-z0-9_-]{1,128}"

PLACES: Final[Mapping[ResourceKind, ResourcePlace]] = {
    "vnd.ant.file": ResourcePlace(
        name=re.compile(f"(?P<file>{_ID})"),
        content="v1/files/{file}/content",
        about="v1/files/{file}",
        max_bytes=10 * MIB,
        headers={"anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14"},
    ),
    "vnd.oai.container_file": ResourcePlace(
        name=re.compile(f"(?P<container>{_ID})/(?P<file>{_ID})"),
        content="containers/{container}/files/{file}/content",
        about="containers/{container}/files/{file}",
        max_bytes=10 * MIB,
    ),
    "vnd.gem.file": ResourcePlace(
        name=re.compile("files/(?P<file>[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)"),
        content="v1beta/files/{file}:download?alt=media",
        about="v1beta/files/{file}",
        max_bytes=32 * MIB,
    ),
}
"""Every kind."""


def place_of(kind: str) -> ResourcePlace | None:
    """The kind of that name."""
    return next((place for known, place in PLACES.items() if known == kind), None)


def name_of(resource: p.HostedResource) -> str:
    """The name of a file by which it is asked for; empty where it has none."""
    if resource.kind == "vnd.oai.container_file":
        return f"{resource.container_id}/{resource.file_id}" if resource.container_id else ""
    return resource.file_id or resource.resource or ""


def paths_of(place: ResourcePlace, name: str) -> tuple[str, str] | None:
    """The paths of its content and of what is known about it, or None where that is no name of this kind."""
    parts = place.name.fullmatch(name)
    if parts is None:
        return None
    return place.content.format(**parts.groupdict()), place.about.format(**parts.groupdict())
