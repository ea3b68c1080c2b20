"""Google's grounding redirects, resolved: a source gets the address that it stands for.

Asked is only that one host of Google's, over TLS, without a key; what it names is never opened. What takes
too long is cancelled, as in `fetch`. Must never take long, nor give an address that leads into the private
network of whoever reads it.
Source: ai.google.dev/gemini-api/docs/google-search (read 2026-11-29).
"""

import asyncio
from dataclasses import replace
from typing import Final

import httpx

from motes import particles as p
from motes.addresses import is_public_address
from motes.executor.failures import NETWORK

_HOST: Final = "vertexaisearch.cloud.google.com"
_PATH: Final = "/grounding-api-redirect/"
_MAX_LINKS: Final = 20
_SECONDS_ALL: Final = 5.0
_SECONDS_ONE: Final = 2.0
_MAX_URL: Final = 2048
_PRIVATE_ENDS: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".corp", ".intranet")


class LinkResolving:
    """One run's links; each is asked for once, and all of them share a few seconds."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._known: dict[str, str] = {}
        self._spent = 0.0

    async def __call__(self, particle: p.Particle) -> list[p.Particle]:
        """The particle, with its own address where it is a source behind a redirect."""
        if not isinstance(particle, p.Citation) or not is_redirect(particle.url):
            return [particle]
        return [replace(particle, url=await self._resolved(particle.url))]

    async def _resolved(self, url: str) -> str:
        left = _SECONDS_ALL - self._spent
        if url not in self._known and len(self._known) < _MAX_LINKS and left > 0:
            loop = asyncio.get_running_loop()
            started = loop.time()
            self._known[url] = await self._asked(url, min(left, _SECONDS_ONE))
            self._spent += loop.time() - started
        return self._known.get(url, url)

    async def _asked(self, url: str, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                response = await self._http.head(url, follow_redirects=False)
        except NETWORK:
            return url
        target = response.headers.get("location", "")
        return target if response.is_redirect and is_public(target) else url


def is_redirect(url: str) -> bool:
    """Whether it is one of Google's redirects, and nothing that looks like one."""
    parts = _parsed(url)
    if parts is None or parts.scheme != "https" or parts.host != _HOST:
        return False
    return parts.port is None and not parts.userinfo and parts.path.startswith(_PATH)


def is_public(url: str) -> bool:
    """Whether an address can be shown: on the web, and not of a private network or of this machine."""
    parts = _parsed(url)
    if parts is None or parts.scheme not in ("https", "http") or parts.userinfo:
        return False
    host = parts.host.rstrip(".").lower()
    # A last label of digits alone is an address, maybe in an old spelling (127.1, 0x7f.1).
    last = host.rpartition(".")[2]
    if ":" in host or last[:1].isdigit():
        return is_public_address(host)
    return "." in host and last.isascii() and not host.endswith(_PRIVATE_ENDS)


def _parsed(url: str) -> httpx.URL | None:
    if len(url) > _MAX_URL:
        return None
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        return None
