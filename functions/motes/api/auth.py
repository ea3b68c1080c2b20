"""Who asks: the caller's key, in any of the three headers clients send it in.

Must never tell whether a key is unknown or disabled, and never show one.
"""

from starlette.datastructures import Headers

from motes.callers import Admission, KeyRing
from motes.errors import Unauthenticated

_MISSING = "no API key was sent: use `Authorization: Bearer <key>`, `x-api-key` or `api-key`"
_WRONG = "the API key is not valid here: `motes keys new` makes one"


async def admit(headers: Headers, keys: KeyRing) -> Admission:
    """Let the caller in, to be confirmed before anything is shown. Raises Unauthenticated or StoreError."""
    presented = _presented(headers)
    if not presented:
        raise Unauthenticated(_MISSING, code="missing_api_key")
    admission = await keys.admit(presented)
    if admission is None:
        raise Unauthenticated(_WRONG)
    return admission


async def confirm(admission: Admission) -> None:
    """Be sure of a caller who was let in. Raises Unauthenticated or StoreError."""
    if not await admission.confirmed():
        raise Unauthenticated(_WRONG)


async def authenticate(headers: Headers, keys: KeyRing) -> None:
    """Be sure that the caller has a key. Raises Unauthenticated or StoreError."""
    await confirm(await admit(headers, keys))


def _presented(headers: Headers) -> list[str]:
    """Every key the request carries. Clients that were given two send both, and one of them is meant."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    candidates = (
        token if scheme.lower() == "bearer" else "",
        headers.get("x-api-key", ""),
        headers.get("api-key", ""),
    )
    return [candidate.strip() for candidate in candidates if candidate.strip()]
