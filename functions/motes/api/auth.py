"""Who asks: the caller's key, in any of the three headers clients send it in.

Must never tell whether a key is unknown or disabled, and never show one.
"""

from starlette.datastructures import Headers

from motes.credentials import CallerKey, KeyRing
from motes.errors import Unauthenticated

_MISSING = "no API key was sent: use `Authorization: Bearer <key>`, `x-api-key` or `api-key`"
_WRONG = "the API key is not valid here: `motes keys new` makes one"


def authenticate(headers: Headers, keys: KeyRing) -> CallerKey:
    """The caller's key. Raises Unauthenticated."""
    presented = _presented(headers)
    if not presented:
        raise Unauthenticated(_MISSING, code="missing_api_key")
    found = keys.find(presented)
    if found is None:
        raise Unauthenticated(_WRONG)
    return found


def _presented(headers: Headers) -> list[str]:
    """Every key the request carries. Clients that were given two send both, and one of them is meant."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    candidates = (
        token if scheme.lower() == "bearer" else "",
        headers.get("x-api-key", ""),
        headers.get("api-key", ""),
    )
    return [candidate.strip() for candidate in candidates if candidate.strip()]
