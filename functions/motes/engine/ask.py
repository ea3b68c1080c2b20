"""A request as motes' own executor makes it: bytes and a place, without a client's machinery around them.

Must never be given to what follows redirects or keeps cookies: it says all that is sent.
"""

from collections.abc import Callable, Iterable

import httpx

from motes.dataclass import dataclass
from motes.engine.connection import Header

_WITH_A_BODY = ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. `connect` is how many seconds a connection may take to be made; `on_sending` is called
    when there is one and the request goes out.
    """

    method: str
    url: httpx.URL
    headers: list[Header]
    body: bytes
    connect: float | None
    on_sending: Callable[[], None]


def headers_of(
    method: str, url: httpx.URL, own: Iterable[Header], given: Iterable[Header], body: bytes
) -> list[Header]:
    """All that stands in the head, as httpx has it: what is given takes the place of our own of that name."""
    found = {name.lower(): (name, value) for name, value in own}
    for name, value in given:
        found[name.lower()] = (name, value)
    out = list(found.values())
    if b"host" not in found:
        out.insert(0, (b"Host", url.netloc))
    if (body or method in _WITH_A_BODY) and b"content-length" not in found:
        out.append((b"Content-Length", b"%d" % len(body)))
    return out
