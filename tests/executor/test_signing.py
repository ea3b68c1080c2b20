"""What must be signed is signed as it is sent: each attempt anew, a continuation over its own body."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

from fakes.sigv4 import expected_signature, signature_of
from fakes.tiny import GOOD, Answer, Upstream, line, tiny_dispatch
from fakes.tiny_runs import NOON, said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.dispatch import signature
from motes.vendors.vendor import Auth, Surface, Vendor

KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ROW = Vendor(
    id="bedrock",
    base_url="https://bedrock-runtime.eu-west-1.amazonaws.com",
    surfaces=(Surface(dialect="bedrock-converse"),),
    auth=Auth("sigv4", "bedrock"),
)
URL = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%2Fx%20y/converse-stream?a=1"


def dispatch():
    plain = tiny_dispatch(URL)
    request = replace(plain.request, headers={"content-type": "application/json"})
    return replace(plain, request=request, sign=signature(ROW, f"AKIDEXAMPLE:{KEY}:token"))


def clock():
    """A second between two looks."""
    seconds = count()
    return lambda: NOON + timedelta(seconds=next(seconds))


def is_valid(request):
    headers = dict(request.headers)
    signed = expected_signature(request.method, str(request.url), headers, request.content, KEY)
    return signature_of(headers) == signed


@in_virtual_time
async def test_what_goes_over_the_wire_is_what_was_signed():
    upstream = Upstream(Answer(GOOD))
    said = await said_by(upstream, dispatch(), now=clock())
    assert said.end.stop == "ok"
    (request,) = upstream.requests
    assert is_valid(request)
    assert request.headers["x-amz-security-token"] == "token"


@in_virtual_time
async def test_every_attempt_is_signed_anew():
    upstream = Upstream(Answer([b"{}"], status=503), Answer([b"{}"], status=503), Answer(GOOD))
    said = await said_by(upstream, dispatch(), now=clock())
    assert said.end.stop == "ok"
    assert [is_valid(request) for request in upstream.requests] == [True] * 3
    assert len({signature_of(dict(request.headers)) for request in upstream.requests}) == 3


@in_virtual_time
async def test_a_continuation_is_signed_over_the_body_that_goes_on():
    patch = {"messages+": [{"role": "assistant", "content": [{"type": "text", "text": "Search"}]}]}
    paused = Answer([line(text="Search"), line(pause=patch)])
    upstream = Upstream(paused, Answer(GOOD))
    said = await said_by(upstream, dispatch(), now=clock())
    assert said.end.stop == "ok"
    first, second = upstream.requests
    assert first.content != second.content
    assert is_valid(first)
    assert is_valid(second)


@in_virtual_time
async def test_nothing_of_the_credentials_is_said():
    said = await said_by(Upstream(Answer([b"{}"], status=403)), dispatch(), now=clock())
    told = repr([x for x in said.all if not isinstance(x, p.Text)])
    assert KEY not in told
    assert "AKIDEXAMPLE" not in told
