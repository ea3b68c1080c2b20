"""The operators' API: vendors and whether they have keys, how each was last seen, callers' keys and usage.

FastAPI, because a person reads its documentation and nothing here streams. Only who signed the request comes
in: the platform checks the signature and says whose it was; without that word nobody is let in, however the
URL was configured. Must never show a key, but a new one to who makes it, once.
"""

import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI, HTTPException, Path, Request, Response
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from motes import __version__
from motes.api.choices import TABLE, checked
from motes.api.envelope import REQUEST_ID
from motes.api.errors import on_bug, on_motes_error, on_store_error
from motes.api.logline import logline
from motes.aws import AWS
from motes.callers import KeyRing, open_keys
from motes.credentials import VendorKeys, open_vendor_keys
from motes.dataclass import dataclass
from motes.errors import ErrorKind, MotesError, StoreError
from motes.hosts.operators_usage import add_usage
from motes.particles import Phase
from motes.settings import Settings
from motes.store.base import HealthStore
from motes.store.opening import open_stores
from motes.store.records import CallerKey, VendorHealth
from motes.store.usage import UsageStore
from motes.vendors.catalogue import Catalogue, build_catalogue
from motes.vendors.sendable import shown_address
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

_log = logging.getLogger("motes.manage")

_SIGNER: Final = "motes.signer"
# An operator who has just changed a key wants to see it: SSM is read once a request, or so.
_VENDOR_KEYS_MAX_AGE: Final = 1.0


class VendorInfo(BaseModel):
    """One vendor. `dialects`: the protocols it speaks, the default first."""

    id: str
    base_url: str | None
    dialects: list[str]
    key_name: str | None = Field(
        description="Where its key lies: in the environment, or in SSM under the path"
    )
    has_key: bool
    keys: int = Field(description="How many there are; several are used in turn")
    needs_key: bool


class LastError(BaseModel):
    """A vendor's last failure, in motes' own words."""

    at: datetime
    phase: Phase
    kind: ErrorKind
    http_status: int | None = None


class KeyState(BaseModel):
    """How a vendor last refused one of its several keys, in motes' own words."""

    key: int = Field(description="Its place among the vendor's keys, from 1")
    refused_at: datetime
    rests_until: datetime = Field(description="Until then it is only used where no other key is left")
    kind: ErrorKind
    http_status: int | None = None


class HealthInfo(BaseModel):
    """How a vendor was last seen; each process tells it at most once a minute."""

    vendor: str
    last_success: datetime | None
    last_error: LastError | None
    keys: list[KeyState] = Field(description="Of several keys, those that were refused")


class KeyInfo(BaseModel):
    """A caller's key, of which only the hash is kept."""

    id: str
    name: str
    created: str = Field(description="ISO 8601; empty for a key of the environment")
    disabled: bool
    choices: dict[str, str] = Field(description="What its holder wants of every answer")


class NewKey(KeyInfo):
    """A key that was just made. The secret is shown here and nowhere else, ever."""

    secret: str


class KeyRequest(BaseModel):
    """What to make."""

    name: str = Field(default="unnamed", min_length=1, max_length=100, description="A name to know it by")
    choices: dict[str, str] = Field(
        default_factory=dict, description=f"What every answer is like, of: {', '.join(TABLE)}"
    )


class Disabled(BaseModel):
    """It is refused everywhere within `MOTES_KEYS_MAX_AGE_S` seconds (60)."""

    disabled: Literal[True] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """What operators look after."""

    catalogue: Catalogue
    keys: KeyRing
    vendor_keys: VendorKeys
    health: HealthStore
    usage: UsageStore


def open_office(settings: Settings, environ: Mapping[str, str]) -> Office:
    """The office of these settings. Raises PrepareError for settings that cannot be."""
    aws = AWS()
    stores = open_stores(settings, aws)
    impatient = settings.model_copy(update={"vendor_keys_max_age_s": _VENDOR_KEYS_MAX_AGE})
    return Office(
        catalogue=build_catalogue(VENDORS, ALIASES, settings),
        keys=open_keys(settings, environ, stores),
        vendor_keys=open_vendor_keys(impatient, environ, aws, time.time),
        health=stores.health,
        usage=stores.usage,
    )


def create_operators_api(office: Office) -> FastAPI:
    """The app of one office."""
    app = FastAPI(
        title="motes, for operators",
        version=__version__,
        exception_handlers={MotesError: on_motes_error, StoreError: on_store_error, Exception: on_bug},
    )
    app.add_middleware(SignedOnly)
    _add_vendors(app, office)
    _add_keys(app, office)
    add_usage(app, office.usage, time.time)
    return app


def _add_vendors(app: FastAPI, office: Office) -> None:
    @app.get("/vendors", summary="Every vendor, and whether it has a key")
    async def vendors() -> list[VendorInfo]:
        return [await _vendor_info(row, office.vendor_keys) for row in office.catalogue.vendors.values()]

    @app.get("/health", summary="How each vendor was last seen")
    async def health() -> list[HealthInfo]:
        return [_health_info(seen) for seen in await office.health.all()]


def _add_keys(app: FastAPI, office: Office) -> None:
    @app.get("/keys", summary="Every caller's key, without its secret")
    async def list_keys() -> list[KeyInfo]:
        return [KeyInfo(**_shown(key)) for key in await office.keys.list()]

    @app.post("/keys", status_code=201, summary="Make a key; its secret is shown this once")
    async def make_key(wanted: KeyRequest, request: Request, response: Response) -> NewKey:
        key, secret = await office.keys.new(wanted.name, checked(wanted.choices))
        _log.info(logline("key_made", id=key.id, name=key.name, by=request.scope[_SIGNER]))
        response.headers["cache-control"] = "no-store"
        return NewKey(**_shown(key), secret=secret)

    @app.post("/keys/{id}/disable", summary="Refuse every key of that id or name from now on")
    async def disable_key(id: Annotated[str, Path(max_length=100)], request: Request) -> Disabled:
        if not await office.keys.disable(id):
            raise HTTPException(404, "there is no such key")
        _log.info(logline("key_disabled", key=id, by=request.scope[_SIGNER]))
        return Disabled()


class SignedOnly:
    """Lets in who the platform says signed the request (`AuthType: AWS_IAM`), and nobody else.

    Source: AWS Lambda developer guide, "Invoking Lambda function URLs", request payload (read 2026-11-29).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http":
            context = _object(scope.get("aws.event"), "requestContext")
            scope[REQUEST_ID] = str(context.get("requestId", ""))
            scope[_SIGNER] = _object(_object(context, "authorizer"), "iam").get("userArn")
            if not isinstance(scope[_SIGNER], str):
                refusal = {"error": {"message": "only signed requests are answered", "code": "not_signed"}}
                await JSONResponse(refusal, 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _object(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


async def _vendor_info(row: Vendor, keys: VendorKeys) -> VendorInfo:
    needs_key = row.key_required and row.auth.kind != "none"
    known = await keys.all(row.id, row.key_names)
    return VendorInfo(
        id=row.id,
        base_url=shown_address(row.base_url) or None,
        dialects=[surface.dialect for surface in row.surfaces],
        key_name=row.key_name,
        has_key=bool(known),
        keys=len(known),
        needs_key=needs_key,
    )


def _health_info(seen: VendorHealth) -> HealthInfo:
    failure = seen.failure
    error = None
    if failure is not None:
        error = LastError(
            at=_time(failure.at), phase=failure.phase, kind=failure.kind, http_status=failure.status
        )
    success = None if seen.success is None else _time(seen.success)
    keys = [
        KeyState(
            key=refusal.key + 1,
            refused_at=_time(refusal.at),
            rests_until=_time(refusal.until),
            kind=refusal.kind,
            http_status=refusal.status,
        )
        for refusal in seen.refusals
    ]
    return HealthInfo(vendor=seen.vendor, last_success=success, last_error=error, keys=keys)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _shown(key: CallerKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "created": key.created,
        "disabled": key.disabled,
        "choices": dict(key.choices),
    }
