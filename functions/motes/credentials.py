"""The vendors' keys: from the settings, the environment, or SSM, in this order.

Must never log or show a key, nor ask SSM for what lies nearer.

SSM is read with botocore rather than with Powertools' parameters: beside the table's client, in the same
session, another one costs 40 ms of CPU where Powertools, which brings boto3, costs 190 ms; and its cache
blocks the event loop when it has to ask, and forgets what it knew when SSM fails.
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from motes.aws import AWS
from motes.remembered import Remembered
from motes.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_ssm.client import SSMClient


def vendor_key(
    vendor: str, key_name: str | None, settings: Settings, environ: Mapping[str, str]
) -> str | None:
    """The key of a vendor: `key` of its settings, else the environment variable its row names."""
    row = settings.vendors.get(vendor)
    if row is not None and row.key is not None:
        return row.key.get_secret_value() or None
    return environ.get(key_name, "").strip() or None if key_name else None


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
        self, settings: Settings, environ: Mapping[str, str], parameters: ParameterKeys | None = None
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._parameters = parameters

    async def get(self, vendor: str, key_name: str | None) -> str | None:
        """The key of a vendor, if there is one. Raises StoreError where SSM had to be asked and failed."""
        near = vendor_key(vendor, key_name, self._settings, self._environ)
        if near is not None or key_name is None or self._parameters is None:
            return near
        return await self._parameters.get(key_name)

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
    return VendorKeys(settings, environ, parameters)
