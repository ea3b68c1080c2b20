"""The HTTP client that all runs of a process share.

Must never follow a redirect, keep a cookie of a vendor, or let a URL or header into a log: keys travel in
both.
"""

import logging
import ssl
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx

from motes.dispatch import OWN_HEADERS

# No limit on connections: a run waits for its vendor, never for another run.
_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=30.0)
# A vendor on this machine (Ollama, the demo) is never asked through a proxy, which could not reach it.
_DIRECT: Final = {"all://localhost": None, "all://127.0.0.1": None, "all://[::1]": None}


def open_client(
    *, trust_env: bool = True, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """A client for `run`; close it with the process. `trust_env` reads proxies and CA files from there."""
    _silence_request_logs()
    return httpx.AsyncClient(
        headers=dict(OWN_HEADERS),
        verify=ssl_context(trust_env),
        limits=_LIMITS,
        timeout=None,  # noqa: S113 (each run brings its vendor's own timeouts)
        follow_redirects=False,
        trust_env=trust_env,
        mounts=_DIRECT,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        transport=transport,
    )


@cache
def ssl_context(trust_env: bool = True) -> ssl.SSLContext:
    """One for the whole process: reading the CA bundle takes tens of milliseconds."""
    return httpx.create_ssl_context(trust_env=trust_env)


def _silence_request_logs() -> None:
    """httpx writes every URL at INFO and httpcore every header at DEBUG."""
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
