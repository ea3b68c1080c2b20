"""The headers of a request, read once for everybody who looks at them.

As Starlette has them: names in small letters, Latin-1, and of a header that is there twice the first counts.
Must never change one.
"""

from collections.abc import Mapping
from typing import Final

from starlette.types import Scope

_READ: Final = "motes.headers"


def headers_of(scope: Scope) -> Mapping[str, str]:
    """The request's headers by their names, a plain dict: it is asked a dozen times a request."""
    read: Mapping[str, str] | None = scope.get(_READ)
    if read is None:
        raw = reversed(list(scope["headers"]))
        read = scope[_READ] = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    return read


def forget_headers(scope: Scope) -> None:
    """Nobody looks at them any more: a stream may go on for long."""
    scope.pop(_READ, None)
