"""The retry policy alone, as arithmetic."""

from random import Random

import pytest

from motes import particles as p
from motes.errors import VendorError
from motes.executor.policy import DEFAULT_POLICY, backoff_of, delay_before


def failure(phase="dispatch-fetch", kind="server_error", **changes):
    error = VendorError(message="no", kind=kind, **({"retryable": True} | changes))
    return p.Issue(phase, error.message, error)


def test_the_waits_are_full_jitter_under_a_doubling_ceiling():
    http = DEFAULT_POLICY.http
    for made, ceiling in ((1, 1.0), (2, 2.0), (3, 4.0)):
        waits = [
            delay_before(DEFAULT_POLICY, http, made, failure().error, Random(seed)) for seed in range(400)
        ]
        assert min(waits) < ceiling * 0.02
        assert ceiling * 0.98 < max(waits) <= ceiling


def test_no_wait_of_our_own_is_above_ten_seconds():
    patient = type(DEFAULT_POLICY.http)(20, 1.0)
    waits = [delay_before(DEFAULT_POLICY, patient, 15, failure().error, Random(seed)) for seed in range(200)]
    assert 9.0 < max(waits) <= 10.0


def test_four_attempts_for_an_answer_and_three_for_a_connection():
    policy, error, rng = DEFAULT_POLICY, failure().error, Random(1)
    assert delay_before(policy, policy.http, 3, error, rng) is not None
    assert delay_before(policy, policy.http, 4, error, rng) is None
    assert delay_before(policy, policy.connection, 2, error, rng) is not None
    assert delay_before(policy, policy.connection, 3, error, rng) is None


@pytest.mark.parametrize(
    ("issue", "backoff"),
    [
        (failure(http_status=503), DEFAULT_POLICY.http),
        (failure(http_status=503, retryable=False), None),
        (failure(http_status=424), None),
        (failure("dialect-issue", "overloaded"), DEFAULT_POLICY.http),
        (failure("dialect-issue", "overloaded", retryable=False), None),
        (failure(code="connection_refused"), DEFAULT_POLICY.connection),
        (failure(kind="timeout", code="connect_timeout"), DEFAULT_POLICY.connection),
        (failure(kind="timeout", code="first_byte_timeout"), None),
        (failure("dispatch-read", "timeout", code="idle_timeout"), None),
        (failure("dispatch-read", "stream_truncated"), DEFAULT_POLICY.connection),
        (p.Issue("dispatch-fetch", "no error object"), None),
    ],
)
def test_each_failure_has_its_backoff(issue, backoff):
    assert backoff_of(DEFAULT_POLICY, issue) == backoff
