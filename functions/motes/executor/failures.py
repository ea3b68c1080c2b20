"""What the network does wrong, as `VendorError`.

Must never raise, and never repeat what an exception says of our own request: the text of httpx quotes
URLs and header values, and they hold keys.
"""

import socket
import ssl
from collections.abc import Iterator
from typing import Final

import httpx

from motes.engine.transport import NoCertificates
from motes.errors import VendorError
from motes.vendor_errors import excerpt
from motes.vendors.vendor import Timeouts

NETWORK: Final = (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError)
"""Everything a request may raise that is not a bug: `UnicodeError` is a header that is not ASCII."""

_UNSENDABLE: Final = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError)
# httpx has one exception for "not HTTP" and for "HTTP, but cut"; only its words tell them apart.
_CUT_WORDS: Final = ("disconnected", "peer closed")
_MESSAGE_CHARS: Final = 160


def before_the_answer(failure: Exception, timeouts: Timeouts) -> VendorError:
    """Why there is no answer at all."""
    if isinstance(failure, httpx.ConnectTimeout):
        return _timeout("connect_timeout", f"no connection to the upstream within {timeouts.connect:g} s")
    if isinstance(failure, NoCertificates):
        return VendorError(
            message="the CA certificates of the gateway's machine cannot be read: check SSL_CERT_FILE and"
            " SSL_CERT_DIR",
            kind="server_error",
            code="no_certificates",
        )
    if isinstance(failure, httpx.ConnectError | httpx.ProxyError):
        return _unreachable(failure)
    if isinstance(failure, _UNSENDABLE):
        return VendorError(
            message="the request cannot be sent: check the vendor's base URL, its headers and the key",
            kind="protocol",
            code="unsendable_request",
        )
    if isinstance(failure, TimeoutError | httpx.TimeoutException):
        return _silence(0, timeouts)
    return _broken(failure, "the upstream closed the connection without an answer")


def while_reading(failure: Exception, received: int, timeouts: Timeouts) -> VendorError:
    """Why the answer broke off after `received` bytes."""
    if isinstance(failure, TimeoutError | httpx.TimeoutException):
        return _silence(received, timeouts)
    if isinstance(failure, httpx.DecodingError):
        return VendorError(
            message="the upstream's answer is not in the content-encoding it names",
            kind="protocol",
            code="bad_content_encoding",
        )
    what = f"after {received} bytes of the answer" if received else "before the answer began"
    return _broken(failure, f"the connection to the upstream broke {what}")


def quiet(timeouts: Timeouts) -> VendorError:
    """The answer goes on, and says nothing."""
    return _timeout("quiet_timeout", f"the upstream sent nothing but signs of life for {timeouts.quiet:g} s")


def redirected(response: httpx.Response) -> VendorError:
    """A redirect is not followed: the key would travel to wherever it points."""
    target = response.headers.get("location", "")
    try:
        host = httpx.URL(target).host
    except httpx.InvalidURL:
        host = ""
    where = f" to {host}" if host else ""
    return VendorError(
        message=f"the upstream answered with HTTP status {response.status_code}{where} instead of an answer;"
        " redirects are not followed: correct the vendor's base URL",
        kind="protocol",
        http_status=response.status_code,
        code="unexpected_status",
    )


def _silence(received: int, timeouts: Timeouts) -> VendorError:
    if received:
        return _timeout(
            "idle_timeout", f"the upstream sent nothing for {timeouts.idle:g} s in the middle of its answer"
        )
    return _timeout("first_byte_timeout", f"the upstream sent nothing within {timeouts.first_byte:g} s")


def _timeout(code: str, message: str) -> VendorError:
    return VendorError(message=message, kind="timeout", code=code, retryable=True)


def _broken(failure: Exception, message: str) -> VendorError:
    """A connection that broke, or one that does not speak HTTP."""
    words = str(failure)
    if isinstance(failure, httpx.RemoteProtocolError) and not any(word in words for word in _CUT_WORDS):
        return VendorError(message=f"the upstream does not speak {_no_http(words)}", kind="protocol")
    return VendorError(message=message, kind="stream_truncated", code="connection_closed", retryable=True)


def _no_http(words: str) -> str:
    """What h11 found, without the bytes it found it in; where the first line already is none, just that."""
    told = excerpt(words.partition(": bytearray")[0], _MESSAGE_CHARS)
    return "HTTP" if "status line" in told else f"proper HTTP: {told}"


def _unreachable(failure: Exception) -> VendorError:
    code, message, retryable = "connect_failed", "no connection to the upstream could be made", True
    for cause in _causes(failure):
        if isinstance(cause, socket.gaierror):
            code, message = "dns_failed", "the host name of the upstream cannot be resolved"
        elif isinstance(cause, ssl.SSLCertVerificationError):
            code, retryable = "tls_failed", False
            message = f"the upstream's certificate is not valid: {cause.verify_message}"
        elif isinstance(cause, ssl.SSLError):
            code, message = "tls_failed", "the upstream broke off the TLS handshake"
        elif isinstance(cause, ConnectionRefusedError):
            code, message = "connection_refused", "the upstream refused the connection"
    return VendorError(message=message, kind="server_error", code=code, retryable=retryable)


def _causes(failure: BaseException) -> Iterator[BaseException]:
    """The failure and all that led to it; a connection is tried on several addresses at once."""
    seen: set[int] = set()
    queue: list[BaseException | None] = [failure]
    while queue:
        cause = queue.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        queue += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            queue += cause.exceptions
