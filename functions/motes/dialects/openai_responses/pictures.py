"""Images in an answer: inline ones as whole particles, others as what lies elsewhere.

Must never decode what it is given: an image stays the base64 it came as.
"""

import re
from typing import Final

from motes import particles as p

_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*?;base64,", re.I)
_MIMES: Final = {"jpg": "image/jpeg", "svg": "image/svg+xml"}
_KNOWN: Final = ("png", "jpeg", "webp", "gif", *_MIMES)
_SMALL: Final = 250_000
"""Characters of base64 up to which a plot is small enough to be left as it is."""


def picture(
    data: str,
    format: str,
    *,
    generator: str | None = None,
    prompt: str | None = None,
    partial: bool = False,
    small: bool = False,
) -> p.Image | p.HostedResource:
    """The image that a base64 text, a data URL or an address stands for. `small`: it may be left unscaled."""
    if data.startswith(("https://", "http://")):
        return p.HostedResource("image-url", resource=data)
    head = _DATA_URL.match(data)
    mime = (head and head.group(1)) or _mime(format)
    base64 = data[head.end() :] if head else data
    return p.Image(
        mime,
        base64,
        generator=generator,
        prompt=prompt,
        hint_skip_resize=small and len(base64) <= _SMALL,
        partial=partial,
    )


def _mime(format: str) -> str:
    """The media type of a format's name; what is unnamed or unknown is taken for PNG, the default."""
    name = format.lower()
    return _MIMES.get(name, f"image/{name}") if name in _KNOWN else "image/png"
