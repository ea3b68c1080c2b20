"""A gateway as a line: its HTTP surface, read as particles.

Must never let the caller's key into an error, a log or a repr, nor follow a redirect with it.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, cast
from urllib.parse import quote

import httpx

from motes import __version__, jsontext
from motes import particles as p
from motes.client.desk import Model
from motes.client.failure import raised
from motes.client.line import Batch, Broken, Numbered
from motes.client.refusals import cut, refused, too_large, unreached
from motes.client.sending import Sending
from motes.codec import from_wire
from motes.demux.jsonl import JSONLinesDemuxer

RUN_HEADER: Final = "x-motes-run-id"
_MEDIA: Final = "application/x-ndjson"
# Silence is measured in particles, by the loop; a body may be large and a line slow.
_TIMEOUT: Final = httpx.Timeout(None, connect=10.0, write=60.0, pool=10.0)
_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30.0)
# A gateway on this machine is never asked through a proxy, which could not reach it.
_DIRECT: Final = {"all://localhost": None, "all://127.0.0.1": None, "all://[::1]": None}
_ERROR_BYTES: Final = 1024 * 1024


def open_http() -> httpx.AsyncClient:
    """A client for `GatewayLine`; close it."""
    for name in ("httpx", "httpcore"):  # they log every URL and header
        logging.getLogger(name).setLevel(logging.WARNING)
    return httpx.AsyncClient(
        limits=_LIMITS,
        timeout=_TIMEOUT,
        mounts=_DIRECT,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


def base_of(url: str) -> str:
    """The base URL with its `/v1`, given with or without."""
    url = url.rstrip("/")
    return url if url.endswith("/v1") else f"{url}/v1"


class GatewayLine:
    """See `Line`. `base_url` ends in `/v1`."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str | None) -> None:
        self._http = http
        self._base_url = base_url
        self._headers = {"user-agent": f"motes-client/{__version__}", "accept-encoding": "identity"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"

    def start(self, body: Mapping[str, Any], meet: Callable[[str], None]) -> AsyncGenerator[Batch, None]:
        """See `Line`."""
        return self._particles("POST", "/particles", jsontext.dump_bytes(body), meet)

    def rejoin(self, run_id: str, after: int) -> AsyncGenerator[Batch, None]:
        """See `Line`."""
        return self._particles("GET", f"/runs/{quote(run_id, safe='')}/particles?after={after}")

    async def call(self, method: str, path: str) -> Any:
        """One question beside the runs; the JSON value of its answer. Raises Broken."""
        response = await self._send(method, path, None)
        try:
            body = await _bounded(response)
        finally:
            await response.aclose()
        if not response.is_success:
            raise refused(response, body)
        try:
            return jsontext.loads(body) if body.strip() else None
        except ValueError:
            raise refused(response, body) from None

    async def _particles(
        self, method: str, path: str, content: bytes | None = None, meet: Callable[[str], None] | None = None
    ) -> AsyncGenerator[Batch, None]:
        response = await self._send(method, path, content)
        try:
            media = response.headers.get("content-type", "").partition(";")[0]
            if response.status_code != httpx.codes.OK or media.strip().lower() != _MEDIA:
                raise refused(response, await _bounded(response))
            run_id = response.headers.get(RUN_HEADER)
            if run_id and meet is not None:
                meet(run_id)
            lines = JSONLinesDemuxer()
            async with aclosing(_bytes_of(response)) as body:
                async for data in body:
                    batch = [_numbered(event.data) for event in lines.feed(data)]
                    if batch or lines.is_within:
                        yield batch
                    if lines.error is not None:
                        raise too_large()
        except httpx.HTTPError as failure:
            raise cut(failure) from None
        finally:
            await response.aclose()

    def _request(self, method: str, path: str, content: bytes | None) -> httpx.Request:
        headers = {"accept": _MEDIA if "particles" in path else "application/json", **self._headers}
        if content is not None:
            headers["content-type"] = "application/json"
        return self._http.build_request(
            method, self._base_url + path, content=content, headers=headers, timeout=_TIMEOUT
        )

    async def _send(self, method: str, path: str, content: bytes | None) -> httpx.Response:
        try:
            return await Sending(self._http, self._request(method, path, content)).response()
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as failure:
            raise unreached(failure) from None


class GatewayDesk:
    """See `Desk`."""

    def __init__(self, base_url: str, api_key: str | None) -> None:
        self._http = open_http()
        self.line = GatewayLine(self._http, base_of(base_url), api_key)

    async def cancel(self, run_id: str) -> None:
        """See `Desk`."""
        await self._asked("POST", f"/runs/{quote(run_id, safe='')}/cancel")

    async def delete(self, run_id: str) -> bool:
        """See `Desk`."""
        told = await self._asked("DELETE", f"/runs/{quote(run_id, safe='')}")
        return not isinstance(told, Mapping) or told.get("deleted") is not False

    async def models(self) -> list[Model]:
        """See `Desk`."""
        told = await self._asked("GET", "/models")
        items = told.get("data") if isinstance(told, Mapping) else None
        rows = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        return [Model(row["id"], row) for row in rows if isinstance(row.get("id"), str)]

    async def aclose(self) -> None:
        """See `Desk`."""
        await self._http.aclose()

    async def _asked(self, method: str, path: str) -> Any:
        try:
            return await self.line.call(method, path)
        except Broken as broken:
            raise raised(broken) from None


def _bytes_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it comes; httpx does not say that it can be closed."""
    return cast(AsyncGenerator[bytes, None], response.aiter_bytes())


async def _bounded(response: httpx.Response) -> bytes:
    """The body of an answer, or the head of a very large one. Raises Broken."""
    parts: list[bytes] = []
    size = 0
    try:
        async with aclosing(_bytes_of(response)) as body:
            async for data in body:
                parts.append(data)
                size += len(data)
                if size > _ERROR_BYTES:
                    break
    except httpx.HTTPError as failure:
        raise unreached(failure) from None
    return b"".join(parts)


def _numbered(line: str) -> Numbered:
    """What one line says; a line that says nothing is told, and the run goes on."""
    raw = jsontext.as_object(line)
    if raw is None:
        return None, p.Warn("a line of the stream was no particle and was left out", "bad_line")
    number = raw.get("seq")
    return number if type(number) is int else None, from_wire(raw)
