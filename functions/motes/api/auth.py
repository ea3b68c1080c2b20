"""Who asks: the caller's key, in any of the three headers clients send it in.

Must never tell whether a key is unknown or disabled, and never show one.
"""

import logging
from typing import Final

from starlette.datastructures import Headers

from motes.api.logline import logline
from motes.callers import Admission, KeyRing
from motes.errors import PrepareError, Unauthenticated

_log = logging.getLogger("motes.api")

_MISSING = "no API key was sent: use `Authorization: Bearer <key>`, `x-api-key` or `api-key`"
_WRONG = "the API key is not valid here: `motes keys new` makes one"
_UNREADABLE: Final = "the gateway cannot read its callers' keys; its log says more"


async def admit(headers: Headers, keys: KeyRing) -> Admission:
    """Let the caller in, to be confirmed before anything is shown. Raises Unauthenticated, StoreError,
    or PrepareError where the keys cannot be read.
    """
    presented = _presented(headers)
    if not presented:
        raise Unauthenticated(_MISSING, code="missing_api_key")
    try:
        admission = await keys.admit(presented)
    except PrepareError as error:
        # Who has shown no valid key yet is not told where this machine keeps what.
        _log.error(logline("keys_unreadable", message=error.message))
        raise PrepareError(_UNREADABLE, code=error.code) from None
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
