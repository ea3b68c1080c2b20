"""`GET /v1/resources/{vendor}/{kind}/{name}`: the bytes of a file that an answer left at its vendor.

The caller shows his own key, the vendor's stays here: it goes to the host of the vendor's row and nowhere
else. Must never let a browser run what comes, follow a redirect, or pass on more bytes than its kind allows.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import httpx
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from motes.api.auth import authenticate
from motes.api.envelope import DEPARTURE, REQUEST_ID
from motes.api.errors import JSONError
from motes.api.gateway import Gateway
from motes.api.headers import headers_of
from motes.api.logline import logline
from motes.api.streaming import while_present
from motes.dispatch import FileErrands, missing_key
from motes.errors import PrepareError
from motes.executor.failures import NETWORK
from motes.executor.fetch import FetchFailed, body_within, declared_length, opened
from motes.transforms import file_errands
from motes.vendors.resources import place_of
from motes.vendors.vendor import Vendor

_log = logging.getLogger("motes.api")

_START_SECONDS: Final = 30.0
_IDLE_SECONDS: Final = 30.0
_WHOLE_SECONDS: Final = 120.0
_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9.+-]{1,80}")
_NOT_FOUND: Final = (400, 404, 410)
_SAFE: Final = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "private, no-store",
}


class Resources:
    """The endpoint."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await authenticate(headers_of(scope), self._gateway.keys)
        asked: dict[str, str] = scope["path_params"]
        kind, name = asked["kind"], asked["name"]
        errands = await self._errands(asked["vendor"], kind, name)
        place = place_of(kind)
        if errands is None or place is None:
            await _error(404, "there is no such file", "resource_not_found")(scope, receive, send)
            return
        answer = self._answer(errands, name, place.max_bytes, (scope, receive, send))
        await while_present(receive, answer, scope[REQUEST_ID], scope.get(DEPARTURE))

    async def _errands(self, vendor: str, kind: str, name: str) -> FileErrands | None:
        row = self._gateway.catalogue.vendor(vendor)
        if row is None or kind not in row.resources or not row.base_url:
            return None
        return file_errands(row, await self._key(row), kind, name)

    async def _key(self, row: Vendor) -> str | None:
        secret = await self._gateway.key_of(row)
        if secret is None and row.key_required and row.auth.kind != "none":
            raise PrepareError(missing_key(row), code="missing_vendor_key")
        return secret

    async def _answer(
        self, errands: FileErrands, name: str, limit: int, to: tuple[Scope, Receive, Send]
    ) -> None:
        scope, receive, send = to
        try:
            async with opened(self._gateway.http, errands.content, _START_SECONDS) as response:
                length = declared_length(response)
                headers = _headers(response, name)
                if length is not None and length <= limit:
                    await _pass_on(response, headers | {"content-length": str(length)}, send)
                    return
                body = await body_within(response, limit, _WHOLE_SECONDS)
        except FetchFailed as failure:
            await _refusal(failure)(scope, receive, send)
            return
        await Response(body, headers=headers)(scope, receive, send)


def _headers(response: httpx.Response, name: str) -> dict[str, str]:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _SAFE | {
        "content-type": kind if _TYPE.fullmatch(kind) else "application/octet-stream",
        "content-disposition": f'attachment; filename="{name.rpartition("/")[2]}"',
    }


async def _pass_on(response: httpx.Response, headers: dict[str, str], send: Send) -> None:
    """The body as it comes. Where it breaks off ours is left unfinished, which its length shows."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    try:
        async with aclosing(_chunks(response)) as chunks:
            while chunk := await _next(chunks):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except NETWORK:
        _log.warning(logline("resource_cut"))
        return
    await send({"type": "http.response.body", "body": b""})


async def _next(chunks: AsyncGenerator[bytes, None]) -> bytes:
    async with asyncio.timeout(_IDLE_SECONDS):
        return await anext(chunks, b"")


async def _chunks(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    async for chunk in response.aiter_raw():
        yield chunk


def _refusal(failure: FetchFailed) -> JSONError:
    if failure.status in _NOT_FOUND:
        return _error(404, "the vendor has no such file", "resource_not_found")
    if failure.is_too_large:
        return _error(502, "the file is larger than is passed on", "resource_too_large")
    return _error(502, f"the vendor did not give the file: {failure.reason}", "upstream_error")


def _error(status: int, message: str, code: str) -> JSONError:
    kind = "invalid_request_error" if status == 404 else "server_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return JSONError(status, {"error": error}, {})
