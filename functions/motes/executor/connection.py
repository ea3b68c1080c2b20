"""The HTTP client that all runs of a process share.

Must never follow a redirect, keep a cookie of a vendor, or let a URL or header into a log: keys travel in
both.
"""

import logging
import ssl
from collections.abc import Mapping
from functools import cache, partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from threading import Lock
from typing import Any, Final

import httpx

from motes.dispatch import OWN_HEADERS
from motes.engine.transport import Transport

_SETTINGS: Final[Mapping[str, Any]] = {
    "headers": dict(OWN_HEADERS),
    # Each run brings its vendor's own timeouts.
    "timeout": None,
    "follow_redirects": False,
    "trust_env": False,
    "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
}
# A cache alone would let two threads make two.
_MAKING: Final = Lock()


class EngineClient(httpx.AsyncClient):
    """httpx's client over the engine, which can also be asked without what a vendor has no part in:
    redirects, cookies, authentication of httpx's own.
    """

    def __init__(self, engine: Transport) -> None:
        super().__init__(transport=engine, **_SETTINGS)
        self.engine = engine
        self.own_headers = tuple(self.headers.raw)

    def is_by_itself(self, url: httpx.URL) -> bool:
        """Whether nobody but the engine has a part in such a request."""
        return not any(self.event_hooks.values()) and self.engine.takes(url)


def open_client(
    *, trust_env: bool = True, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """A client for `run`; close it with the process. `trust_env` reads proxies and CA files from there."""
    _silence_request_logs()
    if transport is not None:
        return httpx.AsyncClient(transport=transport, **_SETTINGS)
    return EngineClient(Transport(partial(ssl_context, trust_env), trust_env=trust_env))


def ssl_context(trust_env: bool = True) -> ssl.SSLContext:
    """One for the whole process, from any thread: reading the CA bundle takes tens of milliseconds.

    Raises OSError where there is none.
    """
    with _MAKING:
        return _made(trust_env)


@cache
def _made(trust_env: bool) -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=trust_env)


def _silence_request_logs() -> None:
    """httpx writes every URL at INFO, and behind a proxy httpcore every header at DEBUG."""
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
