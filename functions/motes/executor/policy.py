"""When a failed attempt is worth another one, and after how long.

Pure: the failure, the count and the dice are arguments. Must never grant a retry for an error that is not
marked retryable, whatever its status.
"""

from random import Random
from typing import Final

from motes import particles as p
from motes.dataclass import dataclass
from motes.errors import VendorError
from motes.vendor_errors import RETRYABLE_STATUSES

# The request reached the vendor and used up its whole time: asking again would only double the wait and
# the bill. The caller may still do so.
_TIME_IS_SPENT: Final = frozenset({"first_byte_timeout", "idle_timeout", "quiet_timeout"})


_TURNED_AWAY: Final = frozenset({429, 503})
_NEVER_SENT: Final = frozenset(
    {"connect_failed", "connect_timeout", "connection_refused", "dns_failed", "tls_failed"}
)
_OF_THE_KEY: Final = frozenset({"authentication", "quota", "rate_limit"})


@dataclass(frozen=True, slots=True)
class Backoff:
    """`attempts` in all, the first one included; `base` seconds before the second, doubled after each."""

    attempts: int
    base: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How patient a run is. `cap` and `max_retry_after` are in seconds."""

    http: Backoff = Backoff(4, 1.0)
    """For an answer that is an error: by status, or in-band before anything visible."""
    connection: Backoff = Backoff(3, 0.5)
    """For a connection that was not made, or broke before anything visible."""
    cap: float = 10.0
    max_retry_after: float = 60.0
    max_continuations: int = 10


DEFAULT_POLICY: Final = Policy()


def is_refusal(error: VendorError | None) -> bool:
    """Whether the vendor took the request and refused the key it came with."""
    return error is not None and error.kind in _OF_THE_KEY


def backoff_of(policy: Policy, issue: p.Issue) -> Backoff | None:
    """How a failure of this sort is retried, or None where it is not."""
    error = issue.error
    if error is None or not error.retryable:
        return None
    if issue.phase == "dialect-issue" or error.http_status in RETRYABLE_STATUSES:
        return policy.http
    if error.http_status is not None or error.code in _TIME_IS_SPENT:
        return None
    return policy.connection


def is_surely_not_created(error: VendorError) -> bool:
    """Whether a request that starts a run of its own at the vendor has surely started none: it was never
    sent, or turned away before anything began. Whatever else failed may have left a run there, and its bill.
    """
    return error.http_status in _TURNED_AWAY or error.code in _NEVER_SENT


def delay_before(
    policy: Policy, backoff: Backoff, made: int, error: VendorError, rng: Random
) -> float | None:
    """Seconds to wait after `made` attempts, or None to give up.

    Full jitter (anything between nothing and the doubled base), and never less than the vendor asks for
    (RFC 9110, 10.2.3).
    """
    asked = error.retry_after or 0.0
    if made >= backoff.attempts or asked > policy.max_retry_after:
        return None
    return max(asked, rng.uniform(0.0, min(policy.cap, backoff.base * 2 ** (made - 1))))
