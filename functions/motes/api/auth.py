"""Who asks: the caller's key, in any of the three headers clients send it in; and a vendor's key, if the
caller brings one.

Must never tell whether a key is unknown or disabled, and never show or keep one.
"""

import logging
from collections.abc import Mapping
from typing import Final

from motes.api.logline import logline
from motes.callers import Admission, KeyRing
from motes.errors import InvalidRequest, PrepareError, Unauthenticated
from motes.vendors.vendor import Vendor

_log = logging.getLogger("motes.api")

VENDOR_KEY: Final = "x-motes-vendor-key"
"""The header in which a caller brings the vendor's key for one request."""
_NAMED: Final = ("x-api-key", "api-key")
_MAX_VENDOR_KEY: Final = 4096
_MISSING = "no API key was sent: use `Authorization: Bearer <key>`, `x-api-key` or `api-key`"
_WRONG = "the API key is not valid here: `motes keys new` makes one"
_UNREADABLE: Final = "the gateway cannot read its callers' keys; its log says more"


async def admit(headers: Mapping[str, str], keys: KeyRing) -> Admission:
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


def own_vendor_key(headers: Mapping[str, str], vendor: Vendor) -> str | None:
    """The vendor's key that the caller brought, for the host of the vendor's row and no other. Raises
    InvalidRequest where there is one that cannot be used.
    """
    key = headers.get(VENDOR_KEY, "").strip()
    if not key:
        return None
    if vendor.auth.kind == "none":
        message = f"vendor {vendor.id!r} takes no key: leave the header {VENDOR_KEY} out"
        raise InvalidRequest(message, param=VENDOR_KEY, code="unused_vendor_key")
    if len(key) > _MAX_VENDOR_KEY or not key.isascii() or not key.isprintable():
        message = (
            f"the header {VENDOR_KEY} holds no key: printable ASCII, at most {_MAX_VENDOR_KEY} characters"
        )
        raise InvalidRequest(message, param=VENDOR_KEY, code="invalid_vendor_key")
    return key


async def authenticate(headers: Mapping[str, str], keys: KeyRing) -> None:
    """Be sure that the caller has a key. Raises Unauthenticated or StoreError."""
    await confirm(await admit(headers, keys))


def _presented(headers: Mapping[str, str]) -> list[str]:
    """Every key the request carries. Clients that were given two send both, and one of them is meant."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    presented = [bearer.strip()] if scheme.lower() == "bearer" else []
    presented += [headers[name].strip() for name in _NAMED if name in headers]
    return list(filter(None, presented))
