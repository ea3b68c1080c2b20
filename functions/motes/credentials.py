"""The vendors' keys: from the settings, the environment, SSM, or where else AWS keeps its own, in this order.

Must never log or show a key, nor ask SSM for what lies nearer.

SSM is read with botocore rather than with Powertools' parameters: beside the table's client, in the same
session, another one costs 40 ms of CPU where Powertools, which brings boto3, costs 190 ms; and its cache
blocks the event loop when it has to ask, and forgets what it knew when SSM fails.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from motes.aws import AWS
from motes.errors import StoreError
from motes.remembered import Remembered
from motes.settings import AWS_KEY, Settings

if TYPE_CHECKING:
    from mypy_boto3_ssm.client import SSMClient

_log = logging.getLogger("motes.store")

# botocore renews what it found ten minutes before it ends, and takes seconds to find nothing.
_AWS_SECONDS: Final = 60.0
_AWS_PLACES: Final = (
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_PROFILE",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)


def vendor_keys(
    vendor: str, key_names: Sequence[str], settings: Settings, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The keys of a vendor: `key` of its settings, else the environment variables its row names."""
    set_here = _of_settings(vendor, settings)
    if set_here is not None:
        return set_here
    return _distinct(
        key
        for name in key_names
        for key in several(environ.get(name, "")) or _of_this_process(name, settings, environ)
    )


def vendor_key(
    vendor: str, key_name: str | None, settings: Settings, environ: Mapping[str, str]
) -> str | None:
    """The first of them, for who has use for one."""
    return next(iter(vendor_keys(vendor, _names(key_name), settings, environ)), None)


def several(text: str) -> tuple[str, ...]:
    """The keys in one text: with commas or line breaks in between, unless it is JSON, which is one key."""
    text = text.strip()
    parts = [text] if text.startswith(("{", "[")) else text.replace("\r", "\n").replace(",", "\n").split("\n")
    return _distinct(parts)


def _names(key_name: str | None) -> tuple[str, ...]:
    return (key_name,) if key_name else ()


def _distinct(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for part in keys if (key := part.strip())))


def _of_settings(vendor: str, settings: Settings) -> tuple[str, ...] | None:
    """The keys of the file; None where it says nothing of them."""
    row = settings.vendors.get(vendor)
    if row is None or row.key is None:
        return None
    listed = row.key if isinstance(row.key, list) else [row.key]
    return _distinct(key for one in listed for key in several(one.get_secret_value()))


def _of_this_process(name: str, settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """AWS's own keys in the environment, which a function on Lambda has for its role."""
    pair = _aws_pair(environ) if name == AWS_KEY and settings.aws_keys else None
    return (pair,) if pair else ()


def _aws_pair(environ: Mapping[str, str]) -> str | None:
    """AWS's own keys as one secret: id, key, and the session token of temporary ones."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    id, key, token = (environ.get(name, "").strip() for name in names)
    return ":".join(part for part in (id, key, token) if part) if id and key else None


async def _found(credentials: Remembered[str | None]) -> str | None:
    """AWS's credentials. A profile that is meant for other work, and broken, is no fault of this gateway."""
    try:
        return await credentials.get()
    except StoreError as error:
        _log.warning("no_credentials what=aws error=%r", error.message)
        return None


def _lies_elsewhere(environ: Mapping[str, str]) -> bool:
    """Whether the environment says that AWS's credentials lie in a profile, a container or a role."""
    return any(environ.get(name) for name in _AWS_PLACES)


class ParameterKeys:
    """Every SecureString right under a path, by the last part of its name; read at once, and remembered."""

    def __init__(self, path: str, max_age: float, aws: AWS, now: Callable[[], float]) -> None:
        self._path = path
        self._aws = aws
        self._all = Remembered(self._read, max_age, now, "vendor_keys")

    async def get(self, name: str) -> str | None:
        """The key of that name as it was at most `max_age` seconds ago. Raises StoreError."""
        return (await self._all.get()).get(name)

    async def renew(self) -> None:
        """Ask ahead where the keys will soon be too old. Never raises."""
        await self._all.renew()

    async def _read(self) -> Mapping[str, str]:
        return await self._aws.ssm(self._pages)

    def _pages(self, client: "SSMClient") -> Mapping[str, str]:
        pages = client.get_paginator("get_parameters_by_path").paginate(Path=self._path, WithDecryption=True)
        found = [parameter for page in pages for parameter in page["Parameters"]]
        keys = {one["Name"].rpartition("/")[2]: one["Value"].strip() for one in found}
        return {name: key for name, key in keys.items() if key}


class VendorKeys:
    """Every vendor's key."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        parameters: ParameterKeys | None = None,
        of_aws: Remembered[str | None] | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._parameters = parameters
        self._of_aws = of_aws
        self._set_here: dict[str, tuple[str, ...] | None] = {}

    async def all(self, vendor: str, key_names: Sequence[str]) -> tuple[str, ...]:
        """The keys of a vendor, in the order in which they were set. Raises StoreError where SSM had to be
        asked and failed.
        """
        known = self._set_here
        if vendor not in known:
            known[vendor] = _of_settings(vendor, self._settings)
        set_here = known[vendor]
        if set_here is not None:
            return set_here
        return _distinct([key for name in key_names for key in await self._named(name)])

    async def get(self, vendor: str, key_name: str | None) -> str | None:
        """The first of them, for who has use for one. Raises StoreError as `all` does."""
        return next(iter(await self.all(vendor, _names(key_name))), None)

    async def _named(self, name: str) -> tuple[str, ...]:
        near = several(self._environ.get(name, ""))
        if not near and self._parameters is not None:
            near = several(await self._parameters.get(name) or "")
        near = near or _of_this_process(name, self._settings, self._environ)
        if not near and name == AWS_KEY and self._of_aws is not None:
            key = await _found(self._of_aws)
            return (key,) if key else ()
        return near

    async def renew(self) -> None:
        """Ask SSM ahead where its keys will soon be too old. Never raises."""
        if self._parameters is not None:
            await self._parameters.renew()


def open_vendor_keys(
    settings: Settings, environ: Mapping[str, str], aws: AWS, now: Callable[[], float] = time.time
) -> VendorKeys:
    """The vendors' keys of these settings."""
    parameters = None
    if settings.key_path is not None:
        parameters = ParameterKeys(settings.key_path, settings.vendor_keys_max_age_s, aws, now)
    of_aws = None
    if settings.aws_keys and _lies_elsewhere(environ):
        of_aws = Remembered(aws.credentials, _AWS_SECONDS, now, "aws_credentials")
    return VendorKeys(settings, environ, parameters, of_aws)
