"""The HTTP client that all runs of a process share.

Must never follow a redirect, keep a cookie of a vendor, or let a URL or header into a log: keys travel in
both.
"""

import logging
import ssl
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from motes.dispatch import OWN_HEADERS
from motes.engine.transport import Transport


def open_client(
    *, trust_env: bool = True, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """A client for `run`; close it with the process. `trust_env` reads proxies and CA files from there."""
    _silence_request_logs()
    return httpx.AsyncClient(
        headers=dict(OWN_HEADERS),
        timeout=None,  # noqa: S113 (each run brings its vendor's own timeouts)
        follow_redirects=False,
        trust_env=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        transport=transport or Transport(ssl_context(trust_env), trust_env=trust_env),
    )


@cache
def ssl_context(trust_env: bool = True) -> ssl.SSLContext:
    """One for the whole process: reading the CA bundle takes tens of milliseconds."""
    return httpx.create_ssl_context(trust_env=trust_env)


def _silence_request_logs() -> None:
    """httpx writes every URL at INFO, and behind a proxy httpcore every header at DEBUG."""
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
